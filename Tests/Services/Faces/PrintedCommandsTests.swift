import ArgumentParser
import Contracts
import Development
import Foundation
import Postgres
import Storage
import TestSupport
import Testing

@testable import ConsoleTests
@testable import Storekeeper
@testable import StorekeeperTests

/// “The same by hand” of the console's forms: every command works as it is printed.
@Suite(.hangLimit) struct PrintedCommandsTests {
    /// In the order in which they can follow each other.
    private static let pages = [
        "/accounts/Production/\(SampleContents.account)", "/purchases/Production/\(SampleContents.purchase)",
        "/coverage/recover?app=\(SampleContents.app)&environment=Production&from=2025-12-01&to=2025-12-02",
        "/dead-letters/list?reason=app-unknown", "/audit", "/pipeline", "/refunds", "/offers",
        "/refunds/Production/\(SampleContents.purchase)",
        "/revenue/corrections?scope=Production%20\(SampleContents.app)",
        "/revenue/purchases?scope=Production%20\(SampleContents.app)&report=refunds&product=gold&storefront=DEU",
        "/accounts/Production/\(SampleContents.account)/erasure?app=\(SampleContents.app)",
    ]

    @Test func `Every command that the console prints works as it is printed`() async throws {
        try await SampleContents.with(refunds: true) { console in
            let cookie = try await console.signedIn(role: "admin")
            let token = try #require(try await console.get("/", cookie: cookie).field("token"))
            let granted = try await console.post(
                "\(Self.pages[0])/grants", cookie: cookie,
                ["token": token, "app": SampleContents.app, "product": "pro.monthly", "days": "", "reason": "because"])
            #expect(granted.status == 303)
            let frozen = try await console.post(
                "/dead-letters/selections", cookie: cookie, ["token": token, "reason": "app-unknown"])
            var run: [String] = []
            // The last one ends the session itself.
            for page in Self.pages + [try #require(frozen.header("location")), "/sessions"] {
                let answer = try await console.get(page, cookie: cookie)
                #expect(answer.status == 200, "\(page)")
                // Not those for the app whose name is hostile: a page shows such a name escaped.
                let commands = Self.commands(answer.text).filter { !$0.contains("<script>") }
                #expect(!commands.isEmpty, "\(page)")
                for command in commands {
                    let arguments = try await Self.arguments(command)
                    _ = try CommandLineTool.parseAsRoot(arguments)
                    run.append(arguments.prefix(2).joined(separator: " "))
                    // Those that need a broker or Apple run in the tests of the whole deployment.
                    guard !["dead-letters", "extend", "backfill", "status"].contains(arguments[0]) else { continue }
                    // The twelve hours of the request are over by this process's clock; the other test answers it.
                    guard run.last != "refunds answer" else { continue }
                    try await Self.run(command, arguments, console.database.environment)
                }
            }
            let all = [
                "customers grant", "customers revoke", "customers choose", "customers detach", "customers erase",
                "recover --from", "dead-letters replay", "dead-letters dismiss", "console end", "refunds answer",
                "refunds show",
            ]
            for one in all { #expect(run.contains(one), "no page prints \(one)") }
        }
    }

    private static func run(
        _ command: String, _ arguments: [String], _ environment: [String: String]
    ) async throws {
        // Apple's history and sessions end, and the console's clock is not the machine's.
        if ["recover", "console"].contains(arguments[0]) {
            let outcome = await CommandOutcome.of(arguments, environment: environment, now: RunningConsole.now)
            #expect(outcome.code == 0, "\(command): \(outcome.errorOutput)")
        } else {
            let ending = try await shell(command, environment)
            #expect(ending.code == 0, "\(command): \(ending.output)")
        }
    }

    private static func commands(_ html: String) -> [String] {
        let entities = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")]
        return html.components(separatedBy: #"<pre class="command" tabindex="0"><code>"#).dropFirst().compactMap {
            rest in
            rest.components(separatedBy: "</code>").first.map { text in
                entities.reduce(text) { $0.replacing($1.0, with: $1.1) }
            }
        }
    }

    /// What a shell gives `storekeeper`.
    private static func arguments(_ command: String) async throws -> [String] {
        let words = try await shell(
            "cd \"$(mktemp -d)\"; storekeeper() { for word; do printf '%s\\n' \"$word\"; done; }; \(command)", [:])
        return words.output.split(separator: "\n").map(String.init)
    }

    private static func shell(
        _ command: String, _ environment: [String: String]
    ) async throws -> (code: Int32, output: String) {
        let process = Process()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-c", command]
        let programs = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().path
        process.environment = ["PATH": "\(programs):/usr/bin:/bin", "USER": "olga"].merging(environment) { $1 }
        // No pipe: a child of another test that starts meanwhile could hold it open.
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        try Data().write(to: directory.url("output"))
        let output = try FileHandle(forWritingTo: directory.url("output"))
        process.standardOutput = output
        process.standardError = output
        let code: Int32 = try await withCheckedThrowingContinuation { ended in
            process.terminationHandler = { ended.resume(returning: $0.terminationStatus) }
            do { try process.start() } catch { ended.resume(throwing: error) }
        }
        return (code, String(decoding: try Data(contentsOf: directory.url("output")), as: UTF8.self))
    }
}
