import Contracts
import Foundation
import Postgres
import Storage
import Subscriptions
import Testing

@testable import TestSupport

/// The rows that one notification writes and reads, by the server's own counters.
@Suite struct LedgerCostTests {
    /// The history of a subscription, month by month: bought, renewed, switched off and on, failed and recovered, expired.
    static let history: [(event: String, month: Int, isRenewing: Bool, status: Int)] = [
        ("SUBSCRIBED/INITIAL_BUY", 0, true, 1), ("DID_RENEW", 1, true, 1), ("DID_RENEW", 2, true, 1),
        ("DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED", 2, false, 1),
        ("DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_ENABLED", 2, true, 1), ("DID_RENEW", 3, true, 1),
        ("DID_RENEW", 4, true, 1), ("DID_FAIL_TO_RENEW", 4, true, 3), ("DID_RENEW/BILLING_RECOVERY", 5, true, 1),
        ("DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED", 5, false, 1), ("EXPIRED/VOLUNTARY", 5, false, 2),
    ]

    /// Notification number `number` of the history of some purchases.
    static func batch(number: Int, purchases: Range<Int>, _ fixtures: inout Fixtures) -> [LedgerEntry] {
        let (event, month, isRenewing, status) = history[number]
        let words = event.split(separator: "/").map(String.init)
        let month30 = 30 * 86_400.0
        let begins = Fixtures.epoch.addingTimeInterval(Double(month) * month30)
        let isEnd = status == 2 || status == 3
        let signed = isEnd ? begins.addingTimeInterval(month30) : begins.addingTimeInterval(Double(number) * 60)
        return purchases.map { number in
            var entry = fixtures.entry(purchases: 1)
            let id = "30000\(number)"
            entry.originalTransactionId = id
            entry.signedDate = signed
            entry.notificationType = words[0]
            entry.subtype = words.count > 1 ? words[1] : nil
            entry.event = PurchaseEvent(
                key: SubscriptionKey(environment: .production, originalTransactionId: id),
                version: EventVersion(signedDate: signed, notificationUUID: entry.notificationUUID),
                bundleId: "com.example.app", notificationType: words[0], subtype: entry.subtype, status: status,
                transaction: TransactionFacts(
                    transactionId: "\(id)\(month)", productId: "pro.monthly",
                    productType: "Auto-Renewable Subscription", subscriptionGroupIdentifier: "g",
                    purchaseDate: begins, originalPurchaseDate: Fixtures.epoch,
                    expiresDate: begins.addingTimeInterval(month30), quantity: 1,
                    appAccountToken: "7e3fb204-2017-4a4e-8f3b-\(String(format: "%012d", number))",
                    ownership: "PURCHASED", priceMilliunits: 9990, currency: "EUR", signedDate: signed,
                    reason: month == 0 ? "PURCHASE" : "RENEWAL", appTransactionId: "70\(number)"),
                renewal: RenewalFacts(
                    autoRenewStatus: isRenewing, autoRenewProductId: "pro.monthly", isInBillingRetry: status == 3,
                    expirationIntent: status == 2 ? 1 : nil, renewalDate: begins.addingTimeInterval(month30),
                    signedDate: signed, productId: "pro.monthly"))
            return entry
        }
    }

    /// Sums of the server's counters over all tables, after what this connection did is in them.
    static func counters(_ connection: PostgresConnection) async throws -> (written: Int64, read: Int64) {
        _ = try await connection.execute(unsafeSQL: "select pg_stat_force_next_flush()")
        _ = try await connection.execute(unsafeSQL: "select 1")
        let row = try await connection.execute(
            unsafeSQL: """
                select sum(n_tup_ins + n_tup_upd + n_tup_del)::bigint as written,
                    (sum(seq_tup_read) + (select sum(idx_tup_read) from pg_stat_user_indexes))::bigint as read
                from pg_stat_user_tables
                """)[0]
        return (try row.value("written"), try row.value("read"))
    }

    @Test func `A notification of a typical history writes fewer than seven rows and publishes at most one message`()
        async throws
    {
        try await LedgerStoreTests.use { connection, _ async throws in
            let before = try await Self.counters(connection)
            var fixtures = Fixtures(seed: 800)
            var changes = 0
            for number in Self.history.indices {
                let outcome = try await LedgerStore(connection).apply(
                    Self.batch(number: number, purchases: 0..<50, &fixtures), moving: [], recordedAt: Fixtures.now)
                let applied = try #require(outcome.applied)
                #expect(applied.inserted == 50)
                changes += applied.changes
            }
            let count = Self.history.count * 50
            let written = try await Self.counters(connection).written - before.written
            let rows = try await Self.rows(connection)
            #expect(Double(written) / Double(count) < 7, "\(rows)")
            #expect(changes <= count)
            let messages = try await OutboxStore(connection).changes(limit: 10_000).map(\.message)
            #expect(messages.count == changes)
            #expect(Set(messages.map(\.id)).count == messages.count)
        }
    }

