import AppStore
import ArgumentParser
import Commands
import Foundation
import Operations
import Storage
import Subscriptions

/// `storekeeper events show`: one notification, decoded or as Apple signed it.
struct EventsShow: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show one notification with its payload decoded.",
        discussion: """
            --original prints the signed payload as Apple sent it, for storekeeper verify or for Apple's support. Exit \
            codes: 0 found; 1 not stored, or with --original deleted by retention.

            Examples:
              storekeeper events show 0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0
              storekeeper events show 0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0 --original | storekeeper verify -
            """)

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    @Argument(help: "notificationUUID of the notification.", transform: UUIDArgument.read)
    var uuid: UUID

    @Flag(help: "Print only the signed payload (JWS).")
    var original = false

    func run(in context: CommandContext) async throws {
        let connection = try database.connection(for: "events show", in: context)
        let store = NotificationStore(connection)
        guard let line = try await store.line(uuid) else { throw CommandError(unknown: uuid) }
        if original {
            guard let signed = try await store.original(uuid) else { throw CommandError(dropped: uuid) }
            return context.print(String(decoding: signed, as: UTF8.self).escaped)
        }
        let decoded = try await store.decoded(uuid)
        let row = Row(
            line, decoded: decoded, attempts: try await SendAttemptStore(connection).attempts(at: uuid))
        let event = row.event
        let conflicts = line.contentConflicts
        var facts: [Fact] = [
            ("uuid", event.notificationUUID), ("type", event.notificationType), ("subtype", event.subtype),
            ("says", row.says), ("environment", event.environment), ("app", event.bundleId),
            ("purchase", event.originalTransactionId), ("transaction", event.transactionId),
            ("signed", event.signedAt?.text), ("received", event.receivedAt.text),
            ("late", row.lateness),
            ("recorded", event.recordedAt.text),
            ("source", event.source),
            (
                "effect",
                event.hasAdvanced ? "newest of its purchase on arrival" : "none: a newer notification was known"
            ),
            ("conflicts", conflicts == 0 ? nil : "\(conflicts): the same uuid arrived with other content"),
        ]
        facts += row.attempts.map { attempt in
            ("attempt", "\(attempt.at.text) \(attempt.result)\(attempt.remedy.map { ": \($0)" } ?? "")")
        }
        facts += row.advancedCommerce.map { ("commerce", $0) }
        facts += row.anomalies.map { ("anomaly", $0) }
        try DetailView(
            row: row, facts: facts, payload: decoded.map { Array($0.utf8) },
            noPayload: decoded?.escaped ?? "deleted by retention (STOREKEEPER_LEDGER_DAYS)"
        ).print(output, in: context)
    }

    /// As JSON: the row of the list, with its description.
    struct Row: Encodable {
        var event: EventRow
        /// Nil where it concerns no purchase, or retention deleted it.
        var says: String?
        var anomalies: [String]
        /// What the payload has of Advanced Commerce, in words.
        var advancedCommerce: [String]
        /// Apple's attempts to deliver it, oldest first, where one failed or the ledger lacked it.
        var attempts: [Attempt]
        /// How late it was delivered, and what to check; nil where it was in time.
        var lateness: String?

        struct Attempt: Encodable {
            var at: Date
            /// Apple's `sendAttemptResult`.
            var result: String
            /// What to check; nil after a success.
            var remedy: String?
        }

        init(_ line: LedgerLine, decoded: String?, attempts: [RecordedAttempt]) {
            self.attempts = attempts.map { Attempt(at: $0.attemptedAt, result: $0.result, remedy: $0.remedy) }
            lateness = line.lateness(after: attempts)
            let news = PurchaseEvent(line, decoded: decoded)
            event = EventRow(line)
            says = news?.sentence
            advancedCommerce = AdvancedCommerceInfo.lines(decoded: decoded)
            anomalies = news?.anomalies.map(\.sentence) ?? []
        }

        func encode(to encoder: any Encoder) throws {
            try event.encode(to: encoder)
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encodeIfPresent(says, forKey: .says)
            try container.encode(anomalies, forKey: .anomalies)
            if !attempts.isEmpty { try container.encode(attempts, forKey: .attempts) }
            if !advancedCommerce.isEmpty { try container.encode(advancedCommerce, forKey: .advancedCommerce) }
        }

        private enum CodingKeys: String, CodingKey { case says, anomalies, attempts, advancedCommerce }
    }
}

extension CommandError {
    /// The ledger never stored it.
    init(unknown uuid: UUID) {
        self.init(
            """
            no notification \(uuid.uuidString.lowercased()) in the ledger; search with storekeeper events list, or \
            storekeeper dead-letters list for rejected ones
            """)
    }

    /// The ledger stored it; retention deleted its contents.
    init(dropped uuid: UUID) {
        self.init(
            """
            the signed original of notification \(uuid.uuidString.lowercased()) was deleted by retention \
            (STOREKEEPER_LEDGER_DAYS); storekeeper events show prints what remains
            """)
    }
}

/// A uuid in an argument.
enum UUIDArgument {
    static func read(_ text: String) throws -> UUID {
        guard let uuid = UUID(uuidString: text) else {
            throw ValidationError("\(text.escaped) is not a uuid such as 0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0")
        }
        return uuid
    }
}
