import AppStore
import Contracts
import Development
import Foundation
import Interpretation
import Postgres
import Records
import Storage
import Subscriptions
import TestSupport
import Testing

/// Transactions and renewal infos without a notification, beside the notifications of the same purchase.
@Suite(.serialized) struct SignedPartTests {
    /// The stored state of the purchase.
    struct PurchaseState: Equatable {
        var subscription: Subscription?
        var anomalies: [Anomaly]
        var periods: [AccessStore.Period]
        var transactions: [TransactionFacts]
        var gaps: [LifecycleGap]

        init(_ connection: PostgresConnection) async throws {
            let key = SubscriptionKey(environment: .production, originalTransactionId: "1000")
            subscription = try await SubscriptionStore(connection).find(key)
            // A transaction with the date of the oldest notification may have the lower id; it is of the same app.
            if let state = subscription {
                subscription?.bundleIdVersion = EventVersion(
                    signedDate: state.bundleIdVersion.signedDate, notificationUUID: state.version.notificationUUID)
            }
            anomalies = try await AnomalyStore(connection).anomalies(of: key)
            periods = try await AccessStore(connection).periods(of: key)
            transactions = try await TransactionStore(connection).transactions(of: key)
                .sorted { $0.transactionId < $1.transactionId }
            gaps = try await LifecycleGapStore(connection).gaps(of: key)
        }
    }

    /// The state after applying entries in this order, in batches of four.
    static func state(after entries: [LedgerEntry]) async throws -> PurchaseState {
        try await TestDatabase.connected { connection in
            try await apply(entries, on: connection)
            let state = try await PurchaseState(connection)
            await connection.close()
            return state
        }
    }

    static func apply(_ entries: [LedgerEntry], on connection: PostgresConnection) async throws {
        _ = try await PositionStore(connection).establish(
            cluster: "c", group: "g", lowWatermarks: [LogPosition(topic: "t", partition: 0, offset: 0)])
        for start in stride(from: 0, to: entries.count, by: 4) {
            let end = min(start + 4, entries.count)
            let move = PositionMove(
                cluster: "c", group: "g", topic: "t", partition: 0, expected: Int64(start), next: Int64(end))
            _ = try await LedgerStore(connection).apply(
                Array(entries[start..<end]), moving: [move], recordedAt: SignedHistory.now)
        }
    }

    @Test(arguments: 1...8 as ClosedRange<UInt64>)
    func `Transactions and renewal infos of known notifications, in any order, change no state`(seed: UInt64)
        async throws
    {
        let history = try SignedHistory(seed: seed)
        var generator = SeededGenerator(state: seed &+ 1000)
        let notifications = history.notifications.map { ($0, NotificationSource.webhook) }
        let signedObjects = history.signedObjects.map { ($0, NotificationSource.upload) }
        let expected = try await Self.state(after: SignedHistory.entries(notifications))
        #expect(expected.subscription?.transaction != nil)
        for _ in 0..<2 {
            let mixed = (notifications + signedObjects).shuffled(using: &generator)
            #expect(try await Self.state(after: SignedHistory.entries(mixed)) == expected)
        }
    }

    @Test func `A transaction that Apple signed later advances the state`() async throws {
        let history = try SignedHistory(seed: 3)
        let entries = try await SignedHistory.entries(history.notifications.map { ($0, .webhook) })
        let newest = try #require(entries.compactMap(\.event).max { $0.version < $1.version })
        var transaction = JWSTransactionDecodedPayload()
        transaction.originalTransactionId = "1000"
        transaction.transactionId = "2000"
        transaction.bundleId = SignedHistory.bundleId
        transaction.environment = .production
        transaction.productId = "platinum"
        transaction.type = .autoRenewableSubscription
        transaction.purchaseDate = SignedHistory.now
        transaction.expiresDate = SignedHistory.now.addingTimeInterval(86_400)
        transaction.signedDate = newest.version.signedDate.addingTimeInterval(1)
        let signer = PayloadSigner(authority: try SignedHistory.authority.get())
        let jws = try signer.sign(transaction.json)
        let part = try await SignedHistory.entries([(jws, .history)])
        for order in [entries + part, part + entries] {
            let state = try await Self.state(after: order)
            #expect(state.subscription?.transaction?.productId == "platinum")
            #expect(state.subscription?.version == part[0].event?.version)
        }
    }

    @Test func `A transaction signed by itself is in the ledger once, unchanged, and no lifecycle event`() async throws
    {
        let history = try SignedHistory(seed: 5, length: 1)
        let entries = try await SignedHistory.entries(history.signedObjects.map { ($0, .upload) })
        #expect(entries.map(\.notificationType) == [SignedPart.transaction, .renewalInfo].map(\.rawValue))
        try await TestDatabase.connected { connection in
            try await Self.apply(entries + entries, on: connection)
            let ledger = NotificationStore(connection)
            let lines = try await ledger.page()
            #expect(Set(lines.map(\.notificationUUID)) == Set(entries.map(\.notificationUUID)))
            #expect(lines.allSatisfy { $0.source == "upload" && $0.contentConflicts == 0 })
            for entry in entries {
                #expect(try await ledger.original(entry.notificationUUID) == (try entry.signedPayload))
                let event = try #require(entry.event)
                #expect(!event.isLifecycleEvent)
                #expect(!event.anomalies.contains(.unknownEvent))
                #expect(!event.sentence.contains("does not know"))
            }
            let key = try #require(entries[0].event?.key)
            #expect(try await LifecycleGapStore(connection).gaps(of: key) == [])
        }
    }
}
