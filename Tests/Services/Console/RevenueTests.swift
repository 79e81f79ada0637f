import Foundation
import Operations
import TestSupport
import Testing

@testable import Console
@testable import Storage

@Suite(.hangLimit) struct RevenueTests {
    /// What one purchase added to the days, and that everything is computed.
    private static func fill(_ console: RunningConsole) async throws {
        try await SampleContents.fill(console)
        let connection = TestDatabase.connection(console.database)
        let month = FigureQuestion.text(RunningConsole.now).prefix(7)
        try await connection.run(
            unsafeScript: """
                delete from insight_change;
                update insight_position set as_of = now();
                insert into insight_day (amount, revenuecat_amount, purchases, count, day, step, environment, bundle_id, kind,
                    currency, product_id, storefront, period, offer)
                select amount, amount, purchases, 1, day::date, case kind when 'lostInMonth' then -1 else 0 end, 'Production', '\(SampleContents.app)', kind, currency,
                    case currency when 'EUR' then 'gold' else 'silver' end, 'DEU', 'P1M', ''
                from (values
                    ('new', 'EUR', 20000, 3, date '\(month)-01' - interval '3 months'),
                    ('lostInMonth', 'EUR', 0, 0, date '\(month)-01'),
                    ('churn', 'EUR', -8000, -1, date '\(month)-01'), ('charge', 'EUR', 20000, 0, date '\(month)-01'),
                    ('refund', 'EUR', 5000, 0, date '\(month)-01'), ('refundOfCharge', 'EUR', 5000, 0, date '\(month)-01'),
                    ('trialPaid', 'EUR', 0, 0, date '\(month)-01'), ('trialEnded', 'EUR', 0, 0, date '\(month)-01'),
                    ('new', 'JPY', 1600000, 1, date '\(month)-01' - interval '1 month'))
                    as given (kind, currency, amount, purchases, day);
                -- The month is not over: its losses are those of its movements.
                insert into mrr_movement (at, amount, revenuecat_amount, environment, purchases, bundle_id,
                    original_transaction_id, transaction_id, kind, currency, product_id, storefront, period, offer)
                values ('\(month)-01T00:00:00Z', -8000, -8000, 'Production', -1, '\(SampleContents.app)', '9', '9', 'churn', 'EUR',
                    'gold', 'DEU', 'P1M', '')
                """)
    }

    /// What the sample purchase adds to a day: kind, step, currency, product, storefront, period, offer, amount, count.
    private static func add(
        _ figures: [(String, Int, String, String, String, String, String, Int64, Int)], on day: String,
        to console: RunningConsole
    ) async throws {
        let elements = figures.map { one in
            "jsonb_build_array(day, '\(one.0)', \(one.1), '\(one.2)', '\(one.3)', '\(one.4)', '\(one.5)', '\(one.6)', "
                + "\(one.7), 0, 0, \(one.8))"
        }
        try await TestDatabase.connection(console.database).run(
            unsafeScript: """
                insert into insight_purchase (environment, original_transaction_id, bundle_id, figures, day_keys)
                select 'Production', '\(SampleContents.purchase)', '\(SampleContents.app)',
                    jsonb_build_array(\(elements.joined(separator: ", "))),
                    array(select 10 * day + kind from generate_series(0, 9) as kind)
                from (select date '\(day)' - date '1970-01-01' as day) as given
                """)
    }

    @Test func `The page of revenue answers five questions, each with a page, a chart in words and a file`()
        async throws
    {
        try await RunningConsole.with { console in
            try await Self.fill(console)
            let cookie = try await console.signedIn(role: "viewer")
            let scope = FormFields.encode("Production \(SampleContents.app)")
            let page = try await console.get("/revenue?scope=\(scope)", cookie: cookie)
            #expect(page.status == 200)
            // How much a month, why it changed, who leaves, do trials pay, what is refunded.
            // Purchases are those of every currency; amounts are those of the currency with most of them.
            for number in ["3", "12.00 EUR", "-8.00 EUR", "25.0 %", "50.0 %", "5.00 EUR"] {
                #expect(page.text.contains("<span class=\"value\">\(number)</span>"), "\(number)")
            }
            #expect(page.text.contains("now; 20.00 EUR at the end of "))
            #expect(!page.text.contains("JPY") && page.text.contains("the currency of most paying purchases"))
            // Every number is a link, so that Tab and Enter lead to its report, as j and k do.
            for report in ["mrr", "movements", "churn", "trials", "revenue"] {
                #expect(page.text.contains("href=\"/revenue/\(report)?scope="), "\(report)")
                let shown = try await console.get("/revenue/\(report)?scope=\(scope)", cookie: cookie)
                #expect(shown.status == 200 && shown.text.contains("<table"))
                let file = try await console.get("/revenue/\(report).csv?scope=\(scope)", cookie: cookie)
                #expect(file.header("content-type")?.hasPrefix("text/csv") == true)
                #expect(file.text.hasPrefix("from,to,complete,"))
            }
            let revenue = try await console.get("/revenue/mrr?scope=\(scope)&by=product", cookie: cookie)
            #expect(revenue.text.contains("<title id=\"chart-title\">Monthly revenue, gold, EUR</title>"))
            #expect(revenue.text.contains("to 12.00 EUR in"))
            #expect(revenue.text.contains("The line is that of most purchases: gold, EUR."))
            #expect(revenue.text.contains("<td class=\"number\">1600.000</td>"))
            #expect(revenue.text.contains("class=\"open\"") && revenue.text.contains("As of"))
            #expect(try await console.get("/revenue/profit", cookie: cookie).status == 404)
        }
    }

