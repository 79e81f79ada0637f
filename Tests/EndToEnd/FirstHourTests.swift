import Commands
import Foundation
import TestSupport
import Testing

@testable import Devkit

extension EndToEnd {
    /// What a new user sees of `storekeeper dev` and of the pages that it comes with.
    struct FirstHourTests {
        @Test
        func `dev prints questions about a living customer of both environments, and their answer is yes and why`()
            async throws
        {
            try await RunningDev.use { dev in
                let lines = try await dev.lines(2, with: "curl .*/entitlements")
                for line in lines {
                    let answer = try await dev.shell(line)
                    #expect(answer.ending == .exit(0), "\(answer.log)")
                    let root = try #require(
                        try JSONSerialization.jsonObject(with: Data(answer.text.utf8)) as? [String: Any])
                    let entitlements = try #require(root["entitlements"] as? [[String: Any]])
                    #expect(Set(entitlements.compactMap { $0["name"] as? String }).count == 2, "\(answer.text)")
                    #expect(entitlements.allSatisfy { $0["givesAccess"] as? Bool == true && $0["reason"] is String })
                }
                #expect(lines.contains { $0.contains("sk_test_") } && lines.contains { $0.contains("sk_live_") })
                // The same by the variables that the pages use.
                let documented = try await dev.shell(
                    #"curl -s -f -H "Authorization: Bearer $LIVE_KEY" "$API/v1/accounts/$TOKEN/entitlements""#)
                #expect(documented.text.contains("premium.yearly"), "\(documented.text)")
            }
        }

        @Test func `doctor finds nothing missing in dev, and says what is missing without the files`() async throws {
            try await RunningDev.use { dev in
                _ = try await dev.lines(2, with: "curl .*/entitlements")
                let url = "http://127.0.0.1:$(cat '\(dev.place.path("kept"))/ingest.port')/v1/notifications"
                let well = try await dev.shell("storekeeper doctor --url \"\(url)\"")
                #expect(well.ending == .exit(0), "\(well.text)\n\(well.log)")
                #expect(well.text.contains("ok          URL: ingest answers"), "\(well.text)")
                #expect(well.text.matches(of: /ok +test notification of/).count == 4, "\(well.text)")
                let ill = try await dev.shell(
                    "unset STOREKEEPER_APPS_FILE; storekeeper doctor --json --no-test-notifications")
                #expect(ill.ending == .exit(1))
                #expect(ill.text.contains("STOREKEEPER_APPS_FILE is not set"), "\(ill.text)")
                let wrong = try await dev.shell(
                    "storekeeper doctor --no-test-notifications --url \"${API}/nowhere\"")
                #expect(wrong.ending == .exit(1))
                #expect(wrong.text.contains("failed      URL:"), "\(wrong.text)")
            }
        }

        @Test func `progress of a build tells which steps and modules are done, and passes on what is no step`()
            async throws
        {
            let place = try TemporaryDirectory()
            defer { place.remove() }
            let output = place.path("output")
            let lines = [
                "warning: w", "[0/1] Planning build", "[20/100] Compiling Storage AccessStore.swift",
                "[21/100] Compiling aes.c", "error: e",
            ]
            let progress = DocumentedStep.root.appendingPathComponent("Deploy/progress").path
            let child = try await Spawner().start(
                "bash", program: "/bin/bash",
                arguments: [
                    "-c",
                    "printf '%s\\n' \(lines.map { "'\($0)'" }.joined(separator: " ")) | '\(progress)' Storage API",
                ],
                environment: ["PATH": "/usr/bin:/bin"], log: output + ".log", output: output)
            #expect(await child.ending() == .exit(0))
            let shown = try String(contentsOfFile: output, encoding: .utf8)
            #expect(shown == "warning: w\n20 of 100 steps, 1 of 2 own modules\nerror: e\n")
        }

