import Contracts
import Foundation
import Testing

struct SubscriptionChangedTests {
    private func message(
        purchase: String = "2000000000000001", _ changes: [FactChange], accessUntil: Date? = nil, status: Int64? = nil
    ) -> SubscriptionChanged {
        SubscriptionChanged(
            environment: .sandbox, originalTransactionId: purchase, bundleId: "com.example.app", event: "REFUND",
            changes: changes,
            state: SubscriptionChanged.State(
                status: status, productId: nil, hasAccess: true, accessUntil: accessUntil, isAutoRenewing: nil),
            revision: 3, notificationUUID: UUID(uuid: (1, 1, 1, 1, 1, 1, 0x41, 1, 0x81, 1, 1, 1, 1, 1, 1, 1)),
            occurredAt: Date(timeIntervalSince1970: 1_760_000_000),
            appliedAt: Date(timeIntervalSince1970: 1_760_000_001), traceparent: nil)
    }

    @Test func `SubscriptionChanged survives encoding, with and without values`() throws {
        let change = FactChange(
            fact: "earlierRevocationDate", from: nil, to: "2026-01-02T00:00:00.000Z", transactionId: "17")
        let full = message([change], accessUntil: Date(timeIntervalSince1970: 1_770_000_000), status: 1)
        #expect(try SubscriptionChanged(full.record()) == full)
        let bare = message([FactChange(fact: "status", from: "1", to: nil)])
        #expect(try SubscriptionChanged(bare.record()) == bare)
        #expect(!String(decoding: bare.record().value, as: UTF8.self).contains("transactionId\":\"17"))
    }

    @Test func `SubscriptionChanged has an id of the notification and the purchase, the same in every repetition`() {
        let one = message([FactChange(fact: "status", from: "1", to: "2")])
        #expect(one.id == message([FactChange(fact: "productId", from: nil, to: "a")]).id)
        #expect(one.id != message(purchase: "2000000000000002", one.changes).id)
    }

    @Test func `SubscriptionChanged rejects an empty list of changes`() throws {
        #expect(FactChange.changes(json: Array(#"{"fact":"a"}"#.utf8)) == nil)
        #expect(FactChange.changes(json: Array(#"[{"from":"a"}]"#.utf8)) == nil)
        #expect(FactChange.changes(json: FactChange.json([])) == [])
    }
}
