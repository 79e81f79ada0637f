import ArgumentParser
import Storage
import Subscriptions

/// `storekeeper customers policy`: the policy of an app for shared Apple accounts.
struct Policy: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "policy", abstract: "Show or set the policy for shared Apple accounts.",
        discussion: """
            Stored in the database; effective at once.

            Example: storekeeper customers policy --app com.example.app firstWins
            """)

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var audit: AuditOptions

    @Option(help: "Bundle id of the app.")
    var app: String

    @Argument(help: "New policy: \(SharingPolicy.allCases.map(\.rawValue).joined(separator: ", ")).")
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
