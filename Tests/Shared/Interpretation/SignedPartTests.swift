import AppStore
import Contracts
import Development
import Foundation
import Interpretation
import Postgres
import Storage
import Subscriptions
import TestSupport
import Testing

/// Bare transactions and renewal information beside the notifications of the same life.
@Suite(.serialized) struct SignedPartTests {
    /// All that is known of the purchase, read from the database.
    struct PurchaseState: Equatable {
        var subscription: Subscription?
        var anomalies: [Anomaly]
        var periods: [AccessStore.Period]
        var transactions: [TransactionFacts]
        var gaps: [LifecycleGap]

        init(_ connection: PostgresConnection) async throws {
            let key = SubscriptionKey(environment: .production, originalTransactionId: "1000")
            subscription = try await SubscriptionStore(connection).find(key)
            // Of the same moment as the oldest letter, a part may have the lesser id; it is of the same app.
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

    /// The belief after entries that came in this order, in batches of a few.
    static func belief(after entries: [LedgerEntry]) async throws -> PurchaseState {
        try await TestDatabase.use { database in
            let connection = TestDatabase.connection(database)
            try await apply(entries, on: connection)
            let belief = try await PurchaseState(connection)
            await connection.close()
            return belief
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
                Array(entries[start..<end]), moving: [move], recordedAt: SignedLife.now)
        }
    }

    @Test(arguments: 1...8 as ClosedRange<UInt64>)
    func `the parts of a life beside its notifications, in any order, change nothing`(seed: UInt64) async throws {
        let life = try SignedLife(seed: seed)
        var generator = SeededGenerator(state: seed &+ 1000)
        let letters = life.letters.map { ($0, NotificationSource.webhook) }
        let parts = life.parts.map { ($0, NotificationSource.upload) }
        let expected = try await Self.belief(after: SignedLife.entries(letters))
        #expect(expected.subscription?.transaction != nil)
        for _ in 0..<2 {
            let mixed = (letters + parts).shuffled(using: &generator)
            #expect(try await Self.belief(after: SignedLife.entries(mixed)) == expected)
        }
    }

    @Test func `a part that Apple signed later brings the state forward, an older one does not`() async throws {
        let life = try SignedLife(seed: 3)
        let entries = try await SignedLife.entries(life.letters.map { ($0, .webhook) })
        let newest = try #require(entries.compactMap(\.event).max { $0.version < $1.version })
        var transaction = JWSTransactionDecodedPayload()
        transaction.originalTransactionId = "1000"
        transaction.transactionId = "2000"
        transaction.bundleId = SignedLife.bundleId
        transaction.environment = .production
        transaction.productId = "platinum"
        transaction.type = .autoRenewableSubscription
        transaction.purchaseDate = SignedLife.now
        transaction.expiresDate = SignedLife.now.addingTimeInterval(86_400)
        transaction.signedDate = newest.version.signedDate.addingTimeInterval(1)
        let signer = PayloadSigner(authority: try SignedLife.authority.get())
        let jws = try signer.sign(transaction.json)
        let part = try await SignedLife.entries([(jws, .history)])
        for order in [entries + part, part + entries] {
            let belief = try await Self.belief(after: order)
            #expect(belief.subscription?.transaction?.productId == "platinum")
            #expect(belief.subscription?.version == part[0].event?.version)
        }
    }

    @Test func `a part is in the ledger once, whole, and no step of the life`() async throws {
        let life = try SignedLife(seed: 5, length: 1)
        let entries = try await SignedLife.entries(life.parts.map { ($0, .upload) })
        #expect(entries.map(\.notificationType) == [SignedPart.transaction, .renewalInfo].map(\.rawValue))
        try await TestDatabase.use { database in
            let connection = TestDatabase.connection(database)
            try await Self.apply(entries + entries, on: connection)
            let ledger = NotificationStore(connection)
            let lines = try await ledger.page()
            #expect(Set(lines.map(\.notificationUUID)) == Set(entries.map(\.notificationUUID)))
            #expect(lines.allSatisfy { $0.source == "upload" && $0.contentConflicts == 0 })
            for entry in entries {
                #expect(try await ledger.original(entry.notificationUUID) == entry.signedPayload)
                let news = try #require(entry.event)
                #expect(!news.isStep)
                #expect(!news.anomalies.contains(.unknownEvent))
                #expect(!news.sentence.contains("does not know"))
            }
            let key = try #require(entries[0].event?.key)
            #expect(try await LifecycleGapStore(connection).gaps(of: key) == [])
            await connection.close()
        }
    }
}
