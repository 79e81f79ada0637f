import Bootstrap
import Chassis
import Contracts
import Foundation
import Kafka
import Pipeline
import Storage
import Subscriptions
import TestSupport
import Testing

@testable import AppStore
@testable import Recovery
@testable import ServerAPI
@testable import SimulatedAppStore

@Suite(.serialized, .hangLimit) struct FetchCustomerHistoryTests {
    @Test func `FetchCustomerHistory sends what the ledger lacks through the pipeline, once`() async throws {
        try await RecoveryFixture.open { fixture in
            let purchase = try fixture.subscriber([.subscribe, .renew, .turnRenewalOff]).id
            let (first, second) = (RecoveryFixture.request(purchase), RecoveryFixture.request(purchase))
            let answers = RecoveryAnswerStore(fixture.history.connection)
            let key = SubscriptionKey(environment: .production, originalTransactionId: purchase)
            try await whileRunning(try await fixture.services()) {
                try await fixture.history.producer.send([ProducerRecord(Topics.recoveryRequests, first)])
                try await becomes("it is answered") { try await answers.answers(of: key).count == 1 }
                // Two signed objects beside the three; on a slow machine the question may be repeated, and then all of it is.
                let count = Int(try await fixture.history.broker.end(of: Topics.received.route))
                #expect(count >= 5)
                let received = try await fixture.history.broker.messages(of: Topics.received, count: count)
                #expect(received.allSatisfy { $0.source == .history && $0.traceparent != nil })
                try await fixture.runPipeline(received)
                // Once more, now that all of it is known.
                try await fixture.history.producer.send([ProducerRecord(Topics.recoveryRequests, second)])
                try await becomes("it is answered") { try await answers.answers(of: key).count == 2 }
            }
            let answered = try await answers.answers(of: key)
            let before = try #require(answered.first { $0.before == first.before })
            #expect(before.outcome == "answered")
            #expect(before.notifications == 3)
            #expect(before.missing == 3)
            #expect(before.signedObjects > 0)
            let after = try #require(answered.first { $0.before == second.before })
            #expect(after.missing == 0)
            #expect(after.signedObjects == 0)
            #expect(after.revision != nil)
            let subscription = try #require(try await fixture.subscription(purchase))
            #expect(subscription.transaction?.transactionId != purchase)
            #expect(subscription.renewal?.autoRenewStatus == false)
        }
    }

    @Test func `Refund of which no notification is left comes again in the transaction history`() async throws {
        try await RecoveryFixture.open { fixture in
            var subscriber = try fixture.subscriber([.subscribe, .renew])
            let purchase = subscriber.id
            let before = try await fixture.history(of: purchase)
            try await fixture.runPipeline(before.received(at: RecoveryFixture.now))
            try await RecoveryAnswerStore(fixture.history.connection).record(
                [before.answer(at: RecoveryFixture.now)], attempts: [])
            #expect(try await fixture.subscription(purchase)?.transaction?.revocationDate == nil)
            // Older than Apple's history reaches back.
            try fixture.happen(subscriber.next(.refund), sentAt: nil)
            let after = try await fixture.history(of: purchase)
            #expect(after.notifications.allSatisfy { $0.state == .present })
            #expect(!after.signedObjects.isEmpty)
            #expect(after.revision != before.revision)
            try await fixture.runPipeline(after.received(at: RecoveryFixture.now))
            #expect(try await fixture.subscription(purchase)?.transaction?.revocationDate != nil)
        }
    }

    @Test(arguments: [
        ([LifecycleEvent.subscribe, .renew, .failToRenew], 3, SubscriptionState.billingRetry),
        ([.subscribe, .renew, .failToRenewWithGrace], 4, .gracePeriod),
        ([.subscribe, .renew, .refund], 5, .revoked), ([.subscribe, .renew], 1, .active),
    ])
    func `FetchCustomerHistory restores Apple's status of a customer without notifications`(
        events: [LifecycleEvent], status: Int, state: SubscriptionState
    ) async throws {
        try await RecoveryFixture.open { fixture in
            var subscriber = RecoveryFixture.subscriber()
            var last: Date?
            for event in events {
                let payload = subscriber.next(event)
                last = payload.signedDate
                try fixture.happen(payload, sentAt: nil)
            }
            let purchase = subscriber.id
            let history = try await fixture.history(of: purchase)
            #expect(history.notifications.isEmpty)
            let carriers = history.signedObjects.filter { $0.status != nil }
            #expect(carriers.map(\.status?.status) == [Int64(status)])
            let transactions = history.signedObjects.compactMap(\.transactionId)
            #expect(Set(transactions).count == transactions.count)
            // Over the wire, as between the processes.
            let received = try history.received(at: RecoveryFixture.now).map {
                try ReceivedNotification($0.record())
            }
            try await fixture.runPipeline(received)
            let subscription = try #require(try await fixture.subscription(purchase))
            #expect(subscription.status == status)
            #expect(subscription.statusVersion?.signedDate ?? .distantPast >= RecoveryFixture.now)
            #expect(subscription.state(at: try #require(last).addingTimeInterval(60)) == state)
            let again = try await fixture.history(of: purchase)
            #expect(again.signedObjects == [])
        }
    }

