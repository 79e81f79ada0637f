import ArgumentParser
import Chassis

/// How a command ends, for scripts and for whoever is called at night. Nothing ends with another code.
enum Exit: Int32, CaseIterable {
    case done = 0
    case failed = 1
    case attention = 2
    case usage = 64
    case configuration = 78
    case interrupted = 130

    private var meaning: String {
        switch self {
        case .done: "done, and what was asked is so"
        case .failed: "it is not so, or the world failed"
        case .attention: "status found something that wants attention"
        case .usage: "the command line is wrong"
        case .configuration: "a variable is missing or wrong"
        case .interrupted: "interrupted"
        }
    }

    /// For the help.
    static let table = "Exit codes: " + allCases.map { "\($0.rawValue) \($0.meaning)" }.joined(separator: "; ") + "."

    /// To be thrown where everything has been said.
    var code: ArgumentParser.ExitCode { ArgumentParser.ExitCode(rawValue) }

    /// The code for what a command threw.
    static func code(for error: any Error) -> Int32 {
        switch error {
        case is ConfigurationProblems: configuration.rawValue
        case is Interruption: interrupted.rawValue
        default: CommandLineTool.exitCode(for: error).rawValue
        }
    }
}
