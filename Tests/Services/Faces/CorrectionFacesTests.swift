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

/// What purchases changed after a day was reported, through the API, the console and the command line.
@Suite(.hangLimit) struct CorrectionFacesTests {
    private static let app = SampleContents.app
    private static let days = (from: "2025-01-01", to: "2025-02-01")
    /// The newest first. Purchase, and what is shown of it.
    private static let expected = (1...5).reversed().map { "2025-01-1\($0) 200000000000000\($0) -\($0).001 EUR" }

    private static func fill(_ connection: PostgresConnection) async throws {
        try await connection.run(
            unsafeScript: """
                insert into insight_correction (corrected_at, amount, count, day, environment, bundle_id, original_transaction_id, kind,
                    currency)
                select timestamptz '2025-03-01', -1000 * n - 1, -1, date '2025-01-10' + n, 'Production', '\(app)',
                    '200000000000000' || n, 'churn', 'EUR'
                from generate_series(1, 5) as n
                union all
                select '2025-03-01', 1, 1, '2025-01-12', environment::store_environment, bundle_id, 'elsewhere', 'new', 'EUR'
                from (values ('Sandbox', '\(app)'), ('Production', 'com.example.another')) as given (environment, bundle_id)
                """)
    }

    @Test func `The API lists the corrections of the key's apps and environment, page by page`() async throws {
        try await RunningAPI.with { api in
            let connection = TestDatabase.connection(api.database)
            try await Self.fill(connection)
            await connection.close()
            let key = try await api.key(environment: .production, bundleIds: [Self.app])
            let path = "/v1/insight/corrections?from=\(Self.days.from)&to=\(Self.days.to)"
            let (found, pages) = try await api.pages(of: path, key: key) { row in
                #expect(row["kind"]?.string == "churn" && row["count"]?.int64 == -1)
                #expect(row["bundleId"]?.string == Self.app)
            }
            #expect(found == Self.expected && pages == 3)
            let first = try await api.get(path + "&limit=2", key: key)
            let cursor = first.json?["nextCursor"]?.string ?? ""
            // A cursor belongs to its days.
            let other = "/v1/insight/corrections?from=2024-12-01&to=\(Self.days.to)&cursor=\(cursor)"
            #expect(try await api.get(other, key: key).problem == "invalid-cursor")
            #expect(try await api.get(path + "&bundleId=com.example.another", key: key).problem == "app-not-allowed")
            #expect(try await api.get("/v1/insight/corrections?from=2025-02-30", key: key).status == 400)
            let scoped = try await api.key(environment: .production, scopes: [.eventsRead])
            #expect(try await api.get(path, key: scoped).status == 403)
        }
    }

    @Test func `The console lists the corrections of an app, and each leads to its purchase`() async throws {
        try await RunningConsole.with { console in
            try await SampleContents.fill(console)
            try await Self.fill(TestDatabase.connection(console.database))
            let cookie = try await console.signedIn(role: "support")
            let scope = "scope=\(FormFields.encode("Production \(Self.app)"))"
            for page in ["/revenue?", "/revenue/mrr?"] {
                let text = try await console.get(page + scope, cookie: cookie).text
                #expect(text.contains("href=\"/revenue/corrections?\(scope)\""), "\(page)")
            }
            let path = "/revenue/corrections?\(scope)&from=\(Self.days.from)&to=\(Self.days.to)"
            let page = try await console.get(path, cookie: cookie)
            let rows = page.text.matches(
                of: /"row">([^<]+)<.*?data-row>([^<]+)<\/a><\/td><td>churn<\/td><td class="number">([^<]+)</)
            #expect(rows.map { "\($0.output.1) \($0.output.2) \($0.output.3)" } == Self.expected, "\(page.text)")
            #expect(page.text.contains("href=\"/purchases/Production/2000000000000001\""))
            #expect(!page.text.contains(">Older<"))
            #expect(page.text.contains("<a href=\"/revenue?\(scope)\">Revenue</a>"))
            let none = try await console.get(
                "/revenue/corrections?\(scope)&from=2024-01-01&to=2024-02-01", cookie: cookie)
            #expect(none.text.contains("No purchase changed a day of this time after the day was reported."))
            #expect(try await console.get("/revenue/corrections?from=2025-02-30", cookie: cookie).status == 422)
            let odd = try await console.get(path + "&after=elsewhere", cookie: cookie)
            #expect(odd.status == 200 && odd.text.contains("2000000000000005"))
            let viewer = try await console.get(path, cookie: try await console.signedIn(as: "eve", role: "viewer"))
            #expect(viewer.status == 200 && !viewer.text.contains("2000000000000005"))
            // More than a page has.
            try await TestDatabase.connection(console.database).run(
                unsafeScript: """
                    insert into insight_correction (corrected_at, amount, count, day, environment, bundle_id, original_transaction_id,
                        kind, currency)
                    select '2025-03-01', 1, 1, '2025-01-09', 'Production', '\(Self.app)', 'more' || n, 'loyalCharge', 'EUR'
                    from generate_series(1, 100) as n
                    """)
            let first = try await console.get(path, cookie: cookie).text
            let older = try #require(first.firstMatch(of: /class="next" href="([^"]+)">Older</)?.output.1)
            let last = try await console.get(String(older).replacing("&amp;", with: "&"), cookie: cookie).text
            for n in 1...100 {
                #expect(first.contains(">more\(n)<") != last.contains(">more\(n)<"), "\(n)")
            }
            #expect(last.contains("charged, after a year of paid service") && !last.contains(">Older<"))
            #expect(first.utf8.count < 60_000, "\(first.utf8.count)")
        }
    }

    @Test func `The command line lists the corrections of an app, and where the next ones are`() async throws {
        try await TestDatabase.use { database async throws in
            let connection = TestDatabase.connection(database)
            try await Self.fill(connection)
            await connection.close()
            let place = ["insight", "corrections", "--app", Self.app, "--from", Self.days.from, "--to", Self.days.to]
            func run(_ more: String...) async -> CommandOutcome {
                await CommandOutcome.of(place + more, environment: database.environment, now: RunningConsole.now)
            }
            let all = await run()
            #expect(all.code == 0 && all.errorOutput.isEmpty)
            let lines = all.text.split(separator: "\n").dropFirst().map { line in
                let words = line.split(separator: " ").map(String.init)
                return [words[0], words[3], words[5], words[6]].joined(separator: " ")
            }
            #expect(lines == Self.expected, "\(all.text)")
            var (pages, after): ([String], [String]) = ([], [])
            repeat {
                let page = await CommandOutcome.of(
                    place + ["--limit", "2", "--json"] + after, environment: database.environment,
                    now: RunningConsole.now)
                #expect(page.code == 0)
                pages += page.text.matches(of: /"originalTransactionId" : "(\d+)"/).map { String($0.output.1) }
                after = page.errorOutput.firstMatch(of: /--after (\S+)/).map { ["--after", String($0.output.1)] } ?? []
            } while !after.isEmpty && pages.count < 9
            #expect(pages == Self.expected.map { String($0.split(separator: " ")[1]) })
            let none = await CommandOutcome.of(
                ["insight", "corrections", "--app", Self.app, "--to", "2025-01-01"], environment: database.environment,
                now: RunningConsole.now)
            #expect(none.text == "Nothing changed after its day was reported.")
            #expect(await run("--after", "elsewhere").code == 64)
            #expect(await run("--limit", "\(Int.max)").code == 0)
        }
    }
}
