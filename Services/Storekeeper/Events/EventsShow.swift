import ArgumentParser
import Foundation
import Storage

/// `storekeeper events show`: one notification, decoded or as Apple signed it.
struct EventsShow: Verb {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show one notification with its payload decoded.",
        discussion: """
            --original prints the signed payload as Apple sent it, for storekeeper verify or for Apple. Exits 1 where the \
            ledger has no such notification.
            """)

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    @Argument(help: "Its notificationUUID.", transform: UUIDArgument.read)
    var uuid: UUID

    @Flag(help: "Print the signed payload (JWS) and nothing else.")
    var original = false

    func run(in surroundings: Surroundings) async throws {
        let store = NotificationStore(try database.connection(for: "events show", in: surroundings))
        guard let line = try await store.line(uuid), let decoded = try await store.decoded(uuid),
            let signed = try await store.original(uuid)
        else {
            throw Failure(
                "the ledger has no notification \(uuid.uuidString.lowercased()); storekeeper rejected list shows what was refused"
            )
        }
        if original { return surroundings.print(String(decoding: signed, as: UTF8.self).visible) }
        let row = EventRow(line)
        let conflicts = line.contentConflicts
        let facts: [(name: String, text: String?)] = [
            ("uuid", row.notificationUUID), ("type", row.notificationType), ("subtype", row.subtype),
            ("environment", row.environment), ("app", row.bundleId), ("purchase", row.originalTransactionId),
            ("transaction", row.transactionId), ("signed", row.signedAt?.text), ("received", row.receivedAt.text),
            ("recorded", row.recordedAt.text), ("source", row.source),
            ("effect", row.hasAdvanced ? "newest news of its purchase when it came" : "history only: newer was known"),
            ("conflicts", conflicts == 0 ? nil : "\(conflicts): the same uuid came with other content"),
        ]
        try FactSheet(row: row, facts: facts, payload: Array(decoded.utf8), noPayload: decoded.visible)
            .print(output, in: surroundings)
    }
}

/// A uuid in an argument.
enum UUIDArgument {
    static func read(_ text: String) throws -> UUID {
        guard let uuid = UUID(uuidString: text) else {
            throw ValidationError("\(text.visible) is not a uuid such as 0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0")
        }
        return uuid
    }
}
