import ArgumentParser
import Commands
import Contracts
import Foundation
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

    @Argument(help: "appAccountToken of the account.", transform: Self.token)
    var account: String

    func run(in context: CommandContext) async throws {
        let connection = try database.connection(for: "customers", in: context)
        try await KnownAppsWarning(connection: connection).warn(about: app, in: context)
        let store = SharingStore(connection)
        if undo {
            guard try await store.unchoose(account, of: app, in: environment, at: context.now()) else {
                throw CommandError("\(account) was not chosen in \(app.escaped), \(environment.rawValue)")
            }
        } else {
            try await store.choose(account, of: app, in: environment, at: context.now())
        }
        try await audit.record(
            undo ? "customers choose --undo" : "customers choose", on: ["\(app) \(environment.rawValue) \(account)"],
            about: OperatorAction.About(environment, app, account: UUID(uuidString: account)),
            to: OperatorActionStore(connection), in: context)
        guard !output.json else {
            return try output.print(
                json: Page(
                    app: app, environment: environment.rawValue, appAccountToken: account, isChosen: !undo), in: context
            )
        }
        context.print(
            undo
                ? "The policy applies to \(account) again."
                : "\(account) is entitled on every Apple account that it shares.")
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
