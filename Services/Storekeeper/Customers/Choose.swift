import ArgumentParser
import Contracts
import Foundation
import Storage

/// `storekeeper customers choose`: serve this account of the app where it shares an Apple account.
struct Choose: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "choose",
        abstract: "Serve an account of the app wherever it shares an Apple account, or stop that.",
        discussion: """
            On its Apple account the chosen one is served and the others are not, unless they are chosen as well, \
            whatever the policy. Exit codes: 0 done; 1 nothing was there to take back, or the world failed.
            """)

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var audit: AuditOptions

    @Option(help: "Production or Sandbox.")
    var environment: StoreEnvironment

    @Option(help: "The app, by its bundle id.")
    var app: String

    @Flag(help: "Take the choice back; the policy decides again.")
    var undo = false

    @Argument(help: "The account: its appAccountToken.", transform: Self.token)
    var account: String

    func run(in context: CommandContext) async throws {
        let connection = try database.connection(for: "customers", in: context)
        try await KnownAppsWarning(connection: connection).warn(about: app, in: context)
        let store = SharingStore(connection)
        if undo {
            guard try await store.unchoose(account, of: app, in: environment) else {
                throw CommandError("\(account) was not chosen in \(app.escaped), \(environment.rawValue)")
            }
        } else {
            try await store.choose(account, of: app, in: environment, at: context.now())
        }
        try await audit.record(
            undo ? "customers choose --undo" : "customers choose", on: ["\(app) \(environment.rawValue) \(account)"],
            to: OperatorActionStore(connection), in: context)
        context.print(
            undo
                ? "\(account) is served as the policy says."
                : "\(account) is served wherever it shares an Apple account.")
    }

    private static func token(_ text: String) throws -> String {
        guard let token = UUID(uuidString: text) else { throw ValidationError("\(text.escaped) is not a UUID") }
        return token.uuidString.lowercased()
    }
}
