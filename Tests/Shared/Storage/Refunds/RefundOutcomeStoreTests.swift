import Contracts
import Foundation
import Postgres
import Refunds
import Subscriptions
import TestSupport
import Testing

@testable import Storage

@Suite struct RefundOutcomeStoreTests {
    private static let policy = """
        {"holdOut": 20, "rules": [
        {"name": "used", "if": {"usage": {"atLeast": 50000}}, "then": {"preference": "DECLINE"}},
        {"name": "legal", "if": {"reasons": ["LEGAL"]}, "then": {"answer": false}},
        {"name": "often", "if": {"refundRequests": {"within": "P1D", "atLeast": 5}}, "then": {"preference": null}},
        {"name": "else", "then": {"preference": "GRANT_PRORATED", "waitForUsage": "PT30M"}}]}
        """

    @Test func `A refund that Apple reversed is one of the request that led to it, of no declined one before`()
        async throws
    {
        try await RefundFixture.use { fixture async throws in
            for minute in [10.0, 20] {
                if minute > 10 { try await fixture.apply("CONSUMPTION_REQUEST", minute: minute) }
                let sending = try #require(await fixture.sending(minute + 1))
                try await fixture.store.settle(sending, .accepted, at: RefundFixture.at(minute + 1))
                try await fixture.apply(minute > 10 ? "REFUND" : "REFUND_DECLINED", minute: minute + 2)
            }
            try await fixture.apply("REFUND_REVERSED", minute: 23)
            let outcomes = try await RefundOutcomeStore(fixture.connection).outcomes(
                of: RefundFixture.app, in: .production, within: RefundFixture.start..<Date.distantFuture)
            #expect(outcomes.map(\.requests) == [2] && outcomes.map(\.declined) == [1])
            #expect(outcomes.map(\.refundedInFull) == [1] && outcomes.map(\.reversed) == [1])
        }
    }

    @Test func `A refund of some seats decides the request, in part, and a request after it is a new one`()
        async throws
    {
        try await RefundFixture.use { fixture async throws in
            let first = try #require(await fixture.sending(11))
            try await fixture.store.settle(first, .accepted, at: RefundFixture.at(11))
            try await fixture.apply("REFUND", minute: 12) { entry in
                entry.subtype = "SEATS"
                entry.event?.subtype = "SEATS"
                entry.event?.transaction?.revokedSeatQuantity = 1
            }
            #expect(try await fixture.look(13) == .nothing)
            try await fixture.apply("CONSUMPTION_REQUEST", minute: 20)
            let second = try #require(await fixture.sending(21))
            try await fixture.store.settle(second, .accepted, at: RefundFixture.at(21))
            try await fixture.apply("REFUND", minute: 22)
            let outcomes = try await RefundOutcomeStore(fixture.connection).outcomes(
                of: RefundFixture.app, in: .production, within: RefundFixture.start..<Date.distantFuture)
            #expect(outcomes.map(\.requests) == [2])
            #expect(outcomes.map(\.refundedProrated) == [1] && outcomes.map(\.refundedInFull) == [1])
        }
    }

    @Test(arguments: [(40_000, 1), (100_000, 0)] as [(Int64, Int64)])
    func `A refund of some items of Advanced Commerce is one in part`(share: Int64, prorated: Int64) async throws {
        try await RefundFixture.use { fixture async throws in
            let sending = try #require(await fixture.sending(11))
            try await fixture.store.settle(sending, .accepted, at: RefundFixture.at(11))
            try await fixture.apply("REFUND", minute: 12) { entry in
                entry.event?.transaction?.signedDate = RefundFixture.at(12)
                entry.event?.transaction?.revocationPercentage = share
            }
            let outcomes = try await RefundOutcomeStore(fixture.connection).outcomes(
                of: RefundFixture.app, in: .production, within: RefundFixture.start..<Date.distantFuture)
            #expect(outcomes.map(\.refundedProrated) == [prorated])
            #expect(outcomes.map(\.refundedInFull) == [1 - prorated])
        }
    }

