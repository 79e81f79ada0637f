import ArgumentParser
import Chassis
import Foundation
import Operations

/// The message of a failed command: what failed, what to do, and the usage where the command line was wrong.
package struct ErrorPresentation {
    package let text: String
    /// The text without `Error:` and usage.
    package var message: String {
        let first = text.components(separatedBy: "\nUsage: ")[0]
        return first.hasPrefix("Error: ") ? String(first.dropFirst(7)) : first
    }

    package let exitCode: Int32

    /// Nil where the argument parser has its own message: help, or an error that it found.
    /// - Parameters:
    ///   - command: the subcommand that ran.
    ///   - root: of the program.
    package init?(
        _ error: any Error, of command: (any ParsableCommand.Type)?, in root: any ParsableCommand.Type
    ) {
        exitCode = Exit.code(for: error)
        switch error {
        case is Interrupted: text = ""
        case let problems as ConfigurationProblems: text = "Error: \(problems)"
        case let fault as ValidationError:
            guard let command else { return nil }
            text = """
                Error: \(fault.message)
                Usage: \(root.usageString(for: command))
                  See '\(Self.words(of: command, in: root)) --help' for more information.
                """
        case let error as any HintedError: text = "Error: \(error.messageWithHint)"
        default: return nil
        }
    }

    /// For programs, where the command was to print JSON: `{"error": {"exitCode": 64, "message": "…"}}`.
    package static func json(_ message: String, suggestion: String?, exitCode: Int32) -> String {
        struct Report: Encodable {
            struct Fault: Encodable {
                var exitCode: Int32
                var message: String
                var didYouMean: String?
            }

            var error: Fault
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let report = Report(error: .init(exitCode: exitCode, message: message, didYouMean: suggestion))
        return (try? encoder.encode(report)).map { String(decoding: $0, as: UTF8.self) } ?? message
    }

    /// The words of a command line: `storekeeper dead-letters list`.
    private static func words(of command: any ParsableCommand.Type, in root: any ParsableCommand.Type) -> String {
        path(to: command, from: root)?.joined(separator: " ") ?? root._commandName
    }

    private static func path(
        to wanted: any ParsableCommand.Type, from command: any ParsableCommand.Type
    ) -> [String]? {
        let name = command._commandName
        if command == wanted { return [name] }
        let below =
            command.configuration.subcommands + command.configuration.groupedSubcommands.flatMap(\.subcommands)
        return below.lazy.compactMap { path(to: wanted, from: $0) }.first.map { [name] + $0 }
    }
}
