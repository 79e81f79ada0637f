import Development
import Foundation
import Operations
import Postgres
import Storage
import TestSupport
import Testing

@testable import Storekeeper

@Suite struct InsightTests {
    @Test func `insight shows reports, checks them, and computes them again`() async throws {
        try await TestDatabase.use { database async throws in
            let connection = TestDatabase.connection(database)
            func run(_ arguments: String...) async -> CommandOutcome {
                await CommandOutcome.of(["insight"] + arguments, environment: database.environment)
            }
            #expect(await run("check").errorOutput.contains("not complete yet"))
            #expect(await run("show", "mrr").text.contains("not complete yet"))
            let early = await run("show", "mrr", "--csv")
            #expect(early.code != 0 && early.text.isEmpty && early.errorOutput.contains("not complete yet"))
            try await connection.run(
                unsafeScript: """
                    insert into insight_day (amount, revenuecat_amount, purchases, count, day, step, environment, bundle_id, kind,
                        currency, product_id, storefront, period, offer)
                    values (12345, 12345, 1, 1, '2026-01-10', 0, 'Production', 'a', 'new', 'EUR', '=gold', 'DEU', 'P1M', '')
                    """)
            _ = try await FigureStore(connection).update(at: Date())
            let shown = await run("show", "mrr", "--from", "2026-01-01", "--to", "2026-02-01", "--by", "product")
            #expect(shown.code == 0 && shown.text.contains("12.345") && shown.text.contains("As of "))
            let csv = await run("show", "mrr", "--from", "2026-01-01", "--to", "2026-02-01", "--by", "product", "--csv")
            #expect(
                csv.text == """
                    from,to,complete,product,currency,amount,revenueCatAmount,purchases
                    2026-01-01,2026-02-01,no,'=gold,EUR,12.345,12.345,1
                    """)
            let json = await run("show", "mrr", "--from", "2026-01-01", "--to", "2026-02-01", "--json")
            #expect(json.text.contains(#""amount" : "12.345""#))
            for (arguments, problem) in [
                (["--by", "product,offer,app"], "at most two"), (["--by", "color"], "no dimension"),
                (["--from", "2026-02-30"], "no day"), (["--from", "2026-02-01", "--to", "2026-01-01"], "not before"),
                (["--from", "2020-01-01", "--interval", "day"], "too many"),
            ] {
                let wrong = await CommandOutcome.of(
                    ["insight", "show", "mrr"] + arguments, environment: database.environment)
                #expect(wrong.code == 64 && wrong.errorOutput.contains(problem), "\(arguments)")
            }
            let found = await run("check", "--day", "2026-01-31")
            #expect(found.code == 1 && found.text.contains("12345"))
            #expect(await run("rebuild", "--dry-run").text.contains("would be added up again"))
            #expect(await run("check", "--day", "2026-01-31").code == 1)
            // All days in one statement may take longer than a question may.
            try await connection.run(
                unsafeScript: """
                    create table limit_of_rebuild (value text);
                    create function note_limit() returns trigger language plpgsql as $$
                    begin
                        insert into limit_of_rebuild values (current_setting('statement_timeout'));
                        return new;
                    end
                    $$;
                    create trigger note_limit before insert on operator_action for each row execute function note_limit()
                    """)
            #expect(await run("rebuild", "--note", "test").code == 0)
            let limits = try await connection.execute(Statement(unsafeSQL: "select value from limit_of_rebuild"))
            #expect(try limits.map { row in try row.value("value", as: String.self) } == ["0"])
            let equal = await run("check", "--day", "2026-01-31")
            #expect(equal.code == 0 && equal.text.contains("nothing differs"))
            #expect(!equal.errorOutput.contains("wait for the scheduler"))
            try await connection.run(
                unsafeScript: """
                    insert into insight_change (environment, original_transaction_id) values ('Production', '1');
                    insert into insight_change (environment, original_transaction_id) values ('Production', '2')
                    """)
            let waiting = await run("check", "--day", "2026-01-31")
            #expect(waiting.code == 0 && waiting.errorOutput.contains("2 purchases changed and wait for the scheduler"))
            let audit = await CommandOutcome.of(["audit"], environment: database.environment)
            #expect(audit.text.contains("insight rebuild"))
        }
    }

    @Test func `insight loads rates, taxes and memberships, and shows reports by them`() async throws {
        try await TestDatabase.use { database async throws in
            let connection = TestDatabase.connection(database)
            func run(_ arguments: String...) async -> CommandOutcome {
                await CommandOutcome.of(["insight"] + arguments, environment: database.environment)
            }
            try await connection.run(
                unsafeScript: """
                    insert into insight_day (amount, revenuecat_amount, purchases, count, day, step, environment, bundle_id, kind,
                        currency, product_id, storefront, period, offer)
                    values (11900, 0, 0, 1, '2026-01-10', 0, 'Production', 'a', 'charge', 'EUR', 'gold', 'DEU', 'P1M', ''),
                        (5000, 0, 0, 1, '2026-01-10', 0, 'Production', 'a', 'charge', 'BRL', 'gold', 'BRA', 'P1M', '')
                    """)
            _ = try await FigureStore(connection).update(at: Date())
            let directory = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: directory) }
            let (rates, taxes) = (directory.appending(path: "rates.csv"), directory.appending(path: "taxes.csv"))
            try Data("day,currency,rate\n2026-01-09,EUR,2\n".utf8).write(to: rates)
            try Data("DEU,2021-01-01,19\n".utf8).write(to: taxes)
            let load = ["rates", "load", rates.path, "--into", "USD", "--source", "bank"]
            let plan = await CommandOutcome.of(["insight"] + load + ["--dry-run"], environment: database.environment)
            #expect(plan.code == 0 && plan.text.contains("would be loaded"), "\(plan.errorOutput)")
            #expect(await run("rates", "list").text.contains("No exchange rate is loaded."))
            let first = await run("show", "revenue", "--from", "2026-01-01", "--to", "2026-02-01", "--currency", "USD")
            #expect(first.code == 0 && first.text.contains("11.900"))
            for warning in ["No rate of EUR", "No rate in USD is loaded for this time", "insight rates load"] {
                #expect(first.errorOutput.contains(warning), "\(first.errorOutput)")
            }
            let loaded = await CommandOutcome.of(["insight"] + load, environment: database.environment)
            #expect(loaded.text.contains("1 rate loaded; 1 new or changed."), "\(loaded.text) \(loaded.errorOutput)")
            let again = await CommandOutcome.of(["insight"] + load, environment: database.environment)
            #expect(again.text.contains("0 new or changed."))
            #expect(await run("rates", "list").text.contains("bank"))
            #expect(await run("taxes", "load", taxes.path, "--source", "adviser").text.contains("1 tax share loaded"))
            #expect(await run("taxes", "list").text.contains("19000"))
            #expect(await run("small-business", "set", "--app", "a", "--since", "2026-01-01").code == 0)
            #expect(await run("small-business", "list").text.contains("yes"))
            let shown = await run(
                "show", "proceeds", "--from", "2026-01-01", "--to", "2026-02-01", "--currency", "USD", "--csv")
            #expect(
                shown.text == """
                    from,to,complete,currency,charged,refunded,estimatedTax,estimatedCommission,estimatedProceeds,withoutTaxShare
                    2026-01-01,2026-02-01,no,BRL,5.000,0.000,0.000,0.750,4.250,5.000
                    2026-01-01,2026-02-01,no,USD,23.800,0.000,3.800,3.000,17.000,0.000
                    """, "\(shown.errorOutput)")
            #expect(shown.errorOutput.contains("No rate of BRL") && !shown.errorOutput.contains("No rate in USD"))
            for (report, currency) in [("trials", "USD"), ("retention", "USD"), ("mrr", "usd")] {
                #expect(await run("show", report, "--currency", currency).code == 64)
            }
            let audit = await CommandOutcome.of(["audit"], environment: database.environment)
            for action in ["insight rates load", "insight taxes load", "insight small-business set"] {
                #expect(audit.text.contains(action))
            }
            await connection.close()
        }
    }
    @Test func `The commands of the page read rates from the file of the European Central Bank`() throws {
        let page = URL(filePath: #filePath).appending(path: "../../../../../Documentation/Insight.md")
        let text = try String(contentsOf: page.standardizedFileURL, encoding: .utf8)
        let script = try #require(
            text.firstMatch(of: /unzip -p eurofxref-hist\.zip \| ([\s\S]*?) >rates\.csv/)?.output.1)
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        // As the bank writes it: N/A for a currency that is not quoted any more, and a comma at the end.
        try directory.write(
            "bank.csv",
            "Date,USD,JPY,BGN,ITL,\n2026-11-26,1.0823,N/A,1.9558,2000,\n2026-11-25,1.08,160.5,1.9558,N/A,\n")
        let process = Process()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-c", "cat bank.csv | \(script) >rates.csv"]
        process.currentDirectoryURL = directory.url
        try process.start()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        let loaded = try LoadExchangeRates(
            String(contentsOf: directory.url("rates.csv"), encoding: .utf8), into: "USD", from: "European Central Bank")
        #expect(
            loaded.rates.map { "\($0.currency) \($0.trillionths)" } == [
                "EUR 1082300000000", "BGN 553379691175", "ITL 541150000", "EUR 1080000000000", "JPY 6728971963",
                "BGN 552203701810",
            ])
    }
}
