import ArgumentParser
import Chassis

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
                    Status.self, Events.self, Rejected.self, Customers.self, Products.self, CoverageCommand.self,
                    Trail.self, Verify.self, Config.self,
                ]),
            CommandGroup(
                name: "Mend:",
                subcommands: [Recover.self, Backfill.self, Replay.self, Reread.self, Rebuild.self, Retention.self]),
            CommandGroup(
                name: "Ask Apple:", subcommands: [TestNotification.self, Lookup.self, Extend.self, Token.self]),
            CommandGroup(
                name: "Run:",
                subcommands: [
                    Dev.self, CheckBook.self, Setup.self, ACLs.self, Broker.self, Healthcheck.self,
                ]),
        ])

    // Not the configuration's, which would stand in the help of every subcommand.
    @Flag(help: "Print name and version.")
    var version = false

    func run() throws {
        guard version else { throw CleanExit.helpRequest(self) }
        throw CleanExit.message("storekeeper \(BuildInformation.version)")
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
