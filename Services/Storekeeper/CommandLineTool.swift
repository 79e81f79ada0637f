import ArgumentParser
import Chassis
import Commands

/// The root of the command line.
struct CommandLineTool: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "storekeeper",
        abstract: "Operate and inspect a Storekeeper deployment.",
        discussion: """
            Commands that connect to Postgres, Kafka or Apple read the same environment variables as the services; \
            storekeeper config shows their effective values. Every command that prints data accepts --json.

            Examples:
              storekeeper status
              storekeeper events list --app com.example.app --from 1h
              storekeeper dead-letters list --reason app-unknown --json
              storekeeper --generate-completion-script bash

            \(Exit.table)
            """,
        groupedSubcommands: [
            CommandGroup(
                name: "Inspect:",
                subcommands: [
                    Status.self, Events.self, DeadLetters.self, RecordsCommand.self, EntitlementsCommand.self,
                    Customers.self, Products.self, ExternalPurchases.self,
                    CoverageCommand.self, Insight.self, Audit.self, Verify.self, Config.self,
                ]),
            CommandGroup(
                name: "Recover and repair:",
                subcommands: [
                    Recover.self, Backfill.self, Import.self, Compare.self, Offsets.self, Rebuild.self, Retention.self,
                ]),
            CommandGroup(
                name: "Call Apple's API:",
                subcommands: [
                    Doctor.self, TestNotification.self, Notifications.self, Lookup.self, Extend.self, Token.self,
                    RetentionMessages.self, AdvancedCommerce.self,
                ]),
            CommandGroup(
                name: "Run and deploy:",
                subcommands: [
                    Dev.self, SimulatorCommand.self, Keys.self, WebhooksCommand.self, RefundsCommand.self,
                    OffersCommand.self, ConsoleCommand.self, ACLs.self,
                    Healthcheck.self,
                ]),
        ])

    // Not the configuration's version, which would appear in the help of every subcommand.
    @Flag(help: "Print name and version.")
    var version = false

    func run() throws {
        guard version else { throw CleanExit.helpRequest(self) }
        throw CleanExit.message("storekeeper \(BuildInformation.version)")
    }
}
