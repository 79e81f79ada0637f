import ArgumentParser
import Commands
import Storage

/// `storekeeper keys`: keys of the API.
struct Keys: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys", abstract: "Create, list and revoke API keys of app backends.",
        discussion: """
            A key belongs to one environment, may do what its scopes say, and asks about the apps it is for. It is \
            printed once, when it is created; only its SHA-256 is stored. A revocation is effective on all instances \
            within 5 seconds.

            Examples:
              storekeeper keys create --name backend --environment Production --app com.example.app \\
                --scope entitlements:read
              storekeeper keys list
              storekeeper keys revoke 0f1e2d3c-4b5a-4978-8796-a5b4c3d2e1f0
            """,
        subcommands: [KeysCreate.self, KeysList.self, KeysRevoke.self])
}

extension AuditOptions {
    /// Records what was done with a key, with its environment: an entry for each of its apps, or one for all.
    func record(
        _ operation: String, of key: ClientKey, to auditLog: OperatorActionStore, in context: CommandContext
    ) async throws {
        let performer = try performer(in: context)
        let apps: [String?] = key.bundleIds.isEmpty ? [nil] : key.bundleIds
        try await auditLog.record(
            apps.map { app in
                performer.action(
                    operation, on: key.id.uuidString.lowercased(), about: OperatorAction.About(key.environment, app))
            })
    }
}
