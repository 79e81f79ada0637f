import Contracts
import Foundation
import Postgres
import TestSupport
import Testing

@testable import Storage

/// Reports in one currency and estimates of proceeds, over sums whose conversions are computed by hand.
@Suite struct FigureConversionTests {
    private static func day(_ text: String) throws -> Date {
        try Date.ISO8601FormatStyle().year().month().day().parse(text)
    }

    /// A row of the sums: currency, storefront, kind, day, amount, and what else the kind has.
    private static func row(
        _ currency: String, _ storefront: String, _ kind: String, _ day: String, _ amount: Int, purchases: Int = 0,
        step: Int = 0, app: String = "a"
    ) -> String {
        "(\(amount), \(amount), \(purchases), 1, '\(day)', \(step), 'Production', '\(app)', '\(kind)', '\(currency)', 'gold', "
            + "'\(storefront)', 'P1M', '')"
    }

    private static func use(
        _ rows: [String], rates: [(String, String, Int64)],
        _ body: (FigureReportStore, PostgresConnection) async throws -> Void
    ) async throws {
        try await TestDatabase.use { database async throws in
            let connection = TestDatabase.connection(database)
            try await connection.run(
                unsafeScript: """
                    insert into insight_day (amount, revenuecat_amount, purchases, count, day, step, environment, bundle_id, kind,
                        currency, product_id, storefront, period, offer)
                    values \(rows.joined(separator: ", "))
                    """)
            let changed = try await ExchangeRateStore(connection).load(
                try rates.map { ExchangeRate(day: try day($1), currency: $0, trillionths: $2) }, into: "USD",
                from: "bank", at: Date(timeIntervalSince1970: 0), audit: Self.audit)
            #expect(changed == rates.count)
            try await body(FigureReportStore(connection), connection)
            await connection.close()
        }
    }

    private static let audit = OperatorAction(
        actedAt: Date(timeIntervalSince1970: 0), actor: "ann", operation: "insight rates load", subject: "rates",
        reason: nil)

    private static func lines(
        _ name: FigureReport.Name, _ store: FigureReportStore, in currency: String?,
        by interval: FigureReport.Interval = .month, from: String = "2026-01-01", to: String = "2026-03-01"
    ) async throws -> (lines: [String], report: FigureReport) {
        let report = try await store.report(
            FigureReport.Query(
                name, in: .production, of: nil, days: try day(from)..<day(to), by: interval,
                reportingCurrency: currency))
        let lines = report.rows.map { row in
            let values = row.values.map { _, value in
                switch value {
                case .count(let number), .amount(let number): "\(number)"
                case .share(let share): share.map { String(format: "%.3f", $0) } ?? "-"
                }
            }
            let style = Date.ISO8601FormatStyle()
            let begin = row.days.lowerBound.formatted(interval == .month ? style.month() : style.month().day())
            return ([begin] + row.cells.map(\.value) + values).joined(separator: " ")
        }
        return (lines, report)
    }

    private static let levels = [
        row("EUR", "DEU", "new", "2026-01-10", 10_000, purchases: 1),
        row("USD", "USA", "new", "2026-01-10", 5_000, purchases: 1),
        row("BRL", "BRA", "new", "2026-02-05", 7_000, purchases: 1),
        row("EUR", "DEU", "churn", "2026-02-10", -10_000, purchases: -1),
    ]
    private static let levelRates: [(String, String, Int64)] = [
        ("EUR", "2026-01-30", 1_100_000_000_000), ("EUR", "2026-02-05", 1_100_000_000_000),
        ("EUR", "2026-02-10", 1_150_000_000_000),
        ("EUR", "2026-02-28", 1_200_000_000_000),
    ]

    @Test func `Monthly revenue is converted by the rate of the row's last day, and what has no rate is told`()
        async throws
    {
        try await Self.use(Self.levels, rates: Self.levelRates) { store, _ async throws in
            let found = try await Self.lines(.mrr, store, in: "USD")
            #expect(found.lines == ["01 USD 16000 16000 2", "02 BRL 7000 7000 1", "02 USD 5000 5000 1"])
            #expect(found.report.unconvertedCurrencies == ["BRL"])
            let known = found.report.conversion?.rates ?? []
            #expect(known.map(\.source) == ["bank"] && known.map(\.currency) == ["EUR"])
            #expect(try known.map(\.days) == [Self.day("2026-01-30")...Self.day("2026-02-28")])
            let own = try await Self.lines(.mrr, store, in: nil)
            #expect(own.report.conversion == nil && own.lines.first == "01 EUR 10000 10000 1")
            let yen = try await Self.lines(.mrr, store, in: "JPY")
            // Nothing is nothing in any currency.
            #expect(yen.lines == own.lines.map { $0.replacing("02 EUR 0 0 0", with: "02 JPY 0 0 0") })
            #expect(yen.report.unconvertedCurrencies == ["BRL", "EUR", "USD"])
        }
    }