    @Test func `Reversal of a refund ends a status that was answered to a clock that is ahead`() async throws {
        try await RecoveryFixture.open { fixture in
            var subscriber = PurchaseFixture(
                RecoveryFixture.apple, seed: 7, beginning: RecoveryFixture.now.addingTimeInterval(-86_400))
            for event in [LifecycleEvent.subscribe, .refund] {
                try fixture.happen(subscriber.next(event), sentAt: nil)
            }
            let purchase = subscriber.id
            let clock = ProcessClock(now: { Date().addingTimeInterval(600) }, instant: { .now })
            let refunded = try await fixture.history(of: purchase) { clock.now(notAheadOf: fixture.api.time) }
            try await fixture.runPipeline(refunded.received(at: RecoveryFixture.now))
            #expect(try await fixture.subscription(purchase)?.status == 5)

            // While the clock is ahead.
            var event = subscriber.next(.reverseRefund)
            event.signedDate = Date().addingTimeInterval(60)
            try fixture.happen(event, sentAt: RecoveryFixture.now.addingTimeInterval(-3600))
            var reversed = try await fixture.history(of: purchase)
            reversed.signedObjects = []
            #expect(reversed.notifications.count == 1)
            try await fixture.runPipeline(reversed.received(at: RecoveryFixture.now))
            let subscription = try #require(try await fixture.subscription(purchase))
            #expect(subscription.status == 1)
            #expect(subscription.state(at: Date().addingTimeInterval(1200)) == .active)
        }
    }

    @Test func `FetchCustomerHistory restarts the history after Apple rejects its revision`() async throws {
        try await RecoveryFixture.open { fixture in
            let purchase = try fixture.subscriber([.subscribe, .renew]).id
            let key = SubscriptionKey(environment: .production, originalTransactionId: purchase)
            try await RecoveryAnswerStore(fixture.history.connection).record(
                [
                    RecoveryAnswer(
                        key: key, bundleId: History.app.bundleId, before: UUID(), outcome: "answered",
                        revision: "of another query", answeredAt: RecoveryFixture.now)
                ], attempts: [])
            let history = try await fixture.history(of: purchase)
            #expect(history.rejections.isEmpty)
            #expect(!history.signedObjects.isEmpty)
        }
    }

    @Test func `Request that Apple cannot answer becomes a dead letter with its reason`() async throws {
        try await RecoveryFixture.open { fixture in
            var xcode = RecoveryFixture.request("1")
            xcode.environment = .xcode
            let requests = [RecoveryFixture.request("999999999"), xcode]
            let results = try await fixture.ask.process(requests.map(RecoveryFixture.delivery))
            let reasons = results.map { result -> CustomerHistoryReason? in
                guard case .discard(let reason) = result else { return nil }
                return reason
            }
            #expect(reasons == [.notFound, .withoutHistory])
            // Nothing waits for them, and an operator can read why.
            try await whileRunning(try await fixture.services()) {
                let answers = RecoveryAnswerStore(fixture.history.connection)
                try await fixture.history.producer.send(requests.map { ProducerRecord(Topics.recoveryRequests, $0) })
                let key = SubscriptionKey(environment: .production, originalTransactionId: "999999999")
                try await becomes("it is put away") {
                    try await answers.answers(of: key).first?.outcome == CustomerHistoryReason.notFound.rawValue
                }
                #expect(
                    try await answers.answers(of: key).first?.message?.contains("does not know this purchase") == true)
            }
        }
    }

    @Test func `FetchCustomerHistory sends unverifiable objects through the pipeline, which decides about them`()
        async throws
    {
        try await RecoveryFixture.open { fixture in
            let knownState = KnownState(fixture.history.connection)
            let rejection = VerificationFailure(.nestedMismatch, "signed for another app")
            let transaction = SignedItem<JWSTransactionDecodedPayload>(jws: [1], proof: .failure(rejection))
            let renewal = SignedItem<JWSRenewalInfoDecodedPayload>(jws: [2], proof: .failure(rejection))
            let unknownObjects = try await (
                knownState.unknownObjects(in: [transaction], .production),
                knownState.unknownObjects(in: [renewal], .production)
            )
            #expect(unknownObjects.0.map(\.jws) == [[1]] && unknownObjects.1.map(\.jws) == [[2]])
            var history = CustomerHistory(request: RecoveryFixture.request("1"))
            history.signedObjects = unknownObjects.0 + unknownObjects.1
            let received = history.received(at: RecoveryFixture.now)
            #expect(received.allSatisfy { $0.bundleId == History.app.bundleId && $0.source == .history })
        }
    }
}
