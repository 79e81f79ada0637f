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

    /// The members of version 1 before accounts and transactions were added, as a consumer of that time decodes them.
    private struct OlderConsumer: Decodable {
        struct Change: Decodable {
            var fact: String
            var from, to, transactionId: String?
        }
        struct State: Decodable {
            var status: Int?
            var productId: String?
            var hasAccess: Bool
            var accessUntil: Int64?
            var isAutoRenewing: Bool?
        }
        var version: Int
        var environment, originalTransactionId, bundleId, event, notificationUUID: String
        var changes: [Change]
        var state: State
        var revision, occurredAt, appliedAt: Int64
    }

    @Test func `SubscriptionChanged with all members is read by a consumer that was built before`() throws {
        let message = try GoldenTests.changed()
        let old = try JSONDecoder().decode(OlderConsumer.self, from: Data(message.record().value))
        #expect(old.version == 1 && old.event == message.event && old.revision == message.revision)
        #expect(old.changes.map(\.fact) == message.changes.map(\.fact))
        #expect(old.state.hasAccess == message.state.hasAccess && old.state.status == 5)
        #expect(old.originalTransactionId == message.originalTransactionId && old.environment == "Production")
    }

    @Test func `SubscriptionChanged of an older build has no account, no transaction and no sequence`() throws {
        let old = message([FactChange(fact: "status", from: "1", to: nil)])
        let text = String(decoding: old.record().value, as: UTF8.self)
        for member in ["appAccountToken", "\"transaction\"", "sequence"] { #expect(!text.contains(member)) }
        let read = try SubscriptionChanged(old.record())
        #expect(read.appAccountToken == nil && read.transaction == nil && read.sequence == nil)
    }
}