    @Test func `Start, movements and what rates changed are the end`() async throws {
        try await Self.use(Self.levels, rates: Self.levelRates) { store, _ async throws in
            #expect(
                try await Self.lines(.movements, store, in: "USD").lines == [
                    "01 USD 0 16000 0 0 0 0 0 16000 2 0 0 0 0", "02 BRL 0 7000 0 0 0 0 0 7000 1 0 0 0 0",
                    "02 USD 16000 0 0 0 -12000 0 1000 5000 0 0 0 1 0",
                ])
            // A report by day converts each movement at the rate of its day.
            #expect(
                try await Self.lines(
                    .movements, store, in: "USD", by: .day, from: "2026-02-10", to: "2026-02-11"
                ).lines.last == "02-10 USD 16000 0 0 0 -11500 0 500 5000 0 0 0 1 0")
        }
    }

    /// Of three customers who pay euros one leaves, and one goes on in dollars, as another does all the time.
    private static let leaving = [
        row("EUR", "DEU", "new", "2026-01-10", 10_000, purchases: 1),
        row("EUR", "DEU", "new", "2026-01-11", 10_000, purchases: 1),
        row("EUR", "DEU", "new", "2026-01-12", 10_000, purchases: 1),
        row("USD", "USA", "new", "2026-01-10", 5_000, purchases: 1),
        row("EUR", "DEU", "churn", "2026-02-10", -10_000, purchases: -1),
        row("EUR", "DEU", "contraction", "2026-02-15", -10_000, purchases: -1),
        row("USD", "USA", "expansion", "2026-02-15", 12_000, purchases: 1),
        row("EUR", "DEU", "lostInMonth", "2026-02-01", 0, step: -1),
        // Lost where currencies or storefronts are told apart.
        row("EUR", "DEU", "lostInMonth", "2026-02-01", 0, step: Int(Int32(bitPattern: 0xFAFA_FAFA))),
    ]

    /// The same as movements, of which losses in a part of a month are counted.
    private static let movements: [String] =
        ([
            ("1", "2026-02-10", "churn", "EUR", "DEU", -10_000, -1),
            ("2", "2026-02-15", "contraction", "EUR", "DEU", -10_000, -1),
            ("2", "2026-02-15", "expansion", "USD", "USA", 12_000, 1),
        ] as [(String, String, String, String, String, Int, Int)]).map { movement in
            let (purchase, day, kind, currency, storefront, amount, purchases) = movement
            return
                "('\(day) 10:00Z', \(amount), \(amount), 'Production', \(purchases), 'a', '\(purchase)', '\(purchase)', "
                + "'\(kind)', '\(currency)', 'gold', '\(storefront)', 'P1M', '')"
        }

    @Test func `Churn is converted by the rate of the day before the row, and a change of the currency is no loss`()
        async throws
    {
        let rates: [(String, String, Int64)] = [
            ("EUR", "2026-01-30", 1_100_000_000_000), ("EUR", "2026-02-27", 2_000_000_000_000),
        ]
        try await Self.use(Self.leaving, rates: rates) { store, connection async throws in
            try await connection.run(
                unsafeScript: """
                    insert into mrr_movement (at, amount, revenuecat_amount, environment, purchases, bundle_id, original_transaction_id,
                        transaction_id, kind, currency, product_id, storefront, period, offer)
                    values \(Self.movements.joined(separator: ", "))
                    """)
            // A whole month, and one that is cut.
            for from in ["2026-02-01", "2026-02-05"] {
                #expect(
                    try await Self.lines(.churn, store, in: nil, from: from).lines == [
                        "02 EUR 3 2 0.667 30000 20000 0.667 0.667", "02 USD 1 0 0.000 5000 0 0.000 -2.400",
                    ])
                let found = try await Self.lines(.churn, store, in: "USD", from: from)
                #expect(found.lines == ["02 USD 4 1 0.250 38000 22000 0.579 0.263"])
                #expect(found.report.conversion?.currency == "USD" && found.report.unconvertedCurrencies == [])
            }
            // Where another currency has no rate, the customer who changed the currency is lost, too.
            let reals = Self.row("BRL", "BRA", "new", "2026-01-20", 7_000, purchases: 1)
            try await connection.run(
                unsafeScript: """
                    insert into insight_day (amount, revenuecat_amount, purchases, count, day, step, environment, bundle_id, kind,
                        currency, product_id, storefront, period, offer)
                    values \(reals)
                    """)
            for from in ["2026-02-01", "2026-02-05"] {
                let found = try await Self.lines(.churn, store, in: "USD", from: from)
                #expect(
                    found.lines == [
                        "02 BRL 1 0 0.000 7000 0 0.000 0.000", "02 USD 4 2 0.500 38000 22000 0.579 0.263",
                    ])
                #expect(found.report.unconvertedCurrencies == ["BRL"])
            }
        }
    }

    @Test func `A rate counts for the six days after its own, and no longer`() async throws {
        let rows = [Self.row("EUR", "DEU", "new", "2026-01-02", 10_000, purchases: 1)]
        try await Self.use(rows, rates: [("EUR", "2026-01-10", 1_000_000_000_001)]) { store, _ async throws in
            for (day, line) in [
                ("2026-01-09", "01-09 EUR 10000 10000 1"), ("2026-01-10", "01-10 USD 10000 10000 1"),
                ("2026-01-16", "01-16 USD 10000 10000 1"), ("2026-01-17", "01-17 EUR 10000 10000 1"),
            ] {
                let next = FigureReport.Interval.day.end(of: try Self.day(day))
                    .formatted(Date.ISO8601FormatStyle().year().month().day())
                #expect(try await Self.lines(.mrr, store, in: "USD", by: .day, from: day, to: next).lines == [line])
            }
        }
    }

    private static let charges = [
        row("EUR", "DEU", "charge", "2026-01-10", 11_900), row("EUR", "DEU", "loyalCharge", "2026-01-11", 11_900),
        row("EUR", "DEU", "refund", "2026-01-12", 11_900), row("EUR", "DEU", "refundOfCharge", "2026-01-10", 11_900),
        row("USD", "USA", "charge", "2026-01-20", 10_000), row("BRL", "BRA", "charge", "2026-01-30", 10_000),
        row("EUR", "DEU", "charge", "2026-02-01", 10_000, app: "b"),
    ]
    private static let chargeRates: [(String, String, Int64)] = [
        ("EUR", "2026-01-08", 1_100_000_000_000), ("EUR", "2026-01-11", 1_200_000_000_000),
        ("EUR", "2026-01-28", 1_200_000_000_000), ("BRL", "2026-01-20", 200_000_000_000),
    ]

    @Test func `Charges and refunds are converted by the rate of their day`() async throws {
        try await Self.use(Self.charges, rates: Self.chargeRates) { store, _ async throws in
            let found = try await Self.lines(.revenue, store, in: "USD")
            #expect(
                found.lines == [
                    "01 BRL 10000 1 0 0 10000 0.000", "01 USD 37370 3 14280 1 24280 0.333",
                    "02 USD 12000 1 0 0 12000 0.000",
                ])
            #expect(found.report.unconvertedCurrencies == ["BRL"])
        }
    }

    @Test func `Proceeds are the price less refunds, tax and commission, by the terms of the day`() async throws {
        try await Self.use(Self.charges, rates: Self.chargeRates) { store, connection async throws in
            let terms = ProceedsTermsStore(connection)
            let (long, moment) = (try Self.day("2020-01-01"), Date(timeIntervalSince1970: 0))
            let shares = [("DEU", Int32(19_000)), ("USA", 0)].map {
                ProceedsTermsStore.TaxShare(storefront: $0, firstDay: long, rate: $1, source: "adviser")
            }
            #expect(try await terms.load(shares, at: moment, audit: Self.audit) == 2)
            #expect(try await terms.load(shares, at: moment, audit: Self.audit) == 0)
            #expect(try await terms.taxShares() == shares)
            let member = ProceedsTermsStore.Membership(
                bundleId: "b", firstDay: try Self.day("2026-02-01"), isMember: true)
            try await terms.set(member, at: moment, audit: Self.audit)
            #expect(try await terms.memberships() == [member])
            #expect(
                try await Self.lines(.proceeds, store, in: nil).lines == [
                    "01 BRL 10000 0 0 3000 7000 10000", "01 EUR 23800 11900 1900 1500 8500 0",
                    "01 USD 10000 0 0 3000 7000 0", "02 EUR 10000 0 1597 1260 7143 0",
                ])
            #expect(
                try await Self.lines(.proceeds, store, in: "USD").lines == [
                    "01 BRL 10000 0 0 3000 7000 10000", "01 USD 37370 14280 2090 4500 16500 0",
                    "02 USD 12000 0 1916 1513 8571 0",
                ])
        }
    }

    @Test func `Taxes and commission that change within a month are those of each day`() async throws {
        let rows = [
            Self.row("EUR", "DEU", "charge", "2026-01-10", 11_900),
            Self.row("EUR", "DEU", "charge", "2026-01-20", 12_000),
            Self.row("EUR", "DEU", "charge", "2026-02-10", 12_000),
        ]
        let rates: [(String, String, Int64)] = [
            ("EUR", "2026-01-08", 1_100_000_000_000), ("EUR", "2026-01-18", 1_200_000_000_000),
            ("EUR", "2026-02-09", 1_000_000_000_000),
        ]
        try await Self.use(rows, rates: rates) { store, connection async throws in
            let terms = ProceedsTermsStore(connection)
            let moment = Date(timeIntervalSince1970: 0)
            let shares = try [("2020-01-01", Int32(19_000)), ("2026-01-15", 20_000)].map { day, rate in
                ProceedsTermsStore.TaxShare(
                    storefront: "DEU", firstDay: try Self.day(day), rate: rate, source: "adviser")
            }
            #expect(try await terms.load(shares, at: moment, audit: Self.audit) == 2)
            // Whole months, and rows that begin and end within one.
            for (from, to) in [("2026-01-01", "2026-03-01"), ("2026-01-05", "2026-02-11")] {
                #expect(
                    try await Self.lines(.proceeds, store, in: nil, from: from, to: to).lines == [
                        "01 EUR 23900 0 3900 6000 14000 0", "02 EUR 12000 0 2000 3000 7000 0",
                    ])
                #expect(
                    try await Self.lines(.proceeds, store, in: "USD", from: from, to: to).lines == [
                        "01 USD 27490 0 4490 6900 16100 0", "02 USD 12000 0 2000 3000 7000 0",
                    ])
            }
            try await terms.set(
                ProceedsTermsStore.Membership(bundleId: "a", firstDay: try Self.day("2026-01-20"), isMember: true),
                at: moment, audit: Self.audit)
            #expect(
                try await Self.lines(.proceeds, store, in: nil).lines == [
                    "01 EUR 23900 0 3900 4500 15500 0", "02 EUR 12000 0 2000 1500 8500 0",
                ])
        }
    }

    /// A random change of the days or of the rates, as SQL.
    private static func change(using generator: inout SeededGenerator) -> String {
        func one(_ texts: [String]) -> String { texts[Int.random(in: 0..<texts.count, using: &generator)] }
        let day = "2026-0\(Int.random(in: 1...3, using: &generator))-\(Int.random(in: 10...28, using: &generator))"
        let currency = one(["EUR", "JPY", "BRL"])
        switch Int.random(in: 0..<10, using: &generator) {
        case 0: return "delete from insight_day where day = '\(day)'"
        case 1: return "delete from exchange_rate where day > date '\(day)' - 4 and day <= '\(day)'"
        case 2...4:
            let rate = Int.random(in: 1...2_000_000_000_000, using: &generator)
            return """
                insert into exchange_rate (loaded_at, trillionths, day, reporting_currency, currency, source)
                values (now(), \(rate), '\(day)', '\(one(["USD", "GBP"]))', '\(currency)', 'bank')
                on conflict (reporting_currency, currency, day) do update set trillionths = excluded.trillionths
                """
        default:
            let kind = one(["charge", "loyalCharge", "refund", "refundOfCharge"])
            let amount = Int.random(in: -5000...20_000, using: &generator)
            return """
                insert into insight_day as held (amount, revenuecat_amount, purchases, count, day, step, environment, bundle_id,
                    kind, currency, product_id, storefront, period, offer)
                values \(row(currency, one(["DEU", "USA"]), kind, day, amount))
                on conflict (environment, bundle_id, kind, day, step, currency, product_id, storefront, period, offer)
                do update set amount = held.amount + excluded.amount, count = held.count + excluded.count
                """
        }
    }

    @Test(arguments: 1...3 as ClosedRange<UInt64>)
    func `Months that were converted are their days by their rates, whatever changes of both come in which order`(
        seed: UInt64
    ) async throws {
        let first = Self.row("EUR", "DEU", "charge", "2026-01-10", 10_000)
        try await Self.use([first], rates: [("EUR", "2026-01-08", 1_100_000_000_000)]) {
            store, connection async throws in
            var generator = SeededGenerator(state: seed)
            let (check, end) = (FigureCheck(connection), try Self.day("2026-05-01"))
            for number in 0..<60 {
                let change = Self.change(using: &generator)
                try await connection.run(unsafeScript: change)
                let found = try await check.differences(before: end)
                #expect(found == [], "change \(number): \(change)")
            }
            // A share that is that of before, within each month, has every day read instead of the months.
            func proceeds() async throws -> [String] {
                try await Self.lines(.proceeds, store, in: "USD", to: "2026-04-01").lines
                    + Self.lines(.revenue, store, in: "GBP", to: "2026-04-01").lines
            }
            func load(_ days: String...) async throws {
                let shares = try days.flatMap { day in
                    try ["DEU", "USA"].map { storefront in
                        ProceedsTermsStore.TaxShare(
                            storefront: storefront, firstDay: try Self.day(day), rate: 19_000, source: "adviser")
                    }
                }
                _ = try await ProceedsTermsStore(connection).load(
                    shares, at: Date(timeIntervalSince1970: 0), audit: Self.audit)
            }
            try await load("2020-01-01")
            let ofMonths = try await proceeds()
            try await load("2026-01-16", "2026-02-16", "2026-03-16")
            #expect(try await proceeds() == ofMonths)
            #expect(ofMonths.count > 3)
        }
    }

    @Test func `The check finds a converted month that is not its days, and a rebuild forgets it`() async throws {
        let rows = [Self.row("EUR", "DEU", "charge", "2026-01-10", 10_000)]
        try await Self.use(rows, rates: [("EUR", "2026-01-08", 1_100_000_000_000)]) { _, connection async throws in
            let (check, end) = (FigureCheck(connection), try Self.day("2026-05-01"))
            #expect(try await check.differences(before: end) == [])
            try await connection.run(unsafeScript: "update insight_converted set worth = worth + 1")
            let found = try await check.differences(before: end)
            #expect(found.map(\.kind) == ["charge in USD"])
            // Less than a thousandth is shown as one.
            #expect(found.map { [$0.summed, $0.months] } == [[11_000, 11_001]])
            // No purchase has added the day, so nothing is left of it.
            _ = try await FigureStore(connection).rebuild(audit: Self.audit)
            #expect(try await check.differences(before: end) == [])
            let left = try await connection.execute(
                Statement(unsafeSQL: "select count(*)::bigint as months from insight_converted"))
            #expect(try left[0].value("months", as: Int64.self) == 0)
        }
    }

    @Test func `A refund of a loyal charge takes back the lower commission`() async throws {
        let rows = [
            Self.row("EUR", "DEU", "loyalCharge", "2026-01-10", 10_000),
            Self.row("EUR", "DEU", "refund", "2026-01-12", 10_000, step: 1),
        ]
        try await Self.use(rows, rates: []) { store, _ async throws in
            #expect(try await Self.lines(.proceeds, store, in: nil).lines == ["01 EUR 10000 10000 0 0 0 0"])
        }
    }

    @Test(
        arguments: [
            (1, 1_000_000_000_000, 1), (3, 500_000_000_000, 2), (-3, 500_000_000_000, -2), (1, 499_999_999_999, 0),
            (1_000_000_000_000, 1, 1), (0, 7, 0),
            (9_223_372_036_854_775_806, 1_000_000_000_000, 9_223_372_036_854_775_806),
        ] as [(Int64, Int64, Int64)])
    func `An amount is converted exactly, and rounded half away from zero`(amount: Int64, rate: Int64, result: Int64) {
        #expect(ExchangeRate.converted(amount, by: rate) == result)
    }

    @Test func `An amount that is too large has no conversion`() {
        #expect(ExchangeRate.converted(.max, by: 2_000_000_000_000) == nil)
        #expect(ExchangeRate.converted(.min, by: .max) == nil)
    }
}
