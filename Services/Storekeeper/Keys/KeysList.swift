import ArgumentParser
import Commands
import Contracts
import Foundation
import Storage

/// `storekeeper keys list`: all keys, without the keys themselves.
struct KeysList: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List API keys and their last use.",
        discussion: "Example: storekeeper keys list --json")

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func run(in context: CommandContext) async throws {
        let now = context.now()
        let keys = try await ClientKeyStore(try database.connection(for: "keys", in: context)).all()
        try output.list(
            keys.map { KeyRow($0, at: now) },
            none: "There is no API key; create one with storekeeper keys create.", in: context)
    }
}

/// A key as lists show it.
struct KeyRow: ListedRow {
    static let columns: [TextTable.Column] = [
        "id", "name", "environment", "state", "apps", "scopes", "last used", "expires",
    ]

    var id: String
    var name: String
    var environment: String
    var state: String
    var apps: [String]
    var scopes: [String]
    var createdAt: Date
    var expiresAt: Date?
    var revokedAt: Date?
    var lastUsedAt: Date?

    init(_ key: ClientKey, at now: Date) {
        id = key.id.uuidString.lowercased()
        name = key.name
        environment = key.environment.rawValue
        state = key.isValid(at: now) ? "active" : key.revokedAt != nil ? "revoked" : "expired"
        apps = key.bundleIds
        scopes = key.scopes.map(\.rawValue).sorted()
        createdAt = key.createdAt
        expiresAt = key.expiresAt
        revokedAt = key.revokedAt
        lastUsedAt = key.lastUsedAt
    }

    var cells: [String] {
        [
            id, name, environment, state, apps.isEmpty ? "all" : apps.joined(separator: ","),
            scopes.count == APIScope.allCases.count ? "all" : scopes.joined(separator: ","),
            lastUsedAt?.text ?? "never", expiresAt?.text ?? "never",
        ]
    }
}
