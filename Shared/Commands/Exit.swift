import ArgumentParser
import Chassis

/// Exit codes. Every command ends with one of these.
package enum Exit: Int32, CaseIterable {
    case done = 0
    case failed = 1
    case attention = 2
    case usage = 64
    case configuration = 78
    case interrupted = 130

    private var meaning: String {
        switch self {
        case .done: "success"
        case .failed: "check failed, or a dependency was unavailable"
        case .attention: "status found something that needs attention"
        case .usage: "invalid command line"
        case .configuration: "missing or invalid configuration"
        case .interrupted: "interrupted"
        }
    }

    /// For the help of a program.
    package static let table =
        "Exit codes: " + allCases.map { "\($0.rawValue) \($0.meaning)" }.joined(separator: "; ") + "."

    /// Thrown to end the command without printing anything more.
    package var code: ArgumentParser.ExitCode { ArgumentParser.ExitCode(rawValue) }

    /// The code for what a command threw.
    package static func code(for error: any Error) -> Int32 {
        switch error {
        case is ConfigurationProblems: configuration.rawValue
        case is Interrupted: interrupted.rawValue
        default: AnyCommand.exitCode(for: error).rawValue
        }
    }
}

/// Parsing and its errors are the same for every command.
private struct AnyCommand: ParsableCommand {}