    @Test func `A report is shown in one currency, with whose rates it is and what has none`() async throws {
        try await RunningConsole.with { console in
            try await Self.fill(console)
            let cookie = try await console.signedIn(role: "support")
            let path = "/revenue/mrr?scope=\(FormFields.encode("Production \(SampleContents.app)"))&currency=USD"
            let without = try await console.get(path, cookie: cookie)
            #expect(without.text.contains("There are no rates in USD for this time. Without a rate"))
            #expect(without.text.contains("EUR, JPY. Load rates with storekeeper insight rates load."))
            try await TestDatabase.connection(console.database).run(
                unsafeScript: """
                    insert into exchange_rate (loaded_at, trillionths, day, reporting_currency, currency, source)
                    select now(), 2000000000000, day, 'USD', 'EUR', 'the bank'
                    from generate_series(now()::date - 1000, now()::date + 1000, interval '1 day') as day
                    """)
            let page = try await console.get(path, cookie: cookie)
            #expect(page.text.contains("In USD by rates of the bank.") && page.text.contains("value=\"USD\""))
            #expect(!page.text.contains("insight rates load"))
            #expect(try await console.get(path + "a", cookie: cookie).status == 422)
            let numbers = try await console.get(path.replacingOccurrences(of: "/mrr", with: ""), cookie: cookie)
            #expect(numbers.text.contains("<span class=\"value\">24.00 USD</span>"))
            #expect(numbers.text.contains("Without a rate, and not added to it: JPY."))
            #expect(numbers.text.contains("&amp;currency=USD\"") || numbers.text.contains("&currency=USD\""))
            let file = try await console.get(
                path.replacingOccurrences(of: "mrr?", with: "mrr.csv?"), cookie: cookie)
            #expect(file.text.contains(",USD,") && !file.text.contains(",EUR,"))
        }
    }

