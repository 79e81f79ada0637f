import Contracts
import Foundation
import Postgres
import Subscriptions
import TestSupport
import Testing

@testable import Storage

/// Ends of access that nothing told of.
@Suite struct AccessEndStoreTests {
    static let start = Fixtures.now
    static let day = 86_400.0
    static let patience = 600.0

    /// An event of a period of one day.
    static func entry(
        _ type: String, purchase: String = "1", from days: Double = 0, signed: Double, status: Int? = 1,
        _ fixtures: inout Fixtures
    ) -> LedgerEntry {
        var entry = fixtures.entry(purchases: 1)
        let date = start.addingTimeInterval(signed * day)
        let begin = start.addingTimeInterval(days * day)
        (entry.notificationType, entry.subtype, entry.signedDate) = (type, nil, date)
        entry.originalTransactionId = purchase
        entry.event = PurchaseEvent(
            key: SubscriptionKey(environment: .production, originalTransactionId: purchase),
            version: EventVersion(signedDate: date, notificationUUID: entry.notificationUUID),
            bundleId: "com.example.app", notificationType: type, subtype: nil, status: status,
            transaction: TransactionFacts(
                transactionId: "\(purchase)-\(days)", productId: "gold", productType: "Auto-Renewable Subscription",
                purchaseDate: begin, expiresDate: begin.addingTimeInterval(day), priceMilliunits: 4990, currency: "EUR",
                signedDate: date), renewal: nil)
        return entry
    }

    static func apply(_ entries: [LedgerEntry], at days: Double, _ connection: PostgresConnection) async throws {
        _ = try await LedgerStore(connection).apply(
            entries, moving: [], recordedAt: start.addingTimeInterval(days * day))
    }

    /// - Parameter minutes: after the end of the first day.
    static func next(
        _ connection: PostgresConnection, minutes: Double, limit: Int = 500
    ) async throws -> AccessEndStore.Batch? {
        try await AccessEndStore(connection).next(
            limit: limit, patience: patience, at: start.addingTimeInterval(day + minutes * 60))
    }

    static func rows(_ connection: PostgresConnection, purchase: String = "1") async throws -> [TimelineRow] {
        try await TimelineStore(connection).rows(
            of: SubscriptionKey(environment: .production, originalTransactionId: purchase))
    }

    @Test func `An end of which nothing told is told once, after the patience`() async throws {
        var fixtures = Fixtures(seed: 51)
        let bought = Self.entry("SUBSCRIBED", signed: 0, &fixtures)
        try await TestDatabase.connected { connection async throws in
            try await Self.apply([bought], at: 0, connection)
            // The first call stores where to begin.
            #expect(try await Self.next(connection, minutes: -60) == nil)
            #expect(try await Self.next(connection, minutes: 9.9) == nil)
            #expect(try await Self.next(connection, minutes: 10) == AccessEndStore.Batch(ends: 1, told: 1))
            #expect(try await Self.next(connection, minutes: 10) == nil)
            #expect(try await Self.next(connection, minutes: 100_000) == nil)

            let rows = try await Self.rows(connection)
            #expect(rows.map(\.event) == ["SUBSCRIBED", "ACCESS_ENDED"])
            let end = Self.start.addingTimeInterval(Self.day)
            #expect(rows[1].occurredAt == end && rows[1].revision == rows[0].revision + 1)
            #expect(!rows[1].state.hasAccess && rows[1].state.accessUntil == nil)
            #expect(rows[1].changes == [FactChange(fact: "accessUntil", from: end.iso8601, to: "none")])
            let message = try #require(try await OutboxStore(connection).changes().last?.message)
            #expect(message.event == "ACCESS_ENDED" && message.sequence == rows[1].id)
            #expect(message.transaction?.price == 4990 && message.transaction?.transactionId == "1-0.0")
            // The stored revision is that of the message, so a later change has a greater one.
            let renewed = Self.entry("DID_RENEW", from: 2, signed: 2, &fixtures)
            try await Self.apply([renewed], at: 2, connection)
            let after = try await Self.rows(connection)
            #expect(after.map(\.event) == ["SUBSCRIBED", "ACCESS_ENDED", "DID_RENEW"])
            #expect(after[2].revision == rows[1].revision + 1 && after[2].state.hasAccess)
            #expect(try await Self.next(connection, minutes: 1000) == nil)
        }
    }

    @Test func `An end is not told where a message said so, another period follows, or access was given again`()
        async throws
    {
        var fixtures = Fixtures(seed: 52)
        let minute = 1.0 / 1440
        let told = [
            Self.entry("SUBSCRIBED", purchase: "told", signed: 0, &fixtures),
            Self.entry("EXPIRED", purchase: "told", signed: 1 + minute, status: 2, &fixtures),
        ]
        let renewed = [
            Self.entry("SUBSCRIBED", purchase: "renewed", signed: 0, &fixtures),
            Self.entry("DID_RENEW", purchase: "renewed", from: 1, signed: 0.9, &fixtures),
        ]
        let again = [
            Self.entry("SUBSCRIBED", purchase: "again", signed: 0, &fixtures),
            Self.entry("SUBSCRIBED", purchase: "again", from: 1 + 5 * minute, signed: 1 + 5 * minute, &fixtures),
        ]
        try await TestDatabase.connected { connection async throws in
            #expect(try await Self.next(connection, minutes: -60) == nil)
            try await Self.apply([told[0], renewed[0], again[0], renewed[1]], at: 0.9, connection)
            try await Self.apply([told[1]], at: 1 + minute, connection)
            try await Self.apply([again[1]], at: 1 + 5 * minute, connection)
            #expect(try await Self.next(connection, minutes: 11)?.told == 0)
            // The ends of the later periods.
            #expect(try await Self.next(connection, minutes: 1450)?.told == 1)
            #expect(try await Self.rows(connection, purchase: "renewed").last?.event == "ACCESS_ENDED")
            #expect(try await Self.next(connection, minutes: 1455)?.told == 1)
            #expect(try await Self.rows(connection, purchase: "again").last?.event == "ACCESS_ENDED")
            #expect(try await Self.rows(connection, purchase: "told").last?.event == "EXPIRED")
        }
    }

