import ArgumentParser
import Commands
import Contracts
import Foundation
import Storage

/// `storekeeper keys create`: makes a key and prints it.
struct KeysCreate: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "create", abstract: "Create an API key and print it once.",
        discussion: """
            A key may do what its scopes say, for the apps that it names: give each backend the least that it needs. It ends \
            after a year unless --days or --no-expiry says otherwise.

            Scopes: \(APIScope.allCases.map(\.rawValue).joined(separator: ", ")). The API's \
            /openapi.json names the scope that each operation needs.

            Examples:
              storekeeper keys create --name backend --environment Production --app com.example.app \\
                --scope entitlements:read --scope purchases:write
              storekeeper keys create --name dashboard --environment Sandbox --all-apps --scope entitlements:read --days 90
            """)

    /// Instances of the API read the keys every second; twice that leaves room for a slow answer of the database.
    private static let acceptance: Duration = .seconds(2)

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var audit: AuditOptions

    @Option(help: "Name of the key, for lists and error messages.")
    var name: String

    @Option(help: "Environment of the App Store.")
    var environment: StoreEnvironment

    @Option(
        name: .customLong("scope"),
        help: "Scope; repeat for several.")
    var scopes: [APIScope] = []

    @Option(name: .customLong("app"), help: "Bundle id of an app; repeat for several.")
    var apps: [String] = []

    @Flag(help: "All apps, later ones included.")
    var allApps = false

    @Option(help: "Days until the key expires (default: 365).")
    var days: Int?

    @Flag(help: "The key never expires.")
    var noExpiry = false

    func validate() throws {
        guard (1...100).contains(name.unicodeScalars.count), !name.utf8.contains(where: { $0 < 0x20 }) else {
            throw ValidationError("--name has to be 1 to 100 printable characters")
        }
        if let days, !(1...3650).contains(days) { throw ValidationError("--days has to be 1 to 3650") }
        guard days == nil || !noExpiry else { throw ValidationError("--days and --no-expiry contradict each other") }
        guard apps.isEmpty == allApps else {
            throw ValidationError(
                allApps
                    ? "--app and --all-apps contradict each other"
                    : "the key names no app: give --app for each, or --all-apps")
        }
        guard apps.allSatisfy({ (1...255).contains($0.utf8.count) }) else {
            throw ValidationError("--app has to be a bundle id of 1 to 255 bytes")
        }
        guard !scopes.isEmpty else {
            throw ValidationError(
                "the key names no scope: give --scope for each, of "
                    + APIScope.allCases.map(\.rawValue).joined(separator: ", "))
        }
    }

    func run(in context: CommandContext) async throws {
        let connection = try database.connection(for: "keys", in: context)
        for app in apps { try await KnownAppsWarning(connection: connection).warn(about: app, in: context) }
        let secret = ClientKeySecret(environment: environment, random: context.randomBytes(32))
        let now = context.now()
        let key = ClientKey(
            id: context.id(), name: name, environment: environment,
            scopes: Set(scopes), bundleIds: Set(apps).sorted(), digest: secret.digest, createdAt: now,
            expiresAt: noExpiry ? nil : now.addingTimeInterval(Double(days ?? 365) * 86_400))
        try await ClientKeyStore(connection).add(key)
        let readByAll = ContinuousClock.now + Self.acceptance
        try await audit.record("keys create", of: key, to: OperatorActionStore(connection), in: context)
        // A key that is printed works: a script uses it in its next line.
        try await ContinuousClock().sleep(until: readByAll)
        guard !output.json else {
            return try output.print(json: Created(key: secret.text, about: KeyRow(key, at: now)), in: context)
        }
        context.print(secret.text)
        context.warn(
            "This is the only time the key is shown. Its id is \(key.id.uuidString.lowercased()), for storekeeper keys "
                + "revoke.")
    }

    struct Created: Encodable {
        var key: String
        var about: KeyRow
    }
}

extension APIScope: ExpressibleByArgument {}
