import Contracts
import Foundation
import Operations
import Postgres
import Storage
import StrictJSON
import TestSupport
import Testing

@testable import APITests
@testable import Console
@testable import ConsoleTests
@testable import StorekeeperTests

/// The purchases behind the figures of a report, through the API, the console and the command line.
@Suite(.hangLimit) struct FigurePurchasesFacesTests {
    private static let app = SampleContents.app
    private static let days = (from: "2025-01-01", to: "2025-02-01")
    /// Refunds in euros, the newest first. Day, purchase, and what was paid back.
    private static let expected = (1...5).reversed().map { "2025-01-1\($0) 200000000000000\($0) \($0).001 EUR" }

    private static func fill(_ connection: PostgresConnection) async throws {
        try await connection.run(
            unsafeScript: """
                insert into insight_purchase (environment, original_transaction_id, bundle_id, figures, day_keys)
                select environment::store_environment, id, bundle_id, jsonb_build_array(
                        jsonb_build_array(day - 1, 'charge', 0, 'EUR', 'gold', 'DEU', 'P1M', '', 9990, 0, 0, 1),
                        jsonb_build_array(day, 'refund', 0, currency, 'gold', storefront, 'P1M', '', 1000 * n + 1, 0, 0, 1),
                        jsonb_build_array(day, 'trialPaid', 7, 'EUR', 'gold', 'DEU', 'P1W', 'introductory', 0, 0, 0, 1)),
                    array[10 * (day - 1), 10 * day + 1, 10 * day + 4]
                from (
                    select n, 'Production' as environment, '\(app)' as bundle_id, 'EUR' as currency, '' as storefront,
                        '200000000000000' || n as id, date '2025-01-10' + n - date '1970-01-01' as day
                    from generate_series(1, 5) as n
                    union all
                    select 9, environment, bundle_id, currency, 'DEU', 'elsewhere' || place, date '2025-01-12' - date '1970-01-01'
                    from (values ('Sandbox', '\(app)', 'EUR', 1), ('Production', 'com.example.another', 'EUR', 2),
                        ('Production', '\(app)', 'USD', 3)) as given (environment, bundle_id, currency, place)
                ) as purchase
                """)
    }

    @Test func `The API lists the purchases of the key's apps and environment, page by page`() async throws {
        try await RunningAPI.with { api in
            let connection = TestDatabase.connection(api.database)
            try await Self.fill(connection)
            await connection.close()
            let key = try await api.key(environment: .production, bundleIds: [Self.app])
            let days = "from=\(Self.days.from)&to=\(Self.days.to)"
            let path = "/v1/insight/revenue/purchases?\(days)&kind=refund&currency=EUR&storefront="
            let (found, pages) = try await api.pages(of: path, key: key) { row in
                #expect(row["kind"]?.string == "refund" && row["count"]?.int64 == 1)
                #expect(row["bundleId"]?.string == Self.app && row["product"]?.string == "gold")
                #expect(row["storefront"]?.string == "" && row["period"]?.string == "P1M")
            }
            #expect(found == Self.expected && pages == 3)
            let trials = try await api.get("/v1/insight/trials/purchases?\(days)&limit=1", key: key)
            let trial = trials.json?["data"]?.elements.first
            #expect(trial?["daysUntilPaid"]?.int64 == 7 && trial?["offer"]?.string == "introductory")
            // Six charges and six refunds, of any currency and storefront.
            let all = try await api.get("/v1/insight/revenue/purchases?\(days)", key: key)
            #expect(all.json?["data"]?.elements.count == 12)
            #expect(try await api.get("/v1/insight/mrr/purchases?\(days)", key: key).json?["data"]?.elements.count == 0)
            let first = try await api.get(path + "&limit=2", key: key)
            let cursor = first.json?["nextCursor"]?.string ?? ""
            // A cursor belongs to its question; an empty storefront is another one than any.
            let other = path.replacing("&storefront=", with: "")
            #expect(try await api.get("\(other)&cursor=\(cursor)", key: key).problem == "invalid-cursor")
            #expect(try await api.get(path + "&bundleId=com.example.another", key: key).problem == "app-not-allowed")
            let wrong = path.replacing("kind=refund", with: "kind=churn")
            #expect(try await api.get(wrong, key: key).status == 400)
            #expect(try await api.get("/v1/insight/profit/purchases", key: key).status == 400)
            let scoped = try await api.key(environment: .production, scopes: [.eventsRead])
            #expect(try await api.get(path, key: scoped).status == 403)
        }
    }

