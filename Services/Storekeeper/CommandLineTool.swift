import ArgumentParser
import Chassis
import Foundation

/// What an operator and a developer do by hand.
struct CommandLineTool: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "storekeeper",
        abstract: "Looks after the line that turns App Store notifications into state.",
        discussion: """
            Commands that reach the database, Kafka or Apple read the same variables as the services; storekeeper config \
            shows what they say. What prints a table prints JSON with --json. \
            --generate-completion-script bash (zsh, fish) prints a script that completes all of this.

            \(Exit.table)
            """,
        groupedSubcommands: [
            CommandGroup(
                name: "Look:",
                subcommands: [
                    Status.self, Events.self, Rejected.self, Customers.self, CoverageCommand.self, Verify.self,
                    Config.self,
                ]),
            CommandGroup(
                name: "Mend:", subcommands: [Recover.self, Backfill.self, Replay.self, Reread.self, Rebuild.self]),
            CommandGroup(
                name: "Ask Apple:", subcommands: [TestNotification.self, Lookup.self, Extend.self, Token.self]),
            CommandGroup(
                name: "Run:",
                subcommands: [
                    Dev.self, CheckBook.self, Setup.self, ACLs.self, Broker.self, Healthcheck.self,
                ]),
        ])
}

/// How a command ends, for scripts and for whoever is called at night.
enum Exit {
    /// Something is as it should not be: `status` found what a person has to look at.
    static let attention = ArgumentParser.ExitCode(2)

    static let table = """
        Exit codes: 0 done, and what was asked is so; 1 it is not so, or the world failed; 2 status found something that \
        wants attention; 64 the command line is wrong; 78 a variable is missing or wrong; 130 interrupted.
        """

    /// The code for what a command threw.
    static func code(for error: any Error) -> Int32 {
        switch error {
        case is ConfigurationProblems: Chassis.ExitCode.configuration.rawValue
        case is Interruption: 130
        default: CommandLineTool.exitCode(for: error).rawValue
        }
    }
}

/// A subcommand, given what it may not fetch for itself.
protocol Verb: ParsableCommand {
    func run(in surroundings: Surroundings) async throws
}

/// Something that cannot be done, said in one sentence with what to do about it.
struct Failure: Error, CustomStringConvertible, Equatable {
    var description: String

    init(_ description: String) { self.description = description }
}
