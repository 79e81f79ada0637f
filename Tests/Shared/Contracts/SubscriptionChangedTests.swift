import Contracts
import Foundation
import Testing

struct SubscriptionChangedTests {
    private func change(_ fact: String, to: String?, transactionId: String? = nil) -> SubscriptionChanged {
        SubscriptionChanged(
            environment: .sandbox, originalTransactionId: "2000000000000001", bundleId: "com.example.app", fact: fact,
            from: nil, to: to, transactionId: transactionId,
            notificationUUID: UUID(uuid: (1, 1, 1, 1, 1, 1, 0x41, 1, 0x81, 1, 1, 1, 1, 1, 1, 1)),
            occurredAt: Date(timeIntervalSince1970: 1_760_000_000),
            learnedAt: Date(timeIntervalSince1970: 1_760_000_001), traceparent: nil)
    }

    @Test func `a change of an earlier transaction names it, there and back`() throws {
        let told = change("earlierRevocationDate", to: "2026-01-02T00:00:00.000Z", transactionId: "17")
        #expect(try SubscriptionChanged(told.record()) == told)
        let current = change("status", to: "1")
        #expect(try SubscriptionChanged(current.record()) == current)
        #expect(!String(decoding: current.record().value, as: UTF8.self).contains("\"transactionId\""))
    }

    @Test func `each account that one notification shows has an id of its own, the same in every repetition`() {
        let (one, other) = (change("sharedAccount", to: "a"), change("sharedAccount", to: "b"))
        #expect(one.id != other.id)
        #expect(one.id == change("sharedAccount", to: "a").id)
        #expect(change("status", to: "1").id == change("status", to: "2").id)
    }
}