    /// All notification types, losses of access by the clock, resent envelopes and uploads among them.
    @Test func `A notification of generated purchases writes fewer than seven rows`() async throws {
        try await LedgerStoreTests.use { connection, _ async throws in
            var fixtures = Fixtures(seed: 802)
            let purchases = (0..<300).map { number in
                SimulatedPurchase(ScenarioStep.scenario(seed: 80_000 + UInt64(number))).events.map { event in
                    Self.entry(event, ofPurchase: number, &fixtures)
                }
            }
            let before = try await Self.counters(connection)
            // One notification of each purchase in a batch: a batch writes a purchase once.
            for place in 0..<(purchases.map(\.count).max() ?? 0) {
                _ = try await LedgerStore(connection).apply(
                    purchases.compactMap { $0.count > place ? $0[place] : nil }, moving: [],
                    recordedAt: Fixtures.now)
            }
            let written = try await Self.counters(connection).written - before.written
            let count = purchases.map(\.count).reduce(0, +)
            #expect(count > 2000)
            let rows = try await Self.rows(connection)
            #expect(Double(written) / Double(count) < 7, "\(rows)")
        }
    }

    /// The event as one of the purchase of an account of its own.
    static func entry(
        _ event: PurchaseEvent, ofPurchase number: Int, _ fixtures: inout Fixtures
    ) -> LedgerEntry {
        var entry = fixtures.entry()
        var event = event
        event.key.originalTransactionId += "-\(number)"
        event.version.notificationUUID = entry.notificationUUID
        event.transaction?.transactionId += "-\(number)"
        event.transaction?.appTransactionId = "70\(number)"
        event.transaction?.appAccountToken = account(ofPurchase: number)
        entry.environment = event.key.environment
        entry.originalTransactionId = event.key.originalTransactionId
        entry.transactionId = event.transaction?.transactionId
        entry.notificationType = event.notificationType
        entry.subtype = event.subtype
        entry.signedDate = event.version.signedDate
        entry.event = event
        return entry
    }

    static func account(ofPurchase number: Int) -> String {
        "7e3fb204-2017-4a4e-8f3b-\(String(format: "%012d", number))"
    }

    /// By table: inserted, updated and deleted.
    private static func rows(_ connection: PostgresConnection) async throws -> String {
        try await connection.execute(
            unsafeSQL: """
                select string_agg(relname || ' ' || n_tup_ins || '+' || n_tup_upd || '+' || n_tup_del, ', ')
                    as rows
                from pg_stat_user_tables where n_tup_ins + n_tup_upd + n_tup_del > 0
                """)[0].value("rows")
    }

    /// A plan of an almost empty table would read the whole table for every notification, also when it no longer is small.
    @Test func `A plan made on almost empty tables reads as few rows in a full ledger`() async throws {
        try await LedgerStoreTests.use { _, configuration async throws in
            var configuration = configuration
            configuration.plansOnce = true
            let connection = TestDatabase.connection(configuration)
            for statement in StorageStatements.all { try await connection.prepare(statement) }
            var fixtures = Fixtures(seed: 801)
            let store = LedgerStore(connection)
            var next = 0
            func apply(batches: Int, of size: Int) async throws {
                for _ in 0..<batches {
                    for number in 0..<3 {
                        _ = try await store.apply(
                            Self.batch(number: number, purchases: next..<next + size, &fixtures), moving: [],
                            recordedAt: Fixtures.now)
                    }
                    next += size
                }
            }
            try await apply(batches: 12, of: 2)
            // As Postgres does by itself at any moment: the plans are made again, with the statistics of small tables.
            _ = try await TestDatabase.connection(configuration).execute(unsafeSQL: "analyze")
            // Batches while the tables grow, as they are while the workers keep up, and while they catch up.
            for (batches, size) in [(30, 100), (100, 1), (3, 100)] {
                let before = try await Self.counters(connection)
                try await apply(batches: batches, of: size)
                let count = batches * size * 3
                let read = try await Self.counters(connection).read - before.read
                let rows = try await Self.readRows(connection)
                #expect(
                    Double(read) / Double(count) <= 60,
                    "\(read) rows read for \(count) notifications, \(size) at once: \(rows)")
            }
        }
    }

    /// By table and index: looks, and the rows that they read.
    private static func readRows(_ connection: PostgresConnection) async throws -> String {
        try await connection.execute(
            unsafeSQL: """
                select coalesce(string_agg(relname || ' ' || seq_scan || ' ' || seq_tup_read, ', '), '') || '; ' || (
                    select string_agg(indexrelname || ' ' || idx_scan || ' ' || idx_tup_read, ', ')
                    from pg_stat_user_indexes where idx_tup_read > 0) as rows
                from pg_stat_user_tables where seq_tup_read > 0
                """)[0].value("rows")
    }
}
