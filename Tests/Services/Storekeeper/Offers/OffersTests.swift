import Foundation
import Postgres
import TestSupport
import Testing

@testable import Storekeeper

@Suite struct OffersTests {
    private static let app = ["--app", "com.example.app"]

    @Test func `offers rules set checks, adds versions, and says what changes; offers signed lists`() async throws {
        try await TestDatabase.use { database async throws in
            let directory = try TemporaryDirectory()
            func file(_ text: String) throws -> String {
                let url = directory.url.appending(path: "rules.json")
                try text.write(to: url, atomically: true, encoding: .utf8)
                return url.path
            }
            func run(_ arguments: [String]) async -> CommandOutcome {
                await database.run(["offers"] + arguments)
            }
            let none = await run(["rules", "show"] + Self.app)
            #expect(none.code != 0 && none.errorOutput.contains("no offer rules"))
            let rejected = await run(["rules", "set", try file(#"{"rules": [{"who": ["friends"]}]}"#)] + Self.app)
            #expect(rejected.code != 0 && rejected.errorOutput.contains("rule 1, who: must be"))
            let rules = try file(
                """
                {"rules": [
                  {"productId": "pro", "offerIdentifier": "spring", "who": ["active"], "atMost": {"count": 1, "days": 30}}
                ]}
                """)
            let dry = await run(["rules", "set", rules, "--dry-run"] + Self.app)
            #expect(dry.code == 0 && dry.text.contains("The offer spring of pro would be signed by rule."))
            #expect(await run(["rules", "show"] + Self.app).code != 0)
            for version in 1...2 {
                let set = await run(["rules", "set", rules] + Self.app)
                #expect(set.code == 0 && set.text.contains("Version \(version) is in force"))
            }
            let shown = try file(await run(["rules", "show"] + Self.app).text)
            #expect(await run(["rules", "set", shown] + Self.app).code == 0, "what is shown can be set again")
            let empty = await run(["rules", "set", try file(#"{"rules": []}"#), "--dry-run"] + Self.app)
            #expect(empty.text.contains("The offer spring of pro would have no rule any more."))
            #expect(await run(["signed"] + Self.app).text.contains("No offer was signed"))
            #expect(await run(["redeemed"] + Self.app).text.contains("No offer was signed"))
            #expect(await run(["signed", "--account", "x"] + Self.app).code != 0)
            let audit = await database.run(["audit"])
            #expect(audit.text.contains("offers rules set"))
        }
    }
}
