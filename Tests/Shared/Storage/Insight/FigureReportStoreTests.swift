import Contracts
import Foundation
import Postgres
import Records
import Subscriptions
import TestSupport
import Testing

@testable import Storage

/// Reports over a few purchases whose figures are computed by hand.
@Suite struct FigureReportStoreTests {
    static let app = "com.example.app"

    static func date(_ text: String) throws -> Date {
        try Date.ISO8601FormatStyle().year().month().day().parse(text)
    }

    static func period(
        _ purchase: String, _ number: Int, _ from: String, _ to: String, price: Int64 = 10_000,
        product: String = "gold",
        refunded: String? = nil, extended: String? = nil, isTrial: Bool = false
    ) throws -> LedgerEntry {
        let start = try date(from)
        let signed = try (refunded ?? extended).map { try date($0) } ?? start
        var facts = TransactionFacts(
            transactionId: "\(purchase)-\(number)", productId: product, productType: "Auto-Renewable Subscription",
            subscriptionGroupIdentifier: "g", purchaseDate: start, expiresDate: try date(to), ownership: "PURCHASED",
            revocationDate: refunded == nil ? nil : signed, priceMilliunits: isTrial ? 0 : price, currency: "EUR",
            signedDate: signed, reason: number == 1 ? "PURCHASE" : "RENEWAL", storefront: "DEU")
        if isTrial { (facts.offerType, facts.offerDiscountType, facts.offerPeriod) = (1, "FREE_TRIAL", "P1W") }
        let uuid = UUID()
        let event = PurchaseEvent(
            key: SubscriptionKey(environment: .production, originalTransactionId: purchase),
            version: EventVersion(signedDate: signed, notificationUUID: uuid), bundleId: app,
            notificationType: refunded != nil ? "REFUND" : extended != nil ? "RENEWAL_EXTENDED" : "DID_RENEW",
            subtype: nil, status: nil, transaction: facts,
            renewal: nil)
        return LedgerEntry(
            notificationUUID: uuid, notificationType: event.notificationType, subtype: nil, environment: .production,
            bundleId: app, appAppleId: 1, originalTransactionId: purchase, transactionId: facts.transactionId,
            signedDate: signed, receivedAt: signed, source: .webhook, decodedPayload: "{}", signedPayload: [1],
            event: event, position: LogPosition(topic: "t", partition: 0, offset: 0))
    }

