import Contracts
import Foundation
import Postgres
import Storage
import Subscriptions
import TestSupport
import Testing

/// The rows that one notification writes and reads, by the server's own counters.
@Suite(.serialized) struct LedgerCostTests {
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
        _ = try await connection.execute(Statement(unsafeSQL: "select pg_stat_force_next_flush()"))
        _ = try await connection.execute(Statement(unsafeSQL: "select 1"))
        let row = try await connection.execute(
            Statement(
                unsafeSQL: """
                    select sum(n_tup_ins + n_tup_upd + n_tup_del)::bigint as written,
                        (sum(seq_tup_read) + (select sum(idx_tup_read) from pg_stat_user_indexes))::bigint as read
                    from pg_stat_user_tables
                    """))[0]
        return (try row.value("written"), try row.value("read"))
    }

    @Test func `A notification of a typical history writes fewer than six rows and publishes at most one message`()
        async throws
    {
        try await LedgerStoreTests.use { connection, _ async throws in
            let before = try await Self.counters(connection)
            var fixtures = Fixtures(seed: 800)
            var changes = 0
            for number in Self.history.indices {
                let outcome = try await LedgerStore(connection).apply(
                    Self.batch(number: number, purchases: 0..<50, &fixtures), moving: [], recordedAt: Fixtures.now)
                guard case .applied(let applied) = outcome else { continue }
                #expect(applied.inserted == 50)
                changes += applied.changes
            }
            let count = Self.history.count * 50
            let written = try await Self.counters(connection).written - before.written
            let tables = try await connection.execute(
                Statement(
                    unsafeSQL: """
                        select string_agg(relname || ' ' || n_tup_ins || '+' || n_tup_upd || '+' || n_tup_del, ', ')
                            as rows
                        from pg_stat_user_tables where n_tup_ins + n_tup_upd + n_tup_del > 0
                        """))
            let rows: String = try tables[0].value("rows")
            #expect(Double(written) / Double(count) < 6, "\(rows)")
            #expect(changes <= count)
            let messages = try await OutboxStore(connection).changes(limit: 10_000).map(\.message)
            #expect(messages.count == changes)
            #expect(Set(messages.map(\.id)).count == messages.count)
        }
    }

    /// A plan of an empty table would read the whole table for every batch: the rows read for a notification would grow with
    /// the ledger.
    @Test(arguments: [false, true])
    func `No plan made on empty tables is kept: a notification reads as few rows in a full ledger`(
        plansOnce: Bool
    ) async throws {
        try await LedgerStoreTests.use { _, configuration async throws in
            var configuration = configuration
            configuration.plansOnce = plansOnce
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
            // Enough small batches that every statement gets a generic plan, made on almost empty tables.
            try await apply(batches: 12, of: 2)
            try await apply(batches: 30, of: 100)
            let before = try await Self.counters(connection)
            try await apply(batches: 3, of: 100)
            let read = try await Self.counters(connection).read - before.read
            let all = try await connection.execute(
                Statement(
                    unsafeSQL: """
                        select string_agg(relname || ' ' || seq_scan || ' ' || seq_tup_read, ', ') || '; ' || (
                            select string_agg(indexrelname || ' ' || idx_scan || ' ' || idx_tup_read, ', ')
                            from pg_stat_user_indexes where idx_tup_read > 0) as rows
                        from pg_stat_user_tables where seq_tup_read > 0
                        """))
            let rows: String = try all[0].value("rows")
            #expect(Double(read) / 900 <= 60, "\(read) rows read for 900 notifications: \(rows)")
        }
    }
}