    @Test func `What ended before the first call is not told`() async throws {
        var fixtures = Fixtures(seed: 53)
        let bought = Self.entry("SUBSCRIBED", signed: 0, &fixtures)
        try await TestDatabase.connected { connection async throws in
            try await Self.apply([bought], at: 0, connection)
            for minutes in [1.0, 60] { #expect(try await Self.next(connection, minutes: minutes) == nil) }
            #expect(try await Self.rows(connection).count == 1)
        }
    }

    @Test func `An end that was read without the purchase's newest notification is decided once more under the lock`()
        async throws
    {
        var fixtures = Fixtures(seed: 54)
        let bought = Self.entry("SUBSCRIBED", signed: 0, &fixtures)
        let expired = Self.entry("EXPIRED", signed: 1, status: 2, &fixtures)
        try await TestDatabase.use { database async throws in
            let connection = TestDatabase.connection(database)
            try await Self.apply([bought], at: 0, connection)
            #expect(try await Self.next(connection, minutes: -60) == nil)
            // Holds the purchase while the end is read, and then applies EXPIRED.
            let holder = TestDatabase.connection(database)
            try await holder.run(unsafeScript: "begin; select from subscription for update")
            let telling = Task {
                let own = TestDatabase.connection(database)
                let batch = try await Self.next(own, minutes: 20)
                await own.close()
                return batch
            }
            _ = try await TestDatabase.blockedBackends(asking: connection)
            try await holder.run(
                unsafeScript: """
                    insert into timeline (
                        occurred_at, applied_at, revision, notification_uuid, environment, has_access,
                        original_transaction_id, bundle_id, event, changes)
                    select now(), to_timestamp(\(Self.start.timeIntervalSince1970 + Self.day + 60)), 2,
                        '\(expired.notificationUUID.uuidString)', 'Production', false, '1', 'com.example.app', 'EXPIRED', '[]';
                    commit
                    """)
            #expect(try await telling.value == AccessEndStore.Batch(ends: 1, told: 0))
            await holder.close()
        }
    }

    @Test(.hangLimit, arguments: 61...64 as ClosedRange<UInt64>)
    func `Every end is told exactly once by several processes whose sessions are killed at any time`(seed: UInt64)
        async throws
    {
        var fixtures = Fixtures(seed: seed)
        let purchases = 60
        let entries = (0..<purchases).map { number in
            Self.entry("SUBSCRIBED", purchase: "p\(number)", from: -Double(number % 7) / 1000, signed: 0, &fixtures)
        }
        try await TestDatabase.use { database async throws in
            let connection = TestDatabase.connection(database)
            #expect(try await Self.next(connection, minutes: -60) == nil)
            try await Self.apply(entries, at: 0, connection)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<3 {
                    group.addTask {
                        while true {
                            let own = TestDatabase.connection(database)
                            do {
                                while true {
                                    _ = try await Self.next(own, minutes: 100, limit: 5)
                                    if try await Self.isDone(own) { return await own.close() }
                                }
                            } catch is PostgresError { await own.close() }
                        }
                    }
                }
                group.addTask {
                    let own = TestDatabase.connection(database)
                    let kill = Statement(
                        unsafeSQL: """
                            select pg_terminate_backend(pid)
                            from pg_stat_activity
                            where datname = current_database() and pid <> pg_backend_pid() and xact_start is not null
                            limit 1
                            """)
                    for _ in 0..<200 {
                        if try await Self.isDone(own) { break }
                        _ = try await own.execute(kill)
                    }
                    await own.close()
                }
                try await group.waitForAll()
            }
            // A session of its own, because an idle one that catches up with the catalogue has a transaction for a moment, and was killed.
            let reader = TestDatabase.connection(database)
            let events = try await TimelineStore(reader).newest(1000).filter { $0.event == "ACCESS_ENDED" }
            #expect(events.count == purchases)
            #expect(Set(events.map(\.key)).count == purchases)
        }
    }

    /// Whether no end is waiting.
    static func isDone(_ connection: PostgresConnection) async throws -> Bool {
        let open = Statement(
            unsafeSQL: """
                select next_offset
                from consumer_position
                where topic = 'access_period' and exists (
                    select
                    from access_period
                    where upper(period) > timestamptz 'epoch' + next_offset * interval '1 microsecond')
                """)
        return try await connection.execute(open).affected == 0
    }
}
