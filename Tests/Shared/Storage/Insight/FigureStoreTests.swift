import Contracts
import Development
import Foundation
import Postgres
import Subscriptions
import TestSupport
import Testing

@testable import Storage

/// Figures in a database: what is added up step by step is what all purchases amount to.
@Suite(.serialized) struct FigureStoreTests {
    /// All batches of what is waiting.
    private static func update(
        _ connection: PostgresConnection, at now: Date, limit: Int = 500, batches size: Int = 7
    ) async throws {
        while try await FigureStore(connection).update(limit: limit, batches: size, at: now) {}
    }

    private static func apply(_ entries: ArraySlice<LedgerEntry>, to connection: PostgresConnection) async throws {
        _ = try await LedgerStore(connection).apply(Array(entries), moving: [], recordedAt: Fixtures.now)
    }

    /// The rows of a figure's table, one text each.
    private static func rows(_ table: String, _ connection: PostgresConnection) async throws -> [String] {
        let isSum = table != "mrr_movement" && table != "insight_reported"
        return try await connection.execute(
            Statement(
                unsafeSQL: """
                    select row(held.*)::text as line from \(table) held
                    \(isSum ? "where amount <> 0 or revenuecat_amount <> 0 or purchases <> 0 or count <> 0" : "")
                    order by 1
                    """)
        ).map { row in try row.value("line") }
    }

    private static func moment(_ day: Int) -> Date { Date(timeIntervalSince1970: Double(20_254 + day) * 86_400) }

    /// Equal to what a computation of everything at once gives, and to what the check reads.
    private static func expectExact(_ connection: PostgresConnection, at now: Date) async throws {
        for day in [-1, 3, 10, 20, 33, 41, 70, 118] where moment(day) <= now {
            #expect(try await FigureCheck(connection).differences(before: moment(day)) == [], "day \(day)")
        }
        let (days, months, movements) = (
            try await rows("insight_day", connection), try await rows("insight_month", connection),
            try await rows("mrr_movement", connection)
        )
        try await connection.run(
            unsafeScript: "truncate insight_day, insight_month, insight_purchase, mrr_movement, insight_change")
        _ = try await connection.execute(FigureStore.enqueueAll)
        try await update(connection, at: now)
        #expect(try await rows("insight_day", connection) == days)
        #expect(try await rows("insight_month", connection) == months)
        #expect(months.count > 5 && months.count < days.count)
        #expect(try await rows("mrr_movement", connection) == movements)
    }

    @Test(arguments: 1...4 as ClosedRange<UInt64>)
    func `Figures are the same however changes arrive and batches are cut, and equal what was paid`(
        seed: UInt64
    ) async throws {
        try await LedgerStoreTests.use { connection, _ async throws in
            var fixtures = Fixtures(seed: seed)
            var generator = SeededGenerator(state: seed)
            let entries = fixtures.entries(240, purchases: 12).shuffled(using: &generator)
            var (next, now) = (0, Self.moment(0))
            while next < entries.count {
                let end = min(entries.count, next + Int.random(in: 1...40, using: &generator))
                try await Self.apply(entries[next..<end], to: connection)
                next = end
                // The clock moves past ends of periods, with and without something new.
                now = now.addingTimeInterval(Double.random(in: 0...10, using: &generator) * 86_400)
                if Bool.random(using: &generator) {
                    try await Self.update(
                        connection, at: now, limit: .random(in: 1...20, using: &generator),
                        batches: .random(in: 1...4, using: &generator))
                    #expect(try await FigureCheck(connection).differences(before: now.startOfDay) == [])
                }
            }
            now = Self.moment(120)
            try await Self.update(connection, at: now)
            let movements = try await Self.rows("mrr_movement", connection)
            #expect(movements.count > 20)
            try await Self.expectExact(connection, at: now)
            #expect(try await FigureStore(connection).status().asOf == now)
        }
    }