        @Test func `Deploy run refuses an option that devkit does not have before it installs or builds`() async throws
        {
            let place = try TemporaryDirectory()
            defer { place.remove() }
            let (output, log) = (place.path("output"), place.path("log"))
            let child = try await Spawner().start(
                "run", program: DocumentedStep.root.appendingPathComponent("Deploy/run").path,
                arguments: ["--log-dir", place.path("logs"), "--raet", "5"], environment: ["PATH": "/usr/bin:/bin"],
                log: log, output: output)
            #expect(await child.ending() == .exit(64))
            #expect(try String(contentsOfFile: log, encoding: .utf8).contains("there is no option --raet"))
            #expect(try String(contentsOfFile: output, encoding: .utf8) == "")
        }

        /// Pages whose blocks each run against a dev of their own.
        static let firstPages = ["Documentation/FirstHour.md", "Documentation/API.md"]

        @Test(arguments: firstPages)
        func `Every command of the page runs against dev, and shows what the page says`(page: String) async throws {
            let steps = try DocumentedStep.all(of: page)
            #expect(steps.count >= 5)
            try await RunningDev.use { dev in
                _ = try await dev.lines(2, with: "curl .*/entitlements")
                for step in steps { try await dev.follow(step) }
            }
        }

        /// Pages that a user reads after the first hour, in the order of Documentation/README.md.
        static let furtherPages = [
            "Concepts", "Ownership", "Clients", "Consumables", "Webhooks", "Refunds", "Offers", "Simulator",
            "Console", "CommandLine",
        ].map { "Documentation/\($0).md" }

        @Test func `Every command of the pages after the first hour runs against one dev`() async throws {
            try await RunningDev.use { dev in
                _ = try await dev.lines(2, with: "curl .*/entitlements")
                for page in Self.furtherPages {
                    let steps = try DocumentedStep.all(of: page)
                    #expect(!steps.isEmpty, "\(page)")
                    for step in steps { try await dev.follow(step) }
                }
            }
        }

        @Test func `dev with a catalogue sells the developer's own products, and its keys are for that app`()
            async throws
        {
            let place = try TemporaryDirectory()
            defer { place.remove() }
            let page = try DocumentedStep.text(of: "Documentation/FirstHour.md")
            let example = try #require(page.firstMatch(of: /```json\n([\s\S]*?)\n```/)?.output.1)
            let file = place.path("catalogue.json")
            try Data(example.utf8).write(to: URL(fileURLWithPath: file))
            try await RunningDev.use(arguments: ["--catalogue", file]) { dev in
                for line in try await dev.lines(2, with: "curl .*/entitlements") {
                    #expect(try await dev.shell(line).text.contains("gold_monthly"))
                }
                let bought = try await dev.shell(
                    #"storekeeper simulator buy coins_100 --app com.example.mine --account 1f1e2d3c-4b5a-4978-8796-a5b4c3d2e1f0"#
                )
                #expect(bought.text.contains("Bought coins_100 in Sandbox"), "\(bought.text)\(bought.log)")
            }
        }
    }
}

/// A block of commands on a page, and what the page shows below it.
struct DocumentedStep: Sendable {
    var commands: String
    /// What the output contains, in this order.
    var shown: [String] = []

    /// The directory of the repository.
    static var root: URL {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
    }

    /// A page of the repository.
    static func text(of page: String) throws -> String {
        try String(contentsOf: root.appendingPathComponent(page), encoding: .utf8)
    }

    /// The blocks marked `sh`, each with the block marked `text` that follows, where `…` stands for anything.
    static func all(of page: String) throws -> [DocumentedStep] {
        let text = try text(of: page)
        var steps: [DocumentedStep] = []
        for block in text.matches(of: /```(sh|text)\n([\s\S]*?)\n```/) {
            if block.output.1 == "sh" {
                steps.append(DocumentedStep(commands: String(block.output.2)))
            } else if !steps.isEmpty {
                steps[steps.count - 1].shown = block.output.2.split(separator: "\n").flatMap {
                    $0.split(separator: "…")
                }
                .map { $0.trimmingCharacters(in: .whitespaces) }
            }
        }
        return steps
    }

    /// Whether an output shows it.
    func isShown(by output: String) -> Bool {
        var rest = output[...]
        for piece in shown {
            guard let found = rest.range(of: piece) else { return false }
            rest = rest[found.upperBound...]
        }
        return true
    }

