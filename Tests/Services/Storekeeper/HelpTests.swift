import ArgumentParser
import Testing

@testable import Storekeeper

struct HelpTests {
    @Test func `Help of every subcommand has an example, and every example parses`() throws {
        var examples = 0
        for command in CommandLineTool.allCommands {
            let name = command.configuration.commandName ?? "storekeeper"
            let help = CommandLineTool.helpMessage(for: command, columns: 10_000).replacing(#/\\\n */#, with: "")
            #expect(help.contains("Example"), "\(name)")
            for match in help.matches(of: #/(?m)^(?:Example:|  ) ?storekeeper (.*)$/#) {
                let arguments = Self.words(match.1).prefix { $0 != "|" }
                // Printing a completion script is the library's work.
                guard !arguments.contains("--generate-completion-script") else { continue }
                #expect(throws: Never.self, "\(name): \(match.1)") {
                    _ = try CommandLineTool.parseAsRoot(Array(arguments))
                }
                examples += 1
            }
        }
        #expect(examples > 60)
    }

    @Test func `Help of status names what is beside the pipeline among the problems that end it with 2`() {
        let help = CommandLineTool.helpMessage(for: Status.self, columns: 10_000)
        for words in ["a statement that waits for a lock", "webhooks", "refund requests", "figures of revenue"] {
            #expect(help.contains(words), "\(words)")
        }
    }

    @Test func `Options of one name mean the same in every subcommand`() throws {
        let meanings = [
            "json": "Print JSON", "limit": "Maximum number of ", "app": "Bundle id ", "environment": "nvironment",
            "dry-run": "^(?:Print|Count) .*; (?:(?:change|import|send|set) nothing|open none)",
            "actor": "Operator name",
            "note": "Reason, for the audit log",
        ]
        var checked = 0
        for command in CommandLineTool.allCommands {
            let help = CommandLineTool.helpMessage(for: command, columns: 10_000)
            #expect(help.contains("--from <") == help.contains("--to <"), "\(command.configuration.commandName ?? "")")
            for (option, meaning) in meanings {
                let described = try Regex("(?m)^ +--\(option)(?: <[a-z-]+>)? {2,}(.*)$")
                guard let text = help.firstMatch(of: described)?[1].substring else { continue }
                let isMeant = try text.firstMatch(of: Regex(meaning)) != nil
                #expect(isMeant, "\(command.configuration.commandName ?? ""): --\(option) \(text)")
                checked += 1
            }
        }
        #expect(checked > 80)
    }

    /// As a shell splits a command without escapes.
    private static func words(_ line: Substring) -> [String] {
        line.split(separator: "\"", omittingEmptySubsequences: false).enumerated().flatMap { index, part in
            index % 2 == 1 ? [String(part)] : part.split(separator: " ").map(String.init)
        }
    }
}

extension ParsableCommand {
    /// The command and all below it.
    static var allCommands: [any ParsableCommand.Type] {
        let grouped = configuration.groupedSubcommands.flatMap(\.subcommands)
        return [self] + (configuration.subcommands + grouped).flatMap { $0.allCommands }
    }
}
