import Foundation
import Postgres
import TestSupport
import Testing

@testable import Storekeeper

@Suite struct RefundsTests {
    private static let app = ["--app", "com.example.app"]

    @Test func `refunds policy set checks, warns, adds versions, and says all that is wrong`() async throws {
        try await TestDatabase.use { database async throws in
            let directory = try TemporaryDirectory()
            func file(_ text: String) throws -> String {
                let url = directory.url.appending(path: "policy.json")
                try text.write(to: url, atomically: true, encoding: .utf8)
                return url.path
            }
            func run(_ arguments: [String]) async -> CommandOutcome {
                await database.run(["refunds"] + arguments)
            }
            let none = await run(["policy", "show"] + Self.app)
            #expect(none.code != 0 && none.errorOutput.contains("no policy"))
            let wrong = try file(
                #"{"rules": [{"name": "a", "if": {"reasons": ["BORED"]}, "then": {"preference": "NO"}}]}"#)
            let rejected = await run(["policy", "set", wrong] + Self.app)
            #expect(rejected.code != 0)
            #expect(rejected.errorOutput.contains("rule 1 “a”, if.reasons: “BORED” is unknown"))
            #expect(rejected.errorOutput.contains("rule 1 “a”, then.preference"))
            let always = try file(#"{"rules": [{"name": "a", "then": {"preference": "DECLINE"}}]}"#)
            let dry = await run(["policy", "set", always, "--dry-run"] + Self.app)
            #expect(dry.code == 0 && dry.text.contains("Every rule declines"))
            #expect(await run(["policy", "show"] + Self.app).code != 0)
            for version in 1...2 {
                let set = await run(["policy", "set", always] + Self.app)
                #expect(set.code == 0 && set.text.contains("Version \(version) is in force"))
            }
            #expect(await run(["policy", "show"] + Self.app).text.contains(#""preference": "DECLINE""#))
            let windows = try file("{\r\n\"rules\": [{\"name\": \"a\", \"then\": {\"preference\": \"DECLINE\"}}]\r\n}")
            #expect(await run(["policy", "set", windows] + Self.app).code == 0)
            let shown = try file(await run(["policy", "show"] + Self.app).text)
            #expect(await run(["policy", "set", shown] + Self.app).code == 0, "what is shown can be set again")
            #expect(await run(["list"]).text.contains("no such refund request"))
            #expect(await run(["show", "1"]).code != 0)
            #expect(await run(["answer", "1"]).errorOutput.contains("no refund of transaction 1"))
            #expect(await run(["rehearse", always] + Self.app).code == 0)
            #expect(await run(["outcomes"] + Self.app).code == 0)
        }
    }
}
