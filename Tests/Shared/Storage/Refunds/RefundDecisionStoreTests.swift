import Contracts
import Foundation
import Postgres
import Refunds
import Subscriptions
import TestSupport
import Testing

@testable import Storage

@Suite struct RefundDecisionStoreTests {
    @Test func `A due request is decided once, and the same body is sent until Apple takes it`() async throws {
        try await RefundFixture.use { fixture async throws in
            #expect(try await fixture.store.due(at: RefundFixture.at(9), limit: 5) == [])
            #expect(try await fixture.store.due(at: RefundFixture.at(10), limit: 5) == [RefundFixture.key])
            let first = try #require(await fixture.sending(11))
            #expect(first.body == RefundFixture.declined && first.apiVersion == 2 && first.attempts == 1)
            #expect(first.deadline == RefundFixture.at(10 + 720))
            // Another process finds nothing while this one sends.
            #expect(try await fixture.look(11) == .nothing)
            try await fixture.store.settle(first, .again(RefundFixture.at(20)), at: RefundFixture.at(12))
            #expect(try await fixture.look(19) == .nothing)
            // A policy that changes changes no answer.
            try await fixture.set(
                #"{"rules": [{"name": "else", "then": {"preference": "GRANT_FULL"}}]}"#, minute: 13)
            let second = try #require(await fixture.sending(20))
            #expect(second.body == first.body && second.id == first.id && second.attempts == 2)
            // Killed: after the claim is over the next one sends it.
            let third = try #require(await fixture.sending(22))
            #expect(third.body == first.body && third.attempts == 3)
            try await fixture.store.settle(third, .accepted, at: RefundFixture.at(22))
            #expect(try await fixture.store.due(at: .distantFuture, limit: 5) == [])
            // A repeat of Apple's, signed after the answer.
            try await fixture.apply("CONSUMPTION_REQUEST", minute: 30)
            #expect(try await fixture.look(31) == .nothing)
            #expect(try await fixture.answers() == ["11 \(RefundFixture.declined) sent"])
            #expect(try await fixture.connection.nextRefundDue() == nil)
        }
    }

    @Test func `A request after an outcome is answered again, and an outcome that comes late opens nothing`()
        async throws
    {
        try await RefundFixture.use { fixture async throws in
            let first = try #require(await fixture.sending(11))
            try await fixture.store.settle(first, .accepted, at: RefundFixture.at(11))
            try await fixture.apply("REFUND_DECLINED", minute: 9)
            try await fixture.apply("CONSUMPTION_REQUEST", minute: 12)
            #expect(try await fixture.look(13) == .nothing)
            try await fixture.apply("REFUND_DECLINED", minute: 14)
            try await fixture.apply("CONSUMPTION_REQUEST", minute: 15)
            let second = try #require(await fixture.sending(16))
            #expect(second.id != first.id)
            #expect(try await fixture.answers().count == 2)
        }
    }

    @Test func `A request that follows an outcome is answered once, also by a clock that is behind Apple's`()
        async throws
    {
        try await RefundFixture.use { fixture async throws in
            try await fixture.apply("REFUND_DECLINED", minute: 14)
            try await fixture.apply("CONSUMPTION_REQUEST", minute: 15)
            try await fixture.connection.run(
                unsafeScript: "update refund_request set next_at = next_at - interval '10 minutes'")
            // With a report of use the policy does not wait for the time of the request.
            #expect(try await fixture.use(40, minute: 12))
            let first = try #require(await fixture.sending(12))
            try await fixture.store.settle(first, .accepted, at: RefundFixture.at(12))
            #expect(try await fixture.look(13) == .nothing)
            #expect(try await fixture.look(20) == .nothing)
            #expect(try await fixture.answers() == ["14 \(first.body) sent"])
        }
    }

    @Test func `Without a policy nothing is decided, and a policy that is set has open requests looked at`()
        async throws
    {
        try await RefundFixture.use(policy: nil) { fixture async throws in
            #expect(try await fixture.look(11) == .nothing)
            #expect(try await fixture.connection.nextRefundDue() == nil)
            try await fixture.set(#"{"rules": [{"name": "a", "then": {"answer": false}}]}"#, minute: 20)
            #expect(try await fixture.look(20) == .withheld(.rule))
            #expect(try await fixture.connection.nextRefundDue() == nil)
            #expect(try await fixture.answers() == ["20 rule"])
        }
        // A request that was over before there was a policy was never to be answered.
        try await RefundFixture.use(policy: nil) { fixture async throws in
            #expect(try await fixture.look(11) == .nothing)
            try await fixture.set(#"{"rules": [{"name": "a", "then": {"preference": null}}]}"#, minute: 731)
            #expect(try await fixture.connection.nextRefundDue() == nil)
        }
    }

    @Test func `Without consent the request is withheld once, and answered when the consent comes`() async throws {
        try await RefundFixture.use(consents: false) { fixture async throws in
            #expect(try await fixture.look(11) == .withheld(.consent))
            #expect(try await fixture.look(17) == .waiting)
            #expect(try await fixture.answers() == ["11 consent"])
            try await fixture.consent(true, minute: 18)
            #expect(try await fixture.sending(18)?.body == RefundFixture.declined)
        }
        try await RefundFixture.use(consents: false) { fixture async throws in
            #expect(try await fixture.look(11) == .withheld(.consent))
            #expect(try await fixture.look(731) == .nothing)
            #expect(try await fixture.connection.nextRefundDue() == nil)
        }
    }

    @Test func `A consent that is withdrawn between decision and attempt, or an erasure, sends nothing`() async throws {
        for isErased in [false, true] {
            try await RefundFixture.use { fixture async throws in
                let first = try #require(await fixture.sending(11))
                try await fixture.store.settle(first, .again(RefundFixture.at(20)), at: RefundFixture.at(11))
                if isErased {
                    let certificate = try await ErasureStore(fixture.connection).forget(
                        RefundFixture.account, of: RefundFixture.app, in: .production, extent: .erase, id: UUID(),
                        at: RefundFixture.at(15))
                    #expect(certificate != nil)
                } else {
                    try await fixture.consent(false, minute: 15)
                }
                #expect(try await fixture.look(20) == .withdrawn)
                #expect(try await fixture.look(25) == .waiting)
                #expect(try await fixture.answers() == ["11 \(RefundFixture.declined) consentWithdrawn"])
                #expect(try await fixture.answerByHand(26) == .noConsent)
                guard !isErased else { return }
                // Given again: the same body, at once.
                try await fixture.consent(true, minute: 27)
                let second = try #require(await fixture.sending(27))
                #expect(second.id == first.id && second.body == first.body)
            }
        }
        try await RefundFixture.use { fixture async throws in
            let first = try #require(await fixture.sending(11))
            try await fixture.store.settle(first, .again(RefundFixture.at(720)), at: RefundFixture.at(11))
            try await fixture.consent(false, minute: 15)
            #expect(try await fixture.look(720) == .withdrawn)
            #expect(try await fixture.look(730) == .nothing)
            #expect(try await fixture.connection.nextRefundDue() == nil)
        }
    }

    @Test func `A withdrawal ends the consent before it, also by a clock that is behind the one of the consent`()
        async throws
    {
        try await RefundFixture.use(consents: false) { fixture async throws in
            try await fixture.consent(true, minute: 11)
            try await fixture.consent(false, minute: 10.95)
            #expect(try await fixture.look(12) == .withheld(.consent))
            try await fixture.consent(true, minute: 13)
            #expect(try await fixture.sending(13) != nil)
        }
    }

    @Test func `A policy that only a newer build can read sends nothing, and ends no answer`() async throws {
        try await RefundFixture.use { fixture async throws in
            let first = try #require(await fixture.sending(11))
            try await fixture.store.settle(first, .again(RefundFixture.at(20)), at: RefundFixture.at(11))
            try await fixture.set(#"{"rules": [], "later": true}"#, minute: 12)
            guard case .unreadable = try await fixture.look(20) else {
                Issue.record("was read")
                return
            }
            try await fixture.set(#"{"rules": [{"name": "a", "then": {"preference": null}}]}"#, minute: 21)
            let second = try #require(await fixture.sending(25))
            #expect(second.body == first.body)
        }
    }

    /// The decision that was made while the other waited for the row is seen.
    @Test func `An answer by hand that waits for the scheduler's decision changes nothing`() async throws {
        try await RefundFixture.use { fixture async throws in
            let other = RefundFixture(
                connection: TestDatabase.connection(fixture.database), database: fixture.database)
            // The scheduler's transaction, up to its commit.
            let scheduler = TestDatabase.connection(fixture.database)
            try await scheduler.run(
                unsafeScript: """
                    begin;
                    select from refund_request for update;
                    insert into refund_answer (environment, transaction_id, bundle_id, requested_at, decided_at, body,
                        api_version, decided_by)
                    values ('Production', '1', 'com.example.app', now(), '\(RefundFixture.at(11).ISO8601Format())', '{}', 2,
                        'policy')
                    """)
            async let answered = other.answerByHand(12)
            _ = try await TestDatabase.blockedBackends(asking: fixture.connection)
            try await scheduler.run(unsafeScript: "commit")
            #expect(try await answered == .alreadyAnswered)
            #expect(try await fixture.answers().count == 1)
        }
    }

    /// Processes store with clocks of their own.
    @Test func `What was stored by a clock that is ahead counts at once`() async throws {
        try await RefundFixture.use(requested: nil) { fixture async throws in
            try await fixture.apply("CONSUMPTION_REQUEST", minute: 10)
            try await fixture.connection.run(
                unsafeScript: "update notification set recorded_at = recorded_at + interval '4 seconds'")
            let first = try #require(await fixture.sending(10))
            try await fixture.store.settle(first, .again(RefundFixture.at(20)), at: RefundFixture.at(11))
            try await fixture.consent(false, minute: 20.05)
            #expect(try await fixture.look(20) == .withdrawn)
        }
    }

    @Test func `An answer counts also by a clock that is behind the one of the decision before it`() async throws {
        let policy = #"{"rules": [{"name": "a", "then": {"answer": false}}]}"#
        try await RefundFixture.use(policy: policy) { fixture async throws in
            #expect(try await fixture.look(60) == .withheld(.rule))
            guard case .stored = try await fixture.answerByHand(20) else {
                Issue.record("not stored")
                return
            }
            #expect(try await fixture.sending(20) != nil)
            #expect(try await fixture.answerByHand(21) == .alreadyAnswered)
        }
    }

    @Test func `A request after an outcome, both of which came while Apple was asked, is looked at`() async throws {
        try await RefundFixture.use { fixture async throws in
            let first = try #require(await fixture.sending(11))
            try await fixture.apply("REFUND_DECLINED", minute: 12)
            try await fixture.apply("CONSUMPTION_REQUEST", minute: 13)
            try await fixture.store.settle(first, .accepted, at: RefundFixture.at(14))
            let second = try #require(await fixture.sending(15))
            #expect(second.id != first.id)
        }
    }

    @Test func `An answer by hand takes from the newest report what it leaves open`() async throws {
        try await RefundFixture.use(policy: nil) { fixture async throws in
            _ = try await UsageReportStore(fixture.connection).add(
                .init(percentage: 50_000, deliveryStatus: .serverOutage, isSampleProvided: true),
                of: RefundFixture.key, among: nil, by: "key", at: RefundFixture.at(2))
            guard case .stored(let told) = try await fixture.answerByHand(11, usage: .init(percentage: 0)) else {
                Issue.record("not stored")
                return
            }
            let body = String(decoding: told.body, as: UTF8.self)
            #expect(body.contains(#""deliveryStatus":"UNDELIVERED_SERVER_OUTAGE""#))
            #expect(body.contains(#""sampleContentProvided":true"#))
        }
    }

    @Test func `Terms of the policy count as consent of accounts created since, unless they withdrew`() async throws {
        let day = RefundFixture.start.addingTimeInterval(-86_400).ISO8601Format()
        let policy =
            #"{"consent": {"terms": "1", "acceptedSince": "\#(day)"}, "rules": [{"name": "a", "then": {"preference": null}}]}"#
        try await RefundFixture.use(consents: false, policy: policy) { fixture async throws in
            #expect(try await fixture.look(11) == .withheld(.consent))
            _ = try await CustomerRecords(fixture.connection).put(
                CustomerRecords.Customer(
                    id: "user-1", environment: .production, bundleId: RefundFixture.app,
                    appAccountToken: RefundFixture.account, createdAt: RefundFixture.start), isTokenGiven: true)
            #expect(try await fixture.sending(17) != nil)
            try await fixture.consent(false, minute: 18)
            #expect(try await fixture.look(19) == .withdrawn)
        }
    }

    @Test func `A request is missed after twelve hours, and a repeat gives new time to the same body`() async throws {
        try await RefundFixture.use { fixture async throws in
            let first = try #require(await fixture.sending(11))
            try await fixture.store.settle(first, .again(RefundFixture.at(900)), at: RefundFixture.at(11))
            #expect(try await fixture.connection.nextRefundDue() == RefundFixture.at(730))
            #expect(try await fixture.look(730) == .missed)
            #expect(try await fixture.answers() == ["11 \(RefundFixture.declined) missed"])
            let status = try await RefundStatusStore(fixture.connection).status(at: RefundFixture.at(731))
            #expect(status.map(\.missed) == [1] && status.map(\.waiting) == [0])
            try await fixture.apply("CONSUMPTION_REQUEST", minute: 740)
            let again = try #require(await fixture.sending(741))
            #expect(again.body == first.body && again.id == first.id)
            try await fixture.store.settle(again, .accepted, at: RefundFixture.at(741))
            #expect(try await fixture.answers() == ["11 \(RefundFixture.declined) sent"])
        }
        // Found when its time was over.
        try await RefundFixture.use { fixture async throws in
            #expect(try await fixture.look(800) == .missed)
            #expect(try await fixture.answers() == ["800 late"])
        }
    }

    @Test func `An answer that Apple rejects has failed with Apple's code and is not sent again`() async throws {
        try await RefundFixture.use { fixture async throws in
            let first = try #require(await fixture.sending(11))
            try await fixture.store.settle(first, .rejected("4000044"), at: RefundFixture.at(11))
            #expect(try await fixture.connection.nextRefundDue() == nil)
            try await fixture.apply("CONSUMPTION_REQUEST", minute: 12)
            #expect(try await fixture.look(13) == .nothing)
            #expect(try await fixture.answers() == ["11 \(RefundFixture.declined) 4000044"])
            let status = try await RefundStatusStore(fixture.connection).status(at: RefundFixture.at(14))
            #expect(status.map(\.failed) == [1])
        }
    }

    @Test func `An answer that Apple had not taken when it decided keeps no later request waiting`() async throws {
        let policy = #"{"rules": [{"name": "else", "then": {"preference": null, "waitForUsage": "PT30M"}}]}"#
        try await RefundFixture.use(policy: policy) { fixture async throws in
            let first = try #require(await fixture.sending(41))
            try await fixture.store.settle(first, .again(RefundFixture.at(60)), at: RefundFixture.at(41))
            var status = try await RefundStatusStore(fixture.connection).status(at: RefundFixture.at(45))
            #expect(status.map(\.waiting) == [1] && status.map(\.oldestWaiting) == [RefundFixture.at(41)])
            try await fixture.apply("REFUND_DECLINED", minute: 50)
            try await fixture.apply("CONSUMPTION_REQUEST", minute: 60)
            #expect(try await fixture.look(61) == .waiting)
            status = try await RefundStatusStore(fixture.connection).status(at: RefundFixture.at(61))
            #expect(status.map(\.waiting) == [0] && status.map(\.oldestWaiting) == [nil])
            #expect(try await fixture.connection.nextRefundDue() == RefundFixture.at(90))
            #expect(try await fixture.use(25_000, minute: 62))
            #expect(try await fixture.connection.nextRefundDue() == RefundFixture.at(62))
            #expect(try await fixture.sending(62) != nil)
        }
    }

    @Test func `A consent has a request decided at once, also after an answer to an earlier one that Apple never took`()
        async throws
    {
        try await RefundFixture.use { fixture async throws in
            let first = try #require(await fixture.sending(11))
            try await fixture.store.settle(first, .again(RefundFixture.at(30)), at: RefundFixture.at(11))
            try await fixture.apply("REFUND_DECLINED", minute: 20)
            try await fixture.consent(false, minute: 25)
            try await fixture.apply("CONSUMPTION_REQUEST", minute: 30)
            #expect(try await fixture.look(31) == .withheld(.consent))
            #expect(try await fixture.connection.nextRefundDue() == RefundFixture.at(36))
            try await fixture.consent(true, minute: 32)
            #expect(try await fixture.connection.nextRefundDue() == RefundFixture.at(32))
            #expect(try await fixture.sending(32) != nil)
        }
    }

    @Test func `A rule waits for usage, and a report has it decided at once, by the rules of usage`() async throws {
        let policy = """
            {"rules": [{"name": "used", "if": {"usage": {"atLeast": 1}}, "then": {"preference": "GRANT_PRORATED"}},
            {"name": "else", "then": {"preference": null, "waitForUsage": "PT30M"}}]}
            """
        try await RefundFixture.use(policy: policy) { fixture async throws in
            #expect(try await fixture.look(11) == .waiting)
            #expect(try await fixture.connection.nextRefundDue() == RefundFixture.at(40))
            #expect(try await fixture.use(25_000, minute: 12))
            let sending = try #require(await fixture.sending(12))
            #expect(sending.body.contains(#""consumptionPercentage":25000,"refundPreference":"GRANT_PRORATED""#))
            // A report after the decision changes nothing, and does not hurry the next attempt.
            #expect(try await fixture.use(100_000, minute: 12.5))
            #expect(try await fixture.look(13) == .nothing)
        }
        try await RefundFixture.use(policy: policy) { fixture async throws in
            #expect(try await fixture.look(11) == .waiting)
            let sending = try #require(await fixture.sending(40))
            #expect(!sending.body.contains("refundPreference"))
        }
        try await RefundFixture.use { fixture async throws in
            let unknown = RefundKey(.sandbox, "1")
            let added = try await UsageReportStore(fixture.connection).add(
                .init(percentage: 1), of: unknown, among: nil, by: "key", at: RefundFixture.at(1))
            #expect(added == .unknown)
        }
    }

    @Test func `Counts are of the customer: the purchases of the account and of the Apple account`() async throws {
        try await RefundFixture.use { fixture async throws in
            // Another purchase of the account, refunded; one of the same Apple account, asked for; one of another customer.
            try await fixture.apply("ONE_TIME_CHARGE", minute: 1, transaction: "2", purchase: "2")
            try await fixture.apply("CONSUMPTION_REQUEST", minute: 2, transaction: "2", purchase: "2")
            try await fixture.apply("REFUND", minute: 3, transaction: "2", purchase: "2")
            // Seats were refunded, and a request for the others is declined.
            try await fixture.apply("REFUND_DECLINED", minute: 3.5, transaction: "2", purchase: "2")
            for (purchase, customer) in [("3", "70"), ("4", "71"), ("1", "70"), ("5", "70")] {
                try await fixture.apply("ONE_TIME_CHARGE", minute: 4, transaction: purchase, purchase: purchase) {
                    entry in
                    entry.event?.transaction?.appTransactionId = customer
                    entry.event?.transaction?.signedDate = RefundFixture.at(4)
                    if purchase != "1" { entry.event?.transaction?.appAccountToken = nil }
                    // A seat that an organization has paid for.
                    if purchase == "5" { entry.event?.transaction?.ownership = "ASSIGNED" }
                }
            }
            try await fixture.apply("CONSUMPTION_REQUEST", minute: 5, transaction: "3", purchase: "3") {
                $0.event?.transaction?.appTransactionId = "70"
                $0.event?.transaction?.appAccountToken = nil
            }
            try await fixture.apply("REFUND", minute: 6, transaction: "4", purchase: "4") {
                $0.event?.transaction?.appTransactionId = "71"
                $0.event?.transaction?.appAccountToken = nil
            }
            let rows = try await fixture.connection.pipeline([
                RefundSubjects.command(
                    [RefundFixture.key, RefundFixture.key], knownAt: [RefundFixture.at(20), RefundFixture.at(10)])
            ])
            let subjects = try RefundSubjects.subjects(rows[0]).compactMap(\.self)
            let subject = try #require(subjects.first)
            #expect(subjects.count == 2 && subjects[0].refunds == subjects[1].refunds)
            #expect(subject.refunds == [RefundFixture.at(3)])
            #expect(subject.refundRequests.sorted() == [RefundFixture.at(2), RefundFixture.at(5)])
            #expect(subject.paidTransactions == 3)
            #expect(
                subject.requestedAt == RefundFixture.at(10) && subject.isFirstPayment && !subject.isConvertedFromTrial)
            #expect(subject.priceMilliunits == 9990 && subject.currency == "EUR" && subject.productType == "Consumable")
            #expect(subject.account?.consent?.isGiven == true && subject.usage == nil)
        }
    }

    @Test func `Advanced Commerce is known by the payload, family sharing by the transaction`() async throws {
        try await RefundFixture.use(requested: nil) { fixture async throws in
            try await fixture.apply("CONSUMPTION_REQUEST", minute: 10) {
                $0.notification.decoded = Array(
                    #"{"data":{"consumptionRequestReason":"LEGAL","signedTransactionInfo":{"advancedCommerceInfo":{}}}}"#
                        .utf8)
            }
            let sending = try #require(await fixture.sending(11))
            #expect(sending.apiVersion == 1 && sending.body.contains(#""refundPreference":2"#))
            let answers = try await fixture.connection.pipeline([
                RefundSubjects.command([RefundFixture.key], knownAt: [RefundFixture.at(11)])
            ])
            #expect(try RefundSubjects.subjects(answers[0]).first??.reason == "LEGAL")
        }
        try await RefundFixture.use(requested: nil) { fixture async throws in
            try await fixture.apply("CONSUMPTION_REQUEST", minute: 10) {
                $0.event?.transaction?.ownership = "FAMILY_SHARED"
                $0.event?.transaction?.signedDate = RefundFixture.at(10)
            }
            #expect(try await fixture.look(11) == .withheld(.familyShared))
        }
    }

    @Test func `A request whose payload holds a NUL is decided, too, and stops no other one`() async throws {
        try await RefundFixture.use(requested: nil) { fixture async throws in
            try await fixture.apply("CONSUMPTION_REQUEST", minute: 10) {
                $0.notification.decoded = Array(#"{"data":{"consumptionRequestReason":"LEGAL","note":"\u0000"}}"#.utf8)
            }
            #expect(try await fixture.sending(11)?.apiVersion == 2)
        }
    }

    @Test func `Two schedulers at once decide each of many requests once`() async throws {
        try await RefundFixture.use(requested: nil) { fixture async throws in
            for number in 0..<40 {
                try await fixture.apply("CONSUMPTION_REQUEST", minute: 10, transaction: "1-\(number)")
            }
            let now = RefundFixture.at(11)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<4 {
                    let store = RefundDecisionStore(TestDatabase.connection(fixture.database))
                    group.addTask {
                        for key in try await store.due(at: now, limit: 100) {
                            _ = try await store.look(at: key, now: now)
                        }
                    }
                }
                try await group.waitForAll()
            }
            let rows = try await fixture.connection.execute(
                Statement(
                    unsafeSQL:
                        "select count(*) as answers, count(distinct transaction_id) as requests from refund_answer"))
            let (answers, requests): (Int64, Int64) = (try rows[0].value("answers"), try rows[0].value("requests"))
            #expect(answers == 40 && requests == 40)
        }
    }

    @Test func `An answer by hand decides in place of the policy until there is a body`() async throws {
        try await RefundFixture.use(policy: nil) { fixture async throws in
            @Sendable func answer(_ minute: Double, isTrial: Bool = false) async throws
                -> RefundDecisionStore.HandResult
            {
                try await fixture.store.answer(
                    RefundFixture.key, preference: .grantProrated, usage: .init(percentage: 0), among: nil, by: "ann",
                    at: RefundFixture.at(minute), isTrial: isTrial
                ) { _ in RefundFixture.audit }
            }
            guard case .stored = try await answer(11, isTrial: true) else {
                Issue.record("not possible")
                return
            }
            #expect(try await fixture.answers() == [])
            guard case .stored(let told) = try await answer(11) else {
                Issue.record("not stored")
                return
            }
            #expect(told.preference == .grantFull && told.adjustments.count == 1)
            #expect(try await answer(12) == .alreadyAnswered)
            let sending = try #require(await fixture.sending(12))
            #expect(sending.body == String(decoding: told.body, as: UTF8.self))
            #expect(try await OperatorActionStore(fixture.connection).newest(5).contains(RefundFixture.audit))
        }
        try await RefundFixture.use(consents: false) { fixture async throws in
            let noConsent = try await fixture.store.answer(
                RefundFixture.key, preference: nil, usage: nil, among: nil, by: "ann", at: RefundFixture.at(11)
            ) { _ in RefundFixture.audit }
            #expect(noConsent == .noConsent)
            let other = try await fixture.store.answer(
                RefundFixture.key, preference: nil, usage: nil, among: ["com.example.other"], by: "ann",
                at: RefundFixture.at(11)
            ) { _ in RefundFixture.audit }
            #expect(other == .unknown)
            let over = try await fixture.store.answer(
                RefundFixture.key, preference: nil, usage: nil, among: nil, by: "ann", at: RefundFixture.at(731)
            ) { _ in RefundFixture.audit }
            #expect(over == .notOpen)
        }
    }
}
