import ArgumentParser
import Chassis
// For `stdout`, which C declares as a variable.
@preconcurrency import Foundation
import Operations

/// A command that gets its clock, identifiers, environment and terminal from ``CommandContext``.
package protocol Subcommand: ParsableCommand {
    func run(in context: CommandContext) async throws
}

/// What failed, why, and what to do, in one sentence for the operator.
package typealias CommandError = OperationError

extension ParsableCommand {
    /// Runs the subcommand that the arguments of this process name, and ends the process with its exit code.
    package static func main(in context: CommandContext) async -> Never {
        // Each line at once also to a file or a pipe: a command that runs until it is stopped would keep them to itself.
        setvbuf(stdout, nil, _IOLBF, 0)
        var running: (any Subcommand.Type)?
        do {
            var command = try parseAsRoot()
            // Anything else is a request for help, which the parser answers itself.
            guard let subcommand = command as? any Subcommand else {
                try command.run()
                Foundation.exit(0)
            }
            running = type(of: subcommand)
            try await subcommand.run(in: context)
            // Some of it waits to be written, and a full disk takes none: half a report must not look like all of it.
            guard fflush(nil) == 0 else {
                throw CommandError("the output cannot be written: \(String(cString: strerror(errno)))")
            }
            // What could not be written before its end; only the stream remembers it.
            guard ferror(stdout) == 0 else { throw CommandError("a part of the output could not be written") }
            Foundation.exit(0)
        } catch {
            let suggestion = running == nil ? suggestion(for: Array(CommandLine.arguments.dropFirst())) : nil
            guard let presentation = ErrorPresentation(error, of: running, in: Self.self) else {
                let code = exitCode(for: error).rawValue
                if code != 0, CommandLine.arguments.contains("--json") {
                    let message = message(for: error)
                    // Empty where the exit code is the result, such as 2 of status, and the report says the rest.
                    if !message.isEmpty {
                        context.warn(ErrorPresentation.json(message, suggestion: suggestion, exitCode: code))
                    }
                    Foundation.exit(code)
                }
                if let suggestion { context.warn("Did you mean '\(suggestion)'?") }
                exit(withError: error)
            }
            if CommandLine.arguments.contains("--json"), !presentation.text.isEmpty {
                context.warn(
                    ErrorPresentation.json(presentation.message, suggestion: nil, exitCode: presentation.exitCode))
                Foundation.exit(presentation.exitCode)
            }
            if !presentation.text.isEmpty { context.warn(presentation.text) }
            Foundation.exit(presentation.exitCode)
        }
    }

    /// The subcommand that a misspelt one was to be; nil where none is near, or none is misspelt.
    package static func suggestion(for arguments: [String]) -> String? {
        var command: any ParsableCommand.Type = Self.self
        var words = [Self._commandName]
        // Behind the first word `help`, words name a command as without it.
        for argument in arguments.dropFirst(arguments.first == "help" ? 1 : 0) {
            let below =
                command.configuration.subcommands + command.configuration.groupedSubcommands.flatMap(\.subcommands)
            if let next = below.first(where: { $0._commandName == argument }) {
                command = next
                words.append(argument)
                continue
            }
            guard !argument.hasPrefix("-"), !below.isEmpty else { return nil }
            return NearestName.of(argument, among: below.map { $0._commandName }).map {
                (words + [$0]).joined(separator: " ")
            }
        }
        return nil
    }
}
