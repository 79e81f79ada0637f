import ArgumentParser
import Chassis

/// What is printed where a command fails: what happened, what to do, and how the verb is used where that was the fault.
struct Complaint {
    let text: String
    let exitCode: Int32

    /// Nil for what the parser says itself: a request for help, a mistake that it found.
    /// - Parameter verb: the one that ran.
    init?(_ error: any Error, of verb: (any ParsableCommand.Type)?) {
        exitCode = Exit.code(for: error)
        switch error {
        case is Interruption: text = ""
        case let problems as ConfigurationProblems: text = "Error: \(problems)"
        case let fault as ValidationError:
            guard let verb else { return nil }
            text = """
                Error: \(fault.message)
                Usage: \(CommandLineTool.usageString(for: verb))
                  See '\(Self.words(of: verb)) --help' for more information.
                """
        case let error as any Advised: text = "Error: \(error.advised)"
        default: return nil
        }
    }

    /// How the verb is called: `storekeeper rejected list`.
    private static func words(of verb: any ParsableCommand.Type) -> String {
        path(to: verb, from: CommandLineTool.self)?.joined(separator: " ") ?? CommandLineTool._commandName
    }

    private static func path(
        to verb: any ParsableCommand.Type, from command: any ParsableCommand.Type
    ) -> [String]? {
        let name = command._commandName
        if command == verb { return [name] }
        let below =
            command.configuration.subcommands + command.configuration.groupedSubcommands.flatMap(\.subcommands)
        return below.lazy.compactMap { path(to: verb, from: $0) }.first.map { [name] + $0 }
    }
}