    @Test func `The console lists the purchases of a row, page by page, and says the command for it`() async throws {
        try await RunningConsole.with { console in
            try await SampleContents.fill(console)
            try await Self.fill(TestDatabase.connection(console.database))
            let cookie = try await console.signedIn(role: "support")
            let path =
                "/revenue/purchases?scope=\(FormFields.encode("Production \(Self.app)"))&from=\(Self.days.from)"
                + "&to=\(Self.days.to)&report=refunds&storefront=&currency=EUR"
            let page = try await console.get(path, cookie: cookie).text
            let rows = page.matches(
                of:
                    /"row">([^<]+)<.*?data-row>([^<]+)<\/a><\/td><td>refunded on this day<\/td><td>gold<\/td><td class="number">([^<]+)</
            )
            #expect(rows.map { "\($0.output.1) \($0.output.2) \($0.output.3)" } == Self.expected, "\(page)")
            #expect(page.contains("storekeeper insight purchases revenue --app \(Self.app) --environment Production"))
            #expect(page.contains("--kind refund --storefront") && !page.contains(">Older<"))
            // More than a page has, in one purchase.
            try await TestDatabase.connection(console.database).run(
                unsafeScript: """
                    update insight_purchase
                    set figures = figures || (
                        select jsonb_agg(jsonb_set(figures->1, '{4}', to_jsonb('more' || n)))
                        from generate_series(1, 100) as n)
                    where original_transaction_id = '2000000000000003'
                    """)
            let first = try await console.get(path, cookie: cookie).text
            let older = try #require(first.firstMatch(of: /class="next" href="([^"]+)">Older</)?.output.1)
            let last = try await console.get(String(older).replacing("&amp;", with: "&"), cookie: cookie).text
            for n in 1...100 {
                #expect(first.contains("<td>more\(n)<") != last.contains("<td>more\(n)<"), "\(n)")
            }
            #expect(last.contains("2000000000000001") && !last.contains(">Older<"))
            let viewer = try await console.get(path, cookie: try await console.signedIn(as: "eve", role: "viewer"))
            #expect(viewer.text.contains("The newest 100.") && !viewer.text.contains("2000000000000003"))
        }
    }

    @Test func `The command line lists the purchases of a row, and where the next ones are`() async throws {
        try await TestDatabase.use { database async throws in
            let connection = TestDatabase.connection(database)
            try await Self.fill(connection)
            await connection.close()
            func run(_ report: String, _ more: String...) async -> CommandOutcome {
                await CommandOutcome.of(
                    ["insight", "purchases", report, "--app", Self.app, "--from", Self.days.from, "--to", Self.days.to]
                        + more,
                    environment: database.environment, now: RunningConsole.now)
            }
            let refunds = ["--kind", "refund", "--storefront", "", "--currency", "EUR"]
            var (found, after): ([String], [String]) = ([], [])
            repeat {
                let page = await CommandOutcome.of(
                    ["insight", "purchases", "revenue", "--app", Self.app, "--from", Self.days.from]
                        + ["--to", Self.days.to, "--limit", "2", "--json"] + refunds + after,
                    environment: database.environment, now: RunningConsole.now)
                #expect(page.code == 0)
                found += page.text.matches(of: /"originalTransactionId" : "(\d+)"/).map { String($0.output.1) }
                after = page.errorOutput.firstMatch(of: /--after (\S+)/).map { ["--after", String($0.output.1)] } ?? []
            } while !after.isEmpty && found.count < 9
            #expect(found == Self.expected.map { String($0.split(separator: " ")[1]) })
            let all = await run("revenue", "--kind", "refund", "--currency", "EUR")
            for one in Self.expected {
                let words = one.split(separator: " ")
                #expect(all.text.split(separator: "\n").contains { $0.contains(words[1]) && $0.contains(words[2]) })
            }
            #expect(await run("trials", "--limit", "1").text.contains("introductory"))
            #expect(await run("movements").text == "No purchase is behind it.")
            let wrong = await run("trials", "--kind", "refund")
            #expect(wrong.code == 64 && wrong.errorOutput.contains("give trialRunning"))
            #expect(await run("revenue", "--after", "elsewhere").code == 64)
        }
    }
}
