import ArgumentParser
import Foundation
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
            Foundation.exit(0)
        } catch {
            guard let presentation = ErrorPresentation(error, of: running, in: Self.self) else {
                exit(withError: error)
            }
            if !presentation.text.isEmpty { context.warn(presentation.text) }
            Foundation.exit(presentation.exitCode)
        }
    }
}
