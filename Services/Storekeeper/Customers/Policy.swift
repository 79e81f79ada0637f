import ArgumentParser
import Storage
import Subscriptions

/// `storekeeper customers policy`: what is done in an app where an Apple account is shared.
struct Policy: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "policy", abstract: "Show or set what is done where an Apple account is shared.",
        discussion: "It is kept in the database and takes effect at once. Exit codes: 0 done; 1 the world failed.")

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var audit: AuditOptions

    @Option(help: "The app, by its bundle id.")
    var app: String

    @Argument(help: "The new policy: \(SharingPolicy.allCases.map(\.rawValue).joined(separator: ", ")).")
    var policy: SharingPolicy?

    func run(in context: CommandContext) async throws {
        let connection = try database.connection(for: "customers", in: context)
        try await KnownAppsWarning(connection: connection).warn(about: app, in: context)
        let store = SharingStore(connection)
        if let policy {
            try await store.setPolicy(policy, of: app, at: context.now())
            try await audit.record(
                "customers policy \(policy.rawValue)", on: [app], to: OperatorActionStore(connection),
                in: context)
        }
        let stored = try await store.policies()[app]
        let answer = Answer(app: app, policy: (stored ?? .standard).rawValue, isDefault: stored == nil)
        guard !output.json else { return try output.print(json: answer, in: context) }
        context.print("\(answer.app.escaped): \(answer.policy)\(answer.isDefault ? " (the default)" : "")")
    }

    struct Answer: Encodable {
        var app: String
        var policy: String
        var isDefault: Bool
    }
}

extension SharingPolicy: ExpressibleByArgument {}
