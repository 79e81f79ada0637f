import Contracts
import Foundation
import Pipeline
import Records
import Testing

@testable import Webhooks

@Suite struct EnqueueTests {
    static func message(sequence: Int64?) -> SubscriptionChanged {
        SubscriptionChanged(
            environment: .production, originalTransactionId: "1", bundleId: "com.example.app", event: "DID_RENEW",
            changes: [FactChange(fact: "status", from: nil, to: "1")],
            state: .init(status: 1, productId: nil, hasAccess: true, accessUntil: nil, isAutoRenewing: nil),
            revision: 1, sequence: sequence, notificationUUID: UUID(), occurredAt: Date(), appliedAt: Date(),
            traceparent: nil)
    }

    @Test func `Enqueue names the row of the timeline, and drops messages of a release without it`() async {
        let position = LogPosition(topic: "subscriptions.changed", partition: 0, offset: 1)
        let results = await Enqueue().process([
            Delivery(message: Self.message(sequence: 7), position: position),
            Delivery(message: Self.message(sequence: nil), position: position),
        ])
        #expect(results == [.forward(7), .discard(.unnumbered)])
    }
}