    @Test func `A purchase that pays for another length is lost only where rows are told apart by it`() async throws {
        try await LedgerStoreTests.use { connection, _ async throws in
            var dollars = try Self.period("2", 2, "2026-02-10", "2026-03-10")
            dollars.event?.transaction?.currency = "USD"
            let entries = [
                try Self.period("1", 1, "2026-01-10", "2026-02-10"),
                try Self.period("1", 2, "2026-02-10", "2027-02-10", price: 120_000, product: "yearly"),
                try Self.period("2", 1, "2026-01-10", "2026-02-10"), dollars,
            ]
            let now = try Self.date("2026-02-20")
            _ = try await LedgerStore(connection).apply(entries, moving: [], recordedAt: now)
            while try await FigureStore(connection).update(at: now) {}
            let store = FigureReportStore(connection)
            // In euros one of two is lost.
            #expect(
                try await Self.lines(.churn, store, from: "2026-02-01", to: "2026-03-01") == [
                    "02 2 1 0.500 20000 10000 0.500 0.500", "02 0 0 - 0 0 - -",
                ])
            #expect(
                try await Self.lines(.churn, store, by: [.period], from: "2026-02-01", to: "2026-03-01") == [
                    "02 P1M 2 2 1.000 20000 10000 0.500 1.000", "02 P1Y 0 0 - 0 0 - -", "02 P1M 0 0 - 0 0 - -",
                ])
        }
    }

    @Test(arguments: [[0, 1], [1, 0]])
    func `A first week that Apple extended by three is a week, whichever version arrives last`(
        order: [Int]
    ) async throws {
        try await LedgerStoreTests.use { connection, _ async throws in
            let entries = [
                try Self.period("1", 1, "2026-01-10", "2026-01-17", price: 1990),
                try Self.period("1", 1, "2026-01-10", "2026-02-07", price: 1990, extended: "2026-01-12"),
            ]
            let now = try Self.date("2026-01-25")
            for place in order {
                _ = try await LedgerStore(connection).apply([entries[place]], moving: [], recordedAt: now)
                while try await FigureStore(connection).update(at: now) {}
            }
            // 1.99 × 365.25 / 84 = 8.65294…; RevenueCat: × 4.
            // The month that it was counted as before is a sum of nothing until then.
            try await FigureStore(connection).tidy()
            let lines = try await Self.lines(.mrr, FigureReportStore(connection), by: [.period], to: "2026-02-01")
            #expect(lines == ["01 P1W 8653 7960 1"])
            #expect(try await FigureCheck(connection).differences(before: now) == [])
        }
    }

    /// One keeps paying, with an upgrade; one leaves and comes back; one is refunded; one only tried; one paid after its trial.
    static func use(_ body: (FigureReportStore, PostgresConnection) async throws -> Void) async throws {
        try await LedgerStoreTests.use { connection, _ async throws in
            let entries = [
                try period("1", 1, "2026-01-10", "2026-02-10"), try period("1", 2, "2026-02-10", "2026-03-10"),
                try period("1", 3, "2026-03-10", "2026-04-10", price: 25_000, product: "platinum"),
                try period("2", 1, "2026-01-20", "2026-02-20"), try period("2", 1001, "2026-03-05", "2026-04-05"),
                try period("3", 1, "2026-02-01", "2026-03-01", refunded: "2026-02-11"),
                try period("4", 1, "2026-01-05", "2026-01-12", isTrial: true),
                try period("5", 1, "2026-01-06", "2026-01-13", isTrial: true),
                try period("5", 2, "2026-01-13", "2026-02-13"),
            ]
            _ = try await LedgerStore(connection).apply(entries, moving: [], recordedAt: try date("2026-03-20"))
            let now = try date("2026-03-20")
            while try await FigureStore(connection).update(at: now) {}
            try await body(FigureReportStore(connection), connection)
        }
    }

    static func lines(
        _ name: FigureReport.Name, _ store: FigureReportStore, by dimensions: Set<FigureReport.Dimension> = [],
        from: String = "2026-01-01", to: String = "2026-04-01"
    ) async throws -> [String] {
        let query = FigureReport.Query(
            name, in: .production, of: [app], days: try date(from)..<date(to), dimensions: dimensions)
        return try await store.report(query).rows.map { row in
            let values = row.values.map { _, value in
                switch value {
                case .count(let number), .amount(let number): "\(number)"
                case .share(let share): share.map { String(format: "%.3f", $0) } ?? "-"
                }
            }
            let cells = row.cells.filter { $0.dimension != .currency }.map(\.value)
            return ([row.days.lowerBound.formatted(Date.ISO8601FormatStyle().month())] + cells + values)
                .joined(separator: " ")
        }
    }

    @Test func `Monthly revenue, its movements and churn are those of the purchases`() async throws {
        try await Self.use { store, _ async throws in
            // January: 1, 2 and 5. February: 2 and 5 ended, 3 came and was refunded. March: 1 upgraded, 2 is back.
            #expect(
                try await Self.lines(.mrr, store) == ["01 30000 30000 3", "02 10000 10000 1", "03 35000 35000 2"])
            #expect(
                try await Self.lines(.mrr, store, by: [.product], from: "2026-03-01") == [
                    "03 gold 10000 10000 1", "03 platinum 25000 25000 1",
                ])
            #expect(
                try await Self.lines(.movements, store) == [
                    "01 0 30000 0 0 0 0 30000 3 0 0 0 0", "02 30000 10000 0 0 -30000 0 10000 1 0 0 3 0",
                    "03 10000 0 15000 0 0 10000 35000 0 1 0 0 1",
                ])
            // The one that came and was refunded within February was not there at its beginning.
            #expect(
                try await Self.lines(.churn, store) == [
                    "01 0 0 - 0 0 - -", "02 3 2 0.667 30000 30000 1.000 1.000", "03 1 0 0.000 10000 0 0.000 -2.500",
                ])
        }
    }

    @Test func `Retention, trials and revenue are those of the purchases`() async throws {
        try await Self.use { store, _ async throws in
            // Of January 1 reached a third period (an upgrade at a renewal), 2 a second one, 5 none after its first.
            #expect(
                try await Self.lines(.retention, store, to: "2026-02-01") == [
                    "01 P1M 1 3 3 3 1.000", "01 P1M 2 3 2 2 0.667", "01 P1M 3 2 1 1 0.500",
                ])
            #expect(try await Self.lines(.trials, store) == ["01 2 0 1 1 0.500"])
            #expect(
                try await Self.lines(.revenue, store) == [
                    "01 30000 3 0 0 30000 0.000", "02 20000 2 10000 1 10000 0.500", "03 35000 2 0 0 35000 0.000",
                ])
        }
    }

    @Test func `Days of a cohort that had time for the same periods are one sum`() async throws {
        try await TestDatabase.use { database async throws in
            let connection = TestDatabase.connection(database)
            // Each day two purchases in each storefront, one of which paid for a second month.
            try await connection.run(
                unsafeScript: """
                    insert into insight_day (amount, revenuecat_amount, purchases, count, day, step, environment, bundle_id, kind,
                        currency, product_id, storefront, period, offer)
                    select 0, 0, 0, 1, day, step, 'Production', '\(Self.app)', 'periods', 'EUR', 'gold', storefront, 'P1M', ''
                    from generate_series(date '2026-01-01', date '2026-01-31', interval '1 day') as day
                    cross join generate_series(1, 2) as step
                    cross join unnest(array['DEU', 'USA']) as storefront
                    """)
            // Before the figures are complete, too.
            #expect(
                try await Self.lines(
                    .retention, FigureReportStore(connection, limit: 20), by: [.storefront], to: "2026-02-01") == [])
            try await connection.run(unsafeScript: "update insight_position set as_of = '2026-03-20 00:00Z'")
            // The time for a third month, of 31 days as the two before, has come for those of the first 16 days.
            #expect(
                try await Self.lines(
                    .retention, FigureReportStore(connection, limit: 20), by: [.storefront], to: "2026-02-01") == [
                        "01 DEU P1M 1 62 62 62 1.000", "01 DEU P1M 2 62 31 31 0.500", "01 DEU P1M 3 32 0 0 0.000",
                        "01 USA P1M 1 62 62 62 1.000", "01 USA P1M 2 62 31 31 0.500", "01 USA P1M 3 32 0 0 0.000",
                    ])
            await connection.close()
        }
    }

    /// Sums of days come from the days alone, those of months from months and some days.
    @Test(arguments: ["2026-01-09", "2026-03-15 12:00", "2026-03-28 23:59:59", "2026-05-01", "2027-06-10"])
    func `Retention by month is what its days add up to`(asOf: String) async throws {
        try await TestDatabase.use { database async throws in
            let connection = TestDatabase.connection(database)
            // P5D is no period of Apple's. Each third sum is changed, so that months are, too.
            try await connection.run(
                unsafeScript: """
                    insert into insight_day (amount, revenuecat_amount, purchases, count, day, step, environment, bundle_id, kind,
                        currency, product_id, storefront, period, offer)
                    select 0, 0, 0, 1 + (day - date '2025-01-01') * step % 17, day, step, 'Production', '\(Self.app)', kind, 'EUR',
                        'gold', 'DEU', period, ''
                    from (select date '2025-10-10' + number as day from generate_series(0, 150) as number) as one
                    cross join generate_series(1, 3) as step
                    cross join unnest(array['P3D', 'P1W', 'P1M', 'P3M', 'P1Y', 'P5D']) as period
                    cross join unnest(array['periods', 'resubscribedPeriods', 'unbrokenPeriods']) as kind
                    where (day - date '2025-10-10') % 3 = 0;
                    update insight_day set day = day + 1 where period = 'P1W';
                    update insight_day set count = count + 3 where step = 3;
                    delete from insight_day where step = 1 and kind = 'resubscribedPeriods' and period = 'P1M';
                    update insight_position set as_of = '\(asOf)Z'
                    """)
            let store = FigureReportStore(connection)
            func cohorts(by interval: FigureReport.Interval) async throws -> [String: [Int64]] {
                let report = try await store.report(
                    .init(
                        .retention, in: .production, of: nil,
                        days: try Self.date("2025-10-12")..<Self.date("2026-03-06"), by: interval))
                return report.rows.reduce(into: [:]) { cohorts, row in
                    let counts = row.values.compactMap { value -> Int64? in
                        if case .count(let count) = value.value { count } else { nil }
                    }
                    let month = row.days.lowerBound.formatted(.iso8601.year().month())
                    let key = "\(month) \(row.cells.map(\.value)) \(counts[0])"
                    cohorts[key] = zip(cohorts[key] ?? [0, 0, 0], counts[1...]).map { $0 + $1 }
                }
            }
            let months = try await cohorts(by: .month)
            #expect(months.count > 10)
            let days = try await cohorts(by: .day)
            #expect(days.filter { months[$0.key] != $0.value } == [:])
            #expect(months.count == days.count)
            #expect(try await FigureCheck(connection).differences(before: Self.date("2026-03-20")) == [])
            await connection.close()
        }
    }

    @Test func `A report that is made of too many sums, or has too many rows, is refused`() async throws {
        try await Self.use { _, connection async throws in
            let query = FigureReport.Query(
                .movements, in: .production, of: [Self.app],
                days: try Self.date("2026-01-01")..<Self.date("2026-04-01"), by: .day, dimensions: [.product])
            // Some ten sums of days, products and kinds make more rows, because what earns has a row each day.
            await #expect(throws: FigureReport.TooLarge(limit: 5)) {
                try await FigureReportStore(connection, limit: 5).report(query)
            }
            let reading = try await FigureReportStore(connection, limit: 20).read(query)
            #expect(throws: FigureReport.TooLarge(limit: 20)) { try reading.report() }
            #expect(try await FigureReportStore(connection, limit: 200).report(query).rows.count > 20)
        }
    }

    @Test(
        arguments: [
            // The first of January is 184 days after the first of July.
            (.production, "2026-07-01", "2027-01-01", "P1M", 6), (.production, "2026-07-01", "2027-01-04", "P1M", 7),
            (.production, "2027-03-01", "2028-03-01", "P1Y", 1), (.production, "2027-03-01", "2028-03-02", "P1Y", 2),
            (.production, "2026-07-01", "2026-07-15", "P1W", 2), (.sandbox, "2026-07-01", "2026-07-04", "P1Y", 36),
        ] as [(StoreEnvironment, String, String, String, Int)])
    func `Retention waits for the longest that periods may last`(
        environment: StoreEnvironment, start: String, asOf: String, period: String, steps: Int
    ) throws {
        let first = try Self.date(start)
        let query = FigureReport.Query(
            .retention, in: environment, of: nil, days: first..<first.addingTimeInterval(86_400))
        var table = FigureReportStore.Table(query, asOf: try Self.date(asOf), complete: [], limit: 100)
        try table.addRetention([
            FigureReportStore.Sum(
                start: first, kind: "periods", step: 1, cell: ["", "", "", "", period, ""], amount: 0,
                revenueCatAmount: 0, purchases: 0, count: 1)
        ])
        #expect(table.rows.count == steps)
    }

    /// Looking through all sums for each row would take hours.
    @Test func `A report of many days and products looks at each sum once`() throws {
        let start = try Self.date("2026-01-01")
        let (days, products) = (400, 200)
        let query = FigureReport.Query(
            .churn, in: .production, of: nil, days: start..<start.addingTimeInterval(Double(days) * 86_400), by: .day,
            dimensions: [.product])
        let sums = (0..<days).flatMap { day in
            (0..<products).map { product in
                FigureReportStore.Sum(
                    start: start.addingTimeInterval(Double(day) * 86_400), kind: "new", step: 0,
                    cell: ["", "\(product)", "", "EUR", "", ""], amount: 1, revenueCatAmount: 1, purchases: 1, count: 1)
            }
        }
        var table = FigureReportStore.Table(query, asOf: nil, complete: [], limit: days * products)
        try table.addChurn(sums, cut: [], lost: sums)
        #expect(table.rows.count == days * products)
        #expect(table.rows.last?.values.first?.value == .count(Int64(days - 1)))
    }

    /// A service makes the plan before there are figures.
    @Test(arguments: FigureReportStore.statements.filter { $0.name?.hasSuffix("-apps") ?? false })
    func `The plan that is made once reads an app's figures by an index`(statement: Statement) async throws {
        try await TestDatabase.use { database async throws in
            let connection = TestDatabase.connection(database)
            let types = [
                "text", "text[]", "timestamptz", "timestamptz", "text", "text[]", "bigint", "text[]", "boolean",
            ]
            let values = [
                "'Production'", "'{a}'", "'2026-01-01'", "'2026-02-01'", "'month'", "'{}'", "1", "'{new}'", "false",
            ]
            let count = (1...9).last { statement.sql.contains("$\($0)") } ?? 0
            try await connection.run(
                unsafeScript: """
                    set plan_cache_mode = force_generic_plan;
                    set enable_seqscan = off;
                    prepare asked (\(types.prefix(count).joined(separator: ", "))) as \(statement.sql)
                    """)
            let plan = try await connection.execute(
                Statement(unsafeSQL: "explain execute asked (\(values.prefix(count).joined(separator: ", ")))")
            ).map { row in try row.value(at: 0, as: String.self) }
            let conditions = plan.filter { $0.contains("Index Cond") }
            #expect(!conditions.isEmpty && conditions.allSatisfy { $0.contains("(bundle_id = ") }, "\(plan)")
        }
    }

    private static let purchaseTypes = [
        "text", "text[]", "integer[]", "text[]", "text", "text", "text", "text", "text", "integer", "text", "bigint",
        "bigint", "integer[]",
    ]

    @Test(
        arguments: [
            (
                FigureReportStore.inGrace, ["text", "text", "timestamptz"],
                "(original_transaction_id = given.original_transaction_id)"
            ), (FigureReportStore.ofDays, Self.purchaseTypes, "(day_keys && "),
            (FigureReportStore.ofFullDay, Self.purchaseTypes, "(original_transaction_id >= "),
        ])
    func `The plan that is made once looks up purchases, and reads no others`(
        statement: Statement, types: [String], condition: String
    ) async throws {
        try await TestDatabase.use { database async throws in
            let connection = TestDatabase.connection(database)
            let values = ["'Production'"] + [String](repeating: "null", count: types.count - 1)
            try await connection.run(
                unsafeScript: """
                    set plan_cache_mode = force_generic_plan;
                    prepare asked (\(types.joined(separator: ", "))) as \(statement.sql)
                    """)
            let plan = try await connection.execute(
                Statement(unsafeSQL: "explain execute asked (\(values.joined(separator: ", ")))")
            ).map { row in try row.value(at: 0, as: String.self) }
            #expect(plan.contains { $0.contains("Index Cond") && $0.contains(condition) }, "\(plan)")
            await connection.close()
        }
    }

    @Test func `A row is complete when every day of it is, in every app that was asked for`() async throws {
        try await Self.use { store, connection async throws in
            try await connection.run(
                unsafeScript: """
                    insert into coverage_day (planned_at, completed_at, window_id, day, environment, bundle_id)
                    select now(), case when day <> date '2026-02-14' then now() end, gen_random_uuid(), day, 'Production',
                        'com.example.app'
                    from generate_series(date '2026-01-01', date '2026-03-19', interval '1 day') as day
                    """)
            let query = FigureReport.Query(
                .mrr, in: .production, of: [Self.app],
                days: try Self.date("2026-01-01")..<Self.date("2026-04-01"))
            #expect(try await store.report(query).rows.map(\.isComplete) == [true, false, false])
            var both = query
            both.bundleIds = [Self.app, "com.example.other"]
            #expect(try await store.report(both).rows.map(\.isComplete) == [false, false, false])
            // All apps are those that have figures, of which one is covered by nothing, and then of January.
            both.bundleIds = nil
            #expect(try await store.report(both).rows.map(\.isComplete) == [true, false, false])
            try await connection.run(
                unsafeScript: """
                    insert into insight_day (amount, revenuecat_amount, purchases, count, day, step, environment, bundle_id, kind,
                        currency, product_id, storefront, period, offer)
                    values (0, 0, 0, 1, '2026-03-10', 0, 'Production', 'com.example.other', 'trialEnded', 'EUR', 'gold', 'DEU', '', '');
                    insert into coverage_day (planned_at, completed_at, window_id, day, environment, bundle_id)
                    select now(), now(), gen_random_uuid(), day, 'Production', 'com.example.without.sales'
                    from generate_series(date '2026-01-01', date '2026-03-19', interval '1 day') as day
                    """)
            #expect(try await store.report(both).rows.map(\.isComplete) == [false, false, false])
            try await connection.run(
                unsafeScript: """
                    insert into coverage_day (planned_at, completed_at, window_id, day, environment, bundle_id)
                    select now(), now(), gen_random_uuid(), day, 'Production', 'com.example.other'
                    from generate_series(date '2026-01-01', date '2026-01-31', interval '1 day') as day
                    """)
            #expect(try await store.report(both).rows.map(\.isComplete) == [true, false, false])
        }
    }

    @Test func `A report that begins and ends within months is the sum of their days`() async throws {
        try await Self.use { store, connection async throws in
            // Between a month and the day that begins it, and within one month, are the edges.
            let days = [
                "2025-12-31", "2026-01-01", "2026-01-10", "2026-01-31", "2026-02-11", "2026-03-01", "2026-03-12",
            ]
            for (place, from) in days.enumerated() {
                for to in days[(place + 1)...] {
                    for interval in FigureReport.Interval.allCases {
                        for apps in [[Self.app], nil] as [[String]?] {
                            let range = try Self.date(from)..<Self.date(to)
                            func rows(_ name: FigureReport.Name) async throws -> [FigureReport.Row] {
                                try await store.report(
                                    FigureReport.Query(name, in: .production, of: apps, days: range, by: interval)
                                ).rows
                            }
                            let levels = try await rows(.mrr)
                            let held = try await Self.sum(
                                ["new", "expansion", "contraction", "churn", "reactivation"],
                                .distantPast..<range.upperBound,
                                connection)
                            #expect(
                                levels.last?.values[0].value ?? .amount(0) == .amount(held), "\(from) \(to) \(interval)"
                            )
                            let charged = try await rows(.revenue).map { row -> Int64 in
                                if case .amount(let amount) = row.values[0].value { amount } else { 0 }
                            }
                            let paid = try await Self.sum(["charge", "loyalCharge"], range, connection)
                            #expect(charged.reduce(0, +) == paid, "\(from) \(to) \(interval)")
                        }
                    }
                }
            }
            #expect(
                try await store.report(
                    FigureReport.Query(
                        .mrr, in: .production, of: ["com.example.other"],
                        days: try Self.date("2026-01-01")..<Self.date("2026-04-01"))
                ).rows == [])
        }
    }

    /// Thousandths of a unit of currency, straight from the days.
    private static func sum(
        _ kinds: [String], _ range: Range<Date>, _ connection: PostgresConnection
    ) async throws -> Int64 {
        let days = Statement(
            unsafeSQL: """
                select coalesce(sum(amount), 0)::bigint as amount
                from insight_day
                where kind = any ($1::text[]) and day >= ($2::timestamptz at time zone 'UTC')::date
                    and day < ($3::timestamptz at time zone 'UTC')::date
                """)
        return try await connection.execute(days, kinds, range.lowerBound, range.upperBound)[0].value("amount")
    }

    @Test(arguments: 1...3 as ClosedRange<UInt64>)
    func `Lost purchases are those of the movements, by any two dimensions, of whole and of cut months`(
        seed: UInt64
    ) async throws {
        try await LedgerStoreTests.use { connection, _ async throws in
            var fixtures = Fixtures(seed: seed)
            _ = try await LedgerStore(connection).apply(
                fixtures.entries(240, purchases: 12), moving: [], recordedAt: Fixtures.now)
            let now = try Self.date("2025-10-13")
            while try await FigureStore(connection).update(at: now) {}
            let dimensions = FigureReport.Dimension.allCases
            var found: Int64 = 0
            for (from, to) in [
                ("2025-06-01", "2025-10-14"), ("2025-06-20", "2025-10-05"), ("2025-07-03", "2025-07-20"),
            ] {
                for interval in FigureReport.Interval.allCases {
                    for (place, first) in dimensions.enumerated() {
                        for second in dimensions[place...] {
                            let query = FigureReport.Query(
                                .churn, in: .production, of: nil, days: try Self.date(from)..<Self.date(to),
                                by: interval,
                                dimensions: [first, second])
                            let reported = try await FigureReportStore(connection).report(query).rows
                                .reduce(0 as Int64) { sum, row in
                                    if case .count(let count) = row.values[1].value { sum + count } else { sum }
                                }
                            #expect(
                                try await Self.lost(query, connection) == reported,
                                "\(from) \(to) \(interval) \(first) \(second)")
                            found += reported
                        }
                    }
                }
            }
            #expect(found > 100)
        }
    }

    /// Straight from the movements.
    private static func lost(_ query: FigureReport.Query, _ connection: PostgresConnection) async throws -> Int64 {
        let columns = query.dimensions.map {
            switch $0 {
            case .app: "bundle_id"
            case .product: "product_id"
            default: $0.rawValue
            }
        }
        let statement = Statement(
            unsafeSQL: """
                select count(*) as count
                from (
                    select from mrr_movement
                    where environment = 'Production' and at >= $1::timestamptz and at < $2::timestamptz
                    group by original_transaction_id, date_trunc('\(query.interval.rawValue)', at at time zone 'UTC'),
                        \(columns.joined(separator: ", "))
                    having sum(purchases) < 0
                ) as purchase
                """)
        return try await connection.execute(statement, query.days.lowerBound, query.days.upperBound)[0].value("count")
    }
}
