import ArgumentParser
import Commands
import Foundation
import Storage

/// `storekeeper keys revoke`: ends a key for good.
struct KeysRevoke: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke", abstract: "Revoke an API key.",
        discussion: """
            Effective on all instances within 5 seconds; cannot be undone. Exit codes: 0 done; 1 there is no such key, or \
            it was revoked before.

            Example: storekeeper keys revoke 0f1e2d3c-4b5a-4978-8796-a5b4c3d2e1f0 --note "leaked in a log"
            """)

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var audit: AuditOptions

    @Argument(help: "Id of the key, from storekeeper keys list.", transform: Self.id)
    var id: UUID

    func run(in context: CommandContext) async throws {
        let connection = try database.connection(for: "keys", in: context)
        let name = id.uuidString.lowercased()
        let store = ClientKeyStore(connection)
        guard let key = try await store.all().first(where: { $0.id == id }),
            try await store.revoke(id, at: context.now())
        else {
            throw CommandError("there is no key \(name) that could be revoked; storekeeper keys list shows all")
        }
        try await audit.record("keys revoke", of: key, to: OperatorActionStore(connection), in: context)
        guard !output.json else { return try output.print(json: ["revoked": name], in: context) }
        context.print("\(name) is revoked; every instance refuses it within 5 seconds.")
    }

    private static func id(_ text: String) throws -> UUID {
        guard let id = UUID(uuidString: text) else {
            throw ValidationError("\(text.escaped) is not the id of a key; storekeeper keys list shows them")
        }
        return id
    }
}