    @Test(
        arguments: [
            "insight_position", "insight_change", "insight_purchase", "mrr_movement", "insight_day", "insight_month",
        ])
    func `A process killed at any table leaves the sums as they were, and the next one completes them`(
        table: String
    ) async throws {
        try await LedgerStoreTests.use { connection, database async throws in
            var fixtures = Fixtures(seed: 7)
            try await Self.apply(fixtures.entries(60)[...], to: connection)
            try await Self.update(connection, at: Self.moment(20))
            try await Self.apply(fixtures.entries(60)[...], to: connection)
            let before = (
                try await Self.rows("insight_day", connection), try await Self.rows("insight_month", connection)
            )
            let (worker, observer) = (TestDatabase.connection(database), TestDatabase.connection(database))
            await #expect(throws: PostgresError.self) {
                try await LedgerCrashTests.holding(table, in: database) {
                    async let outcome = FigureStore(worker).update(at: Self.moment(120))
                    for backend in try await TestDatabase.blockedBackends(asking: observer) {
                        try await TestDatabase.terminate(backend, asking: observer)
                    }
                    return try await outcome
                }
            }
            #expect(try await Self.rows("insight_day", connection) == before.0)
            #expect(try await Self.rows("insight_month", connection) == before.1)
            try await Self.update(worker, at: Self.moment(120))
            try await Self.expectExact(worker, at: Self.moment(120))
        }
    }

    @Test func `The check finds a figure that was changed, and a rebuild computes it again`() async throws {
        try await LedgerStoreTests.use { connection, _ async throws in
            var fixtures = Fixtures(seed: 8)
            try await Self.apply(fixtures.entries(200)[...], to: connection)
            let now = Self.moment(20)
            try await Self.update(connection, at: now)
            #expect(try await FigureCheck(connection).differences(before: now.startOfDay) == [])
            try await connection.run(
                unsafeScript: """
                    update insight_day set amount = amount + 5
                    where ctid = (select ctid from insight_day where kind = 'new' order by day limit 1);
                    update mrr_movement set amount = amount - 3
                    where ctid = (select ctid from mrr_movement order by at limit 1)
                    """)
            let found = try await FigureCheck(connection).differences(before: now.startOfDay)
            #expect(!found.isEmpty)
            #expect(found.reduce(0) { $0 + $1.summed - $1.scanned } == 5)
            #expect(found.reduce(0) { $0 + $1.moved - $1.scanned } == -3)
            let purchases = try await FigureStore(connection).rebuild(
                audit: OperatorAction(
                    actedAt: now, actor: "ann", operation: "insight rebuild", subject: "all figures", reason: nil))
            #expect(purchases == 5)
            try await Self.update(connection, at: now)
            #expect(try await FigureCheck(connection).differences(before: now.startOfDay) == [])
        }
    }

    @Test func `A movement that is stored twice is stored once after a rebuild`() async throws {
        try await LedgerStoreTests.use { connection, _ async throws in
            var fixtures = Fixtures(seed: 8)
            try await Self.apply(fixtures.entries(200)[...], to: connection)
            let now = Self.moment(20)
            try await Self.update(connection, at: now)
            let movements = try await Self.rows("mrr_movement", connection)
            try await connection.run(unsafeScript: "insert into mrr_movement select * from mrr_movement")
            #expect(try await FigureCheck(connection).differences(before: now.startOfDay) != [])
            _ = try await connection.execute(FigureStore.enqueueAll)
            try await Self.update(connection, at: now)
            #expect(try await Self.rows("mrr_movement", connection) == movements)
        }
    }

    /// A program of the release before, or of one after it that was taken back, writes these tables and knows no queue.
    @Test(arguments: [
        ("update transaction set price_milliunits = 77000 where original_transaction_id = 'FIRST'", ["FIRST"]),
        ("delete from transaction where original_transaction_id = 'FIRST'", ["FIRST"]),
        (
            "update transaction set original_transaction_id = '20000004' where original_transaction_id = 'FIRST'",
            ["FIRST", "20000004"]
        ),
        ("delete from access_period where original_transaction_id = 'FIRST'", ["FIRST"]),
        (
            """
            insert into transaction
            select held.*
            from transaction known
            cross join lateral jsonb_populate_record(
                known, '{"transaction_id": "another", "original_transaction_id": "20000004"}') as held
            where known.original_transaction_id = 'FIRST'
            limit 1
            """, ["20000004"]
        ),
        (
            """
            update access_period set reason = 'gracePeriod' where original_transaction_id = 'FIRST';
            update access_period set reason = 'transaction' where original_transaction_id = 'FIRST'
            """, ["FIRST"]
        ),
    ])
    func `Figures follow a change of transactions or access periods by any program`(
        sql: String, purchases: [String]
    ) async throws {
        try await LedgerStoreTests.use { connection, _ async throws in
            var fixtures = Fixtures(seed: 11)
            try await Self.apply(fixtures.entries(120)[...], to: connection)
            let now = Self.moment(120)
            try await Self.update(connection, at: now)
            #expect(try await Self.queued(connection).isEmpty)
            let first: String = try await connection.execute(
                Statement(
                    unsafeSQL: """
                        select min(original_transaction_id) as id
                        from access_period
                        join transaction using (environment, original_transaction_id)
                        """)
            )[0].value("id")
            try await connection.run(
                unsafeScript: "begin; \(sql.replacingOccurrences(of: "FIRST", with: first)); commit")
            #expect(try await Self.queued(connection) == purchases.map { $0 == "FIRST" ? first : $0 })
            try await Self.update(connection, at: now)
            try await Self.expectExact(connection, at: now)
        }
    }

    @Test func `A transaction queues a purchase once, however many of its statements change it`() async throws {
        try await LedgerStoreTests.use { connection, _ async throws in
            var fixtures = Fixtures(seed: 11)
            let entries = fixtures.entries(120)
            try await Self.apply(entries[..<60], to: connection)
            let first = try await Self.queued(connection)
            #expect(first.count == 5 && Set(first).count == 5)
            // Another transaction queues it a second time, because the first row may be taken before this one is committed.
            try await Self.apply(entries[60...], to: connection)
            let both = Dictionary(grouping: try await Self.queued(connection), by: \.self).mapValues(\.count)
            #expect(both.values.contains(2) && both.values.allSatisfy { $0 <= 2 })
        }
    }

    private static func queued(_ connection: PostgresConnection) async throws -> [String] {
        try await connection.execute(
            Statement(unsafeSQL: "select original_transaction_id as id from insight_change order by 1")
        ).map { row in try row.value("id") }
    }

    @Test
    func `The check finds a month that is not the sum of its days, of every kind, and a rebuild adds it up again`()
        async throws
    {
        try await LedgerStoreTests.use { connection, _ async throws in
            var fixtures = Fixtures(seed: 8)
            try await Self.apply(fixtures.entries(200)[...], to: connection)
            // After the month, because of its own month the days are read.
            let now = Self.moment(60)
            try await Self.update(connection, at: now)
            #expect(try await FigureCheck(connection).differences(before: now.startOfDay) == [])
            let sound = try await Self.rows("insight_month", connection)
            for (kind, column) in [("new", "amount"), ("charge", "amount"), ("periods", "count_to_16")] {
                try await connection.run(
                    unsafeScript: """
                        update insight_month set \(column) = \(column) + 7
                        where ctid = (select ctid from insight_month where kind = '\(kind)' order by month limit 1)
                        """)
                let found = try await FigureCheck(connection).differences(before: now.startOfDay)
                #expect(found.map(\.kind) == [kind == "new" ? FigureCheck.Difference.revenue : kind])
                #expect(found.map { $0.months - $0.summed } == [7])
                _ = try await FigureStore(connection).rebuild(
                    audit: OperatorAction(
                        actedAt: now, actor: "ann", operation: "insight rebuild", subject: "all figures", reason: nil))
                #expect(try await FigureCheck(connection).differences(before: now.startOfDay) == [])
                #expect(try await Self.rows("insight_month", connection) == sound)
            }
        }
    }

    @Test func `A day is reported once it is complete, and stays as it was reported`() async throws {
        try await LedgerStoreTests.use { connection, _ async throws in
            var fixtures = Fixtures(seed: 9)
            let entries = fixtures.entries(120)
            try await Self.apply(entries[..<60], to: connection)
            let now = Self.moment(12)
            try await Self.update(connection, at: now)
            #expect(try await Self.rows("insight_reported", connection).isEmpty)
            try await connection.run(
                unsafeScript: """
                    insert into coverage_day (planned_at, completed_at, window_id, day, environment, bundle_id)
                    select now(), case when day < date '2025-06-24' then now() end, gen_random_uuid(), day, 'Production',
                        'com.example.app'
                    from generate_series(date '2025-06-15', date '2025-06-27', interval '1 day') as day
                    """)
            try await Self.update(connection, at: now)
            let reported = try await Self.rows("insight_reported", connection)
            #expect(reported.count > 9 && !reported.contains { $0.contains("2025-06-24") })
            let days = Statement(
                unsafeSQL:
                    "select count(*) as days, sum(abs(amount) + count)::bigint as added from insight_reported where kind = ''"
            )
            let marks = try await connection.execute(days)[0]
            #expect(try marks.value("days", as: Int64.self) == 9)
            #expect(try marks.value("added", as: Int64.self) == 0)
            try await Self.apply(entries[60...], to: connection)
            try await Self.update(connection, at: now)
            #expect(try await Self.rows("insight_reported", connection) == reported)
            let amounts = Statement(
                unsafeSQL: """
                    select count(*)::bigint as known
                    from insight_reported reported
                    where kind in ('charge', 'loyalCharge') and amount <> (
                        select sum(amount) from insight_day held
                        where held.environment = reported.environment and held.bundle_id = reported.bundle_id
                            and held.day = reported.day and held.kind = reported.kind
                            and held.currency = reported.currency)
                    """)
            // More was charged on these days than was known when they were reported.
            #expect(try await connection.execute(amounts)[0].value("known", as: Int64.self) > 0)
            // The difference is listed by purchase, to the thousandth.
            let corrections = Statement(
                unsafeSQL: """
                    select count(distinct original_transaction_id) as purchases, (
                        select count(*)
                        from (
                            select from (
                                select held.*
                                from (
                                    select environment, bundle_id, day, kind, currency, amount, count from insight_day
                                    where kind not in ('lostInDay', 'lostInMonth', 'trialRunning', 'trialEnded', 'trialPaid',
                                        'periods', 'resubscribedPeriods', 'unbrokenPeriods')
                                ) as held
                                join insight_reported using (environment, bundle_id, day)
                                where insight_reported.kind = ''
                                union all
                                select environment, bundle_id, day, kind, currency, -amount, -count from insight_reported
                                union all
                                select environment, bundle_id, day, kind, currency, -amount, -count from insight_correction
                            ) as change
                            group by environment, bundle_id, day, kind, currency
                            having sum(amount) <> 0 or sum(count) <> 0
                        ) as unequal
                    ) as unequal
                    from insight_correction
                    where day < date '2025-06-24' and corrected_at = $1::timestamptz
                    """)
            let listed = try await connection.execute(corrections, now)[0]
            #expect(try listed.value("purchases", as: Int64.self) > 0)
            #expect(try listed.value("unequal", as: Int64.self) == 0)
        }
    }
}

extension Date {
    fileprivate var startOfDay: Date {
        Date(timeIntervalSince1970: (timeIntervalSince1970 / 86_400).rounded(.down) * 86_400)
    }
}