    /// The variables that it sets, for the steps after it.
    var variables: [String] {
        commands.matches(of: /(?m)^([A-Z]+)=/).map { String($0.output.1) }
    }

    private static let questions = ["curl -s -H", "storekeeper entitlements", "storekeeper refunds list"]

    /// The last command, where it is a question that can be asked again: what was sent is stored a moment later.
    var question: String? {
        let last = commands.split(separator: "\n").last.map(String.init)
        return last.flatMap { last in Self.questions.contains { last.hasPrefix($0) } ? last : nil }
    }
}

/// `storekeeper dev`, started as a user does, with everything of its own.
struct RunningDev: Sendable {
    let process: ChildProcess
    let place: TemporaryDirectory
    private let output: String

    /// Starts it, lends it, stops it.
    static func use(arguments: [String] = [], _ body: (RunningDev) async throws -> Void) async throws {
        let place = try TemporaryDirectory()
        defer { place.remove() }
        let output = place.path("output")
        var environment = ProcessInfo.processInfo.environment
        environment["DATABASE_URL"] = nil
        environment["KAFKA_BOOTSTRAP_SERVERS"] = nil
        let process = try await Spawner().start(
            "dev", program: try EndToEnd.binaries.path(of: "storekeeper"),
            arguments: ["dev", "--rate", "5", "--keep", place.path("kept")] + arguments, environment: environment,
            log: place.path("log"), output: output)
        let dev = RunningDev(process: process, place: place, output: output)
        do { try await body(dev) } catch {
            await process.stop(deadline: .seconds(30))
            throw error
        }
        await process.stop(deadline: .seconds(30))
    }

    /// The first lines that dev prints with a pattern; waits for as many.
    /// - Throws: `CommandError` where dev ends before.
    func lines(_ count: Int, with words: String) async throws -> [String] {
        let found = try await run(
            "tail -n +1 -F --pid=\(process.identifier) '\(output)' 2>/dev/null | grep -m \(count) -E '\(words)'")
        let lines = found.text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
        guard lines.count == count else {
            let printed = (try? String(contentsOfFile: output, encoding: .utf8)) ?? ""
            throw CommandError("dev ended: \(process.logTail())\nIt printed less than \(count) \(words): \(printed)")
        }
        return lines
    }

    /// Runs lines in a shell that sourced the file that dev prints, which has the programs' path, in a directory of their own.
    func shell(_ lines: String) async throws -> (ending: ChildProcess.Ending, text: String, log: String) {
        let own = place.path("pages")
        return try await run("mkdir -p '\(own)' && cd '\(own)' && . '\(place.path("kept"))/environment'\n" + lines)
    }

    /// Does what a page says, with the variables that the steps before it set.
    func follow(_ step: DocumentedStep) async throws {
        let variables = place.path("variables")
        let kept = "[ ! -e '\(variables)' ] || . '\(variables)'\n"
        let keeping = step.variables.map { "\ndeclare -p \($0) >>'\(variables)'" }.joined()
        let first = try await shell("set -eo pipefail\n" + kept + step.commands + keeping)
        #expect(first.ending == .exit(0), "\(step.commands)\n\(first.text)\n\(first.log)")
        var output = first.text
        let deadline = ContinuousClock.now + .hangLimit
        while !step.isShown(by: output), let question = step.question, ContinuousClock.now < deadline {
            output = first.text + (try await shell(kept + question)).text
        }
        #expect(step.isShown(by: output), "\(step.commands)\nshows\n\(output)\nand not\n\(step.shown)")
    }

    private func run(_ script: String) async throws -> (ending: ChildProcess.Ending, text: String, log: String) {
        let output = place.path("shell-\(UUID().uuidString)")
        let child = try await Spawner().start(
            "bash", program: "/bin/bash", arguments: ["-c", script],
            environment: ["PATH": "/usr/bin:/bin", "HOME": place.path("home")],
            log: output + ".log", output: output)
        let ending = await child.ending()
        let (text, log) = (try String(contentsOfFile: output, encoding: .utf8), child.logTail())
        for file in [output, output + ".log"] { try FileManager.default.removeItem(atPath: file) }
        return (ending, text, log)
    }
}
