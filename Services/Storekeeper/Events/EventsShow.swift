import ArgumentParser
import Foundation
import Storage
import Subscriptions

/// `storekeeper events show`: one notification, decoded or as Apple signed it.
struct EventsShow: Verb {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show one notification with its payload decoded.",
        discussion: """
            --original prints the signed payload as Apple sent it, for storekeeper verify or for Apple. Exits 1 where the \
            ledger has no such notification, or with --original where retention has dropped what it said.
            """)

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    @Argument(help: "Its notificationUUID.", transform: UUIDArgument.read)
    var uuid: UUID

    @Flag(help: "Print the signed payload (JWS) and nothing else.")
    var original = false

    func run(in surroundings: Surroundings) async throws {
        let store = NotificationStore(try database.connection(for: "events show", in: surroundings))
        guard let line = try await store.line(uuid) else { throw Failure(unknown: uuid) }
        if original {
            guard let signed = try await store.original(uuid) else { throw Failure(dropped: uuid) }
            return surroundings.print(String(decoding: signed, as: UTF8.self).visible)
        }
        let decoded = try await store.decoded(uuid)
        let row = Row(line, decoded: decoded)
        let event = row.event
        let conflicts = line.contentConflicts
        var facts: [Fact] = [
            ("uuid", event.notificationUUID), ("type", event.notificationType), ("subtype", event.subtype),
            ("says", row.says), ("environment", event.environment), ("app", event.bundleId),
            ("purchase", event.originalTransactionId), ("transaction", event.transactionId),
            ("signed", event.signedAt?.text), ("received", event.receivedAt.text), ("recorded", event.recordedAt.text),
            ("source", event.source),
            (
                "effect",
                event.hasAdvanced ? "newest news of its purchase when it came" : "history only: newer was known"
            ),
            ("conflicts", conflicts == 0 ? nil : "\(conflicts): the same uuid came with other content"),
        ]
        facts += row.anomalies.map { ("anomaly", $0) }
        try FactSheet(
            row: row, facts: facts, payload: decoded.map { Array($0.utf8) },
            noPayload: decoded?.visible ?? "What it said was dropped by age (STOREKEEPER_LEDGER_DAYS)."
        ).print(output, in: surroundings)
    }

    /// For programs: the line of the list, with what it means beside it.
    struct Row: Encodable {
        var event: EventRow
        /// Nil where it is about no purchase, or what it said is gone.
        var says: String?
        var anomalies: [String]

        init(_ line: LedgerLine, decoded: String?) {
            let news = PurchaseEvent(line, decoded: decoded)
            event = EventRow(line)
            says = news?.sentence
            anomalies = news?.anomalies.map(\.sentence) ?? []
        }

        func encode(to encoder: any Encoder) throws {
            try event.encode(to: encoder)
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encodeIfPresent(says, forKey: .says)
            try container.encode(anomalies, forKey: .anomalies)
        }

        private enum CodingKeys: String, CodingKey { case says, anomalies }
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
