import ArgumentParser
import Commands
import Contracts
import Foundation
import Operations
import Storage

/// `storekeeper customers choose`: the account of the app that is entitled on a shared Apple account.
struct Choose: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "choose",
        abstract: "Choose the entitled account of a shared Apple account.",
        discussion: """
            On a shared Apple account, chosen accounts are entitled and all others are not, whatever the policy. Exit \
            codes: 0 done; 1 with --undo, the account was not chosen.

            Examples:
              storekeeper customers choose --app com.example.app --environment Production 0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0
              storekeeper customers choose --undo --app com.example.app --environment Production 0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0
            """)

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var audit: AuditOptions

    @Option(help: "Environment of the App Store.")
    var environment: StoreEnvironment

    @Option(help: "Bundle id of the app.")
    var app: String

    @Flag(help: "Remove the choice; the policy applies again.")
    var undo = false

    @Flag(help: "Print what would happen; change nothing.")
    var dryRun = false

    @Argument(help: "appAccountToken of the account.", transform: Self.token)
    var account: String

    func run(in context: CommandContext) async throws {
        let connection = try database.connection(for: "customers", in: context)
        try await KnownAppsWarning(connection: connection).warn(about: app, in: context)
        guard let token = UUID(uuidString: account) else { return }
        let operation = ChooseAccount(token, of: app, in: environment, undo: undo)
        guard !dryRun else { return try await operation.plan(on: connection).show(output, in: context) }
        let plan = try await operation.perform(on: connection, by: try audit.performer(in: context))
        guard !output.json else {
            return try output.print(
                json: Page(
                    app: app, environment: environment.rawValue, appAccountToken: account, isChosen: !undo), in: context
            )
        }
        plan.effects.forEach(context.print)
    }

    private struct Page: Encodable {
        var app: String
        var environment: String
        var appAccountToken: String
        var isChosen: Bool
    }

    private static func token(_ text: String) throws -> String {
        guard let token = UUID(uuidString: text) else { throw ValidationError("\(text.escaped) is not a UUID") }
        return token.uuidString.lowercased()
    }
}