    @Test func `The page of revenue says in words why there is nothing`() async throws {
        try await RunningConsole.with { console in
            let cookie = try await console.signedIn(role: "viewer")
            #expect(
                try await console.get("/revenue", cookie: cookie).text.contains("No app has sent a notification yet."))
            try await SampleContents.fill(console)
            #expect(try await console.get("/revenue", cookie: cookie).text.contains("The figures are not complete yet"))
            #expect(try await console.get("/revenue/mrr", cookie: cookie).text.contains("not complete yet"))
        }
    }

    @Test func `A row leads to the purchases that moved it, and from there to their notifications`() async throws {
        try await RunningConsole.with { console in
            try await Self.fill(console)
            let day = FigureQuestion.text(RunningConsole.now)
            try await Self.add(
                [
                    ("churn", 0, "EUR", "gold", "DEU", "P1M", "", -8001, 1),
                    ("churn", 0, "EUR", "silver", "DEU", "P1M", "", -8002, 1),
                    ("churn", 0, "EUR", "gold", "", "P1M", "", -8003, 1),
                ], on: day, to: console)
            let cookie = try await console.signedIn(role: "support")
            let scope = FormFields.encode("Production \(SampleContents.app)")
            let report = try await console.get("/revenue/movements?scope=\(scope)&by=product", cookie: cookie)
            let month = day.prefix(7)
            let link = try #require(
                report.text.components(separatedBy: "href=\"").map { $0.prefix { $0 != "\"" } }.first {
                    $0.hasPrefix("/revenue/purchases") && $0.contains("from=\(month)-01") && $0.contains("product=gold")
                })
            let address = link.replacing("&amp;", with: "&")
            let page = try await console.get(String(address), cookie: cookie)
            #expect(
                page.text.contains("-8.001 EUR") && page.text.contains("-8.003 EUR") && !page.text.contains("-8.002"))
            #expect(page.text.contains("href=\"/purchases/Production/\(SampleContents.purchase)\""))
            let unsigned = try await console.get("\(address)&storefront=", cookie: cookie)
            #expect(unsigned.text.contains("-8.003 EUR") && !unsigned.text.contains("-8.001"))
            let viewer = try await console.get(
                String(address), cookie: try await console.signedIn(role: "viewer"))
            #expect(viewer.status == 200 && !viewer.text.contains(SampleContents.purchase))
            #expect(
                try await console.get("/revenue/purchases?from=2026-02-31", cookie: cookie).status == 422)
            #expect(
                try await console.get("/revenue/purchases?scope=\(scope)&from=2020-01-01&to=2020-02-01", cookie: cookie)
                    .text
                    .contains("Nothing moved in this time."))
        }
    }

    @Test func `A row of charges leads to the charges and the refunds of its time`() async throws {
        try await RunningConsole.with { console in
            try await Self.fill(console)
            let day = FigureQuestion.text(RunningConsole.now)
            try await Self.add(
                [
                    ("charge", 0, "EUR", "gold", "DEU", "P1M", "", 20_000, 1),
                    ("refund", 0, "EUR", "gold", "DEU", "P1M", "", 4_995, 1),
                ], on: "\(day.prefix(7))-01", to: console)
            let cookie = try await console.signedIn(role: "support")
            let path = "/revenue/revenue?scope=\(FormFields.encode("Production \(SampleContents.app)"))"
            let report = try await console.get(path + "&by=storefront", cookie: cookie)
            func address(of list: String) throws -> String {
                let link = try #require(
                    report.text.components(separatedBy: "href=\"").map { $0.prefix { $0 != "\"" } }.first {
                        $0.hasPrefix("/revenue/purchases") && $0.contains("from=\(day.prefix(7))-01")
                            && $0.contains("report=\(list)")
                    })
                return String(link).replacing("&amp;", with: "&")
            }
            let charges = try await console.get(try address(of: "revenue"), cookie: cookie)
            #expect(charges.text.contains("<h1>Charges</h1>") && charges.text.contains("20.000 EUR"))
            #expect(charges.text.contains("href=\"/purchases/Production/\(SampleContents.purchase)\""))
            let address = try address(of: "refunds")
            let page = try await console.get(address, cookie: cookie)
            #expect(page.text.contains("<h1>Refunds</h1>") && page.text.contains("4.995 EUR"))
            #expect(page.text.contains("href=\"/purchases/Production/\(SampleContents.purchase)\""))
            let elsewhere = try await console.get(
                address.replacing("storefront=DEU", with: "storefront=USA"), cookie: cookie)
            #expect(elsewhere.text.contains("Nothing was refunded in this time."))
            let byPeriod = try await console.get(path + "&by=period", cookie: cookie)
            #expect(byPeriod.text.contains("report=revenue") && byPeriod.text.contains("report=refunds"))
            let yearly = try await console.get(address + "&period=P1Y", cookie: cookie)
            #expect(yearly.text.contains("Nothing was refunded in this time."))
        }
    }

    @Test func `Monthly revenue has beside it what waits in a grace period`() async throws {
        try await RunningConsole.with { console in
            try await console.withOwner { connection in
                let contents = SampleContents(connection: connection)
                _ = try await contents.notification(
                    "DID_FAIL_TO_RENEW", "GRACE_PERIOD", purchase: "2000000000000005", from: -365 * 86_400 - 100,
                    to: -100,
                    signed: -90, status: 4
                ) { event in
                    event.transaction?.priceMilliunits = 119_880
                    event.transaction?.currency = "EUR"
                    event.renewal?.isInBillingRetry = true
                    event.renewal?.gracePeriodExpiresDate = contents.now.addingTimeInterval(864_000)
                }
            }
            try await Self.fill(console)
            let scope = FormFields.encode("Production \(SampleContents.app)")
            let page = try await console.get("/revenue?scope=\(scope)", cookie: console.signedIn(role: "viewer"))
            #expect(page.text.contains("; not counted: 9.99 EUR of 1 purchase in a grace period now"), "\(page.text)")
        }
    }

    @Test func `A row of trials leads to those that began in its time`() async throws {
        try await RunningConsole.with { console in
            try await Self.fill(console)
            let day = FigureQuestion.text(RunningConsole.now)
            try await Self.add(
                [("trialPaid", 7, "EUR", "gold", "DEU", "P1W", "introductory", 0, 1)], on: day, to: console)
            let cookie = try await console.signedIn(role: "support")
            let scope = FormFields.encode("Production \(SampleContents.app)")
            let address =
                "/revenue/purchases?scope=\(scope)&from=\(day)"
                + "&to=\(FigureQuestion.text(RunningConsole.now.addingTimeInterval(86_400)))&report=trials"
            let page = try await console.get(address + "&storefront=DEU", cookie: cookie)
            #expect(page.text.contains("<h1>Free trials</h1>") && page.text.contains("paid after 7 days"))
            #expect(page.text.contains("href=\"/purchases/Production/\(SampleContents.purchase)\""))
            let elsewhere = try await console.get(address + "&storefront=USA", cookie: cookie)
            #expect(elsewhere.text.contains("No free trial began in this time."))
            let report = try await console.get("/revenue/trials?scope=\(scope)", cookie: cookie)
            #expect(report.text.contains("report=trials"))
        }
    }

    @Test func `The page of a purchase says what was paid for it and what was refunded`() async throws {
        try await RunningConsole.with { console in
            try await SampleContents.fill(console)
            try await TestDatabase.connection(console.database).run(
                unsafeScript: """
                    update transaction
                    set price_milliunits = 9990, currency = 'EUR', revoked_at = now(), revocation_type = 'REFUND_FULL'
                    where original_transaction_id = '\(SampleContents.purchase)'
                    """)
            let cookie = try await console.signedIn(role: "support")
            let page = try await console.get("/purchases/Production/\(SampleContents.purchase)", cookie: cookie)
            #expect(page.text.contains("<dt>paid</dt><dd>9.990 EUR in 1 transaction, 9.990 refunded</dd>"))
            let address = "/accounts/Production/\(SampleContents.account)"
            let account = try await console.get(address, cookie: cookie)
            #expect(account.text.contains("<p>In all: 9.990 EUR in 1 transaction, 9.990 refunded.</p>"))
            #expect(try await console.get(address + "/export", cookie: cookie).text.contains("\"refunded\""))
        }
    }

    @Test func `A month without a row is a month of nothing, and the figures of another currency are not in it`()
        async throws
    {
        let now = RunningConsole.now
        let query = try FigureQuestion(.mrr, in: .production, of: nil, at: now).query
        #expect(query.spans.count == 13)
        func row(_ span: Int, _ currency: String, _ amount: Int64, _ purchases: Int64) -> FigureReport.Row {
            FigureReport.Row(
                days: query.spans[span], isComplete: true, cells: [(.currency, currency)],
                values: [("amount", .amount(amount)), ("purchases", .count(purchases))])
        }
        let report = FigureReport(
            name: .mrr, asOf: now, rows: [row(3, "EUR", 5000, 4), row(5, "EUR", 6000, 4), row(12, "JPY", 900_000, 7)])
        let series = try #require(RevenueSeries(query, report))
        #expect(series.cell == "EUR" && series.isOneOfSeveral)
        #expect(series.values.map(\.number) == [0, 0, 0, 5, 0, 6, 0, 0, 0, 0, 0, 0, 0])
        #expect(RevenueSeries(query, FigureReport(name: .mrr, asOf: now, rows: [])) == nil)
    }

    @Test func `A chart has a sentence, gaps, and tells what is not complete`() throws {
        let chart = try #require(
            Chart(
                "Net",
                [
                    .init(name: "2026-01", number: -2, text: "-2", isComplete: true),
                    .init(name: "2026-02", number: nil, text: "–", isComplete: true),
                    .init(name: "2026-03", number: 6, text: "6", isComplete: false),
                ]))
        #expect(chart.description.hasPrefix("From -2 in 2026-01 to 6 in 2026-03, at most 6 in 2026-03."))
        #expect(chart.points.map(\.title) == ["2026-01: -2", "2026-03: 6, not complete"])
        #expect(chart.points.map(\.isOpen) == [false, true])
        #expect(chart.line == "M12.0 168.0 M628.0 12.0" && chart.zero == "129.0")
        #expect(Chart("Net", []) == nil)
        let spark = try #require(Sparkline([-10, 0, 10], "Net"))
        #expect(spark.points == "0.0,22.0 60.0,12.0 120.0,2.0")
    }

    @Test(
        arguments: [
            (12_990, "12.99 EUR"), (-1_234_567_895, "-1,234,567.90 EUR"), (4, "0.00 EUR"), (-4, "0.00 EUR"),
            (Int64.min, "-9,223,372,036,854,775.81 EUR"),
        ] as [(Int64, String)])
    func `An amount is shown to the hundredth`(thousandths: Int64, text: String) {
        #expect(Figures.amount(thousandths, "EUR") == text)
    }
}
