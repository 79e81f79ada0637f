import ArgumentParser
import Storage
import Subscriptions

/// `storekeeper customers policy`: what is done in an app where an Apple account is shared.
struct Policy: Verb {
    static let configuration = CommandConfiguration(
        commandName: "policy", abstract: "Show or set what is done where an Apple account is shared.",
        discussion: "It is kept in the database and takes effect at once. Exit codes: 0 done; 1 the world failed.")

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var hand: HandOptions

    @Option(help: "The app, by its bundle id.")
    var app: String

    @Argument(help: "The new policy: \(SharingPolicy.allCases.map(\.rawValue).joined(separator: ", ")).")
    var policy: SharingPolicy?

    func run(in surroundings: Surroundings) async throws {
        let connection = try database.connection(for: "customers", in: surroundings)
        try await KnownApps(connection: connection).warn(about: app, in: surroundings)
        let store = SharingStore(connection)
        if let policy {
            try await store.setPolicy(policy, of: app, at: surroundings.now())
            try await hand.record(
                "customers policy \(policy.rawValue)", on: [app], to: OperatorActionStore(connection),
                in: surroundings)
        }
        let stored = try await store.policies()[app]
        let answer = Answer(app: app, policy: (stored ?? .standard).rawValue, isDefault: stored == nil)
        guard !output.json else { return try output.print(json: answer, in: surroundings) }
        surroundings.print("\(answer.app.visible): \(answer.policy)\(answer.isDefault ? " (the default)" : "")")
    }

    struct Answer: Encodable {
        var app: String
        var policy: String
        var isDefault: Bool
    }
}

extension SharingPolicy: ExpressibleByArgument {}