    @Test func `What a hold-out left unanswered counts beside its rule, so that both can be compared`() async throws {
        let policy = #"{"holdOut": 20, "rules": [{"name": "else", "then": {"preference": "DECLINE"}}]}"#
        try await RefundFixture.use(policy: policy) { fixture async throws in
            #expect(try await fixture.look(11) == .withheld(.holdOut))
            try await fixture.apply("REFUND", minute: 12)
            try await fixture.apply("CONSUMPTION_REQUEST", minute: 12, transaction: "2")
            guard
                case .send(let sending) = try await fixture.store.look(
                    at: RefundKey(.production, "2"), now: RefundFixture.at(13)
                ).turn
            else {
                Issue.record("not answered")
                return
            }
            try await fixture.store.settle(sending, .accepted, at: RefundFixture.at(13))
            try await fixture.apply("REFUND_DECLINED", minute: 14, transaction: "2")
            let outcomes = try await RefundOutcomeStore(fixture.connection).outcomes(
                of: RefundFixture.app, in: .production, within: RefundFixture.start..<Date.distantFuture)
            #expect(outcomes.map(\.rule) == ["else", "else (hold-out)"])
            #expect(outcomes.map(\.answered) == [1, 0] && outcomes.map(\.declined) == [1, 0])
            #expect(outcomes.map(\.refundedInFull) == [0, 1])
        }
    }

    @Test func `A rehearsal with the policy in force says what was decided, for every past request`() async throws {
        try await RefundFixture.use(requested: nil, policy: Self.policy) { fixture async throws in
            var generator = SeededGenerator(state: 41)
            for number in 0..<30 {
                let minute = 10 + Double(number) * 60
                let reason = Bool.random(using: &generator) ? "LEGAL" : "OTHER"
                let id = "1-\(number % 20)"
                try await fixture.apply("CONSUMPTION_REQUEST", minute: minute, transaction: id) {
                    $0.notification.decoded = Array(#"{"data":{"consumptionRequestReason":"\#(reason)"}}"#.utf8)
                }
                let key = RefundKey(.production, id)
                if Bool.random(using: &generator) {
                    _ = try await UsageReportStore(fixture.connection).add(
                        .init(percentage: Int64.random(in: 0...100_000, using: &generator)), of: key, among: nil,
                        by: "key", at: RefundFixture.at(minute + 1))
                }
                for later in [2.0, 31] {
                    _ = try await fixture.store.look(at: key, now: RefundFixture.at(minute + later))
                }
                if Bool.random(using: &generator) {
                    try await fixture.apply("REFUND_DECLINED", minute: minute + 40, transaction: id)
                }
            }
            let store = RefundOutcomeStore(fixture.connection)
            let policy = try RefundPolicy(Array(Self.policy.utf8))
            let past = try await store.past(
                of: RefundFixture.app, in: .production, since: RefundFixture.start, after: "", limit: 100)
            var compared = 0
            for (request, decision) in zip(past, try await store.rehearse(policy, on: past)) {
                guard let answer = request.answer else { continue }
                compared += 1
                switch decision {
                case .answer(let told, let rule):
                    #expect(answer.body == String(decoding: told.body, as: UTF8.self) && answer.rule == rule)
                case .withhold(let reason, let rule):
                    #expect(answer.withheldBecause == reason.rawValue && answer.rule == rule)
                default: Issue.record("\(request) is not decided: \(String(describing: decision))")
                }
            }
            #expect(compared >= 20 && Set(past.compactMap(\.answer?.rule)).count == 4)
            let outcomes = try await store.outcomes(
                of: RefundFixture.app, in: .production, within: RefundFixture.start..<Date.distantFuture)
            #expect(outcomes.reduce(0) { $0 + $1.requests } == Int64(compared))
            #expect(outcomes.reduce(0) { $0 + $1.declined + $1.open } == Int64(compared))
            let pages = RefundRequestPages(fixture.connection)
            let all = try await pages.page(in: .production, limit: 100, at: RefundFixture.at(3000))
            #expect(all.count == 20 && all.map(\.requestedAt) == all.map(\.requestedAt).sorted(by: >))
            let half = try await pages.page(in: nil, limit: 10, at: RefundFixture.at(3000))
            let last = try #require(half.last)
            let rest = try await pages.page(
                in: nil, after: (last.requestedAt, last.key.transactionId), limit: 100, at: RefundFixture.at(3000))
            #expect(half.map(\.key) + rest.map(\.key) == all.map(\.key))
            for state in RefundState.allCases {
                let some = try await pages.page(in: nil, state: state, limit: 100, at: RefundFixture.at(3000))
                #expect(some.map(\.key) == all.filter { $0.state == state }.map(\.key))
            }
        }
    }
}
