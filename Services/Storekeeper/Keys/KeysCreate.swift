import ArgumentParser
import Contracts
import Foundation
import Storage

/// `storekeeper keys create`: makes a key and prints it.
struct KeysCreate: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "create", abstract: "Create an API key and print it once.",
        discussion: """
            Scopes: \(APIScope.allCases.map(\.rawValue).joined(separator: ", ")). The API's \
            /openapi.json names the scope that each operation needs.

            Examples:
              storekeeper keys create --name backend --environment Production --app com.example.app
              storekeeper keys create --name dashboard --environment Sandbox --scope entitlements:read --days 90 --json
            """)

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var audit: AuditOptions

    @Option(help: "Name of the key, for lists and error messages.")
    var name: String

    @Option(help: "Environment of the App Store.")
    var environment: StoreEnvironment

    @Option(
        name: .customLong("scope"),
        help: """
            Scope; repeat for several (default: all but \(APIScope.customersErase.rawValue) and \
            \(APIScope.purchasesAssign.rawValue)).
            """)
    var scopes: [APIScope] = []

    @Option(name: .customLong("app"), help: "Bundle id of an app; repeat for several (default: all apps).")
    var apps: [String] = []

    @Option(help: "Days until the key expires (default: never).")
    var days: Int?

    func validate() throws {
        guard (1...100).contains(name.count), !name.utf8.contains(where: { $0 < 0x20 }) else {
            throw ValidationError("--name has to be 1 to 100 printable characters")
        }
        if let days, !(1...3650).contains(days) { throw ValidationError("--days has to be 1 to 3650") }
    }

    func run(in context: CommandContext) async throws {
        let connection = try database.connection(for: "keys", in: context)
        for app in apps { try await KnownAppsWarning(connection: connection).warn(about: app, in: context) }
        let secret = ClientKeySecret(environment: environment, random: context.randomBytes(32))
        let now = context.now()
        let key = ClientKey(
            id: context.id(), name: name, environment: environment,
            scopes: scopes.isEmpty ? APIScope.usual : Set(scopes), bundleIds: Set(apps).sorted(),
            digest: secret.digest, createdAt: now, expiresAt: days.map { now.addingTimeInterval(Double($0) * 86_400) })
        try await ClientKeyStore(connection).add(key)
        try await audit.record(
            "keys create", on: [key.id.uuidString.lowercased()], to: OperatorActionStore(connection), in: context)
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
