import Kafka
import Pipeline
import Postgres
import Storage

import struct Foundation.UUID

/// Sends dead letters through the pipeline again.
package struct ReplayDeadLetters: Sendable {
    /// What it would do: how many dead letters, and how many of them change nothing because the ledger has them.
    package struct Plan: Sendable, Equatable {
        package var found: Int
        package var known: Int

        package init(found: Int, known: Int) {
            self.found = found
            self.known = known
        }

        package var sentence: String {
            guard found > 0 else { return "No dead letter is open." }
            let share =
                switch known {
                case 0: found == 1 ? "does not have it" : "has none of them"
                case found: "has \(found == 1 ? "it" : "all of them") already, so no state changes"
                default: "has \(known) of them already; those change no state"
                }
            return "\(found.counted("dead letter")) would be sent through the pipeline again; the ledger \(share)."
        }
    }

    /// An error names at most so many.
    private static let named = 10

    private let deadLetters: [StoredDeadLetter]
    /// The cluster of their topic.
    private let cluster: String

    /// - Throws: `OperationError` where the topic holds only the beginning of one: sent again it is rejected again.
    package init(_ deadLetters: [StoredDeadLetter], of cluster: String) throws {
        let beginnings = deadLetters.filter(\.deadLetter.isBeginning).map(\.id.description)
        guard beginnings.isEmpty else {
            let names = beginnings.prefix(Self.named).joined(separator: ", ")
            let more = beginnings.count > Self.named ? " and others" : ""
            throw OperationError(
                """
                nothing was sent: of \(beginnings.count.counted("dead letter")) (\(names)\(more)) only the beginning is \
                kept, because the record was too large; dismiss \(beginnings.count == 1 ? "it" : "them"), or select \
                others
                """)
        }
        self.deadLetters = deadLetters
        self.cluster = cluster
    }

    package func plan(on connection: PostgresConnection) async throws -> Plan {
        let uuids = deadLetters.compactMap { $0.contents.notificationUUID.flatMap { UUID(uuidString: $0) } }
        let known = try await NotificationStore(connection).known(uuids)
        return Plan(found: deadLetters.count, known: uuids.count { known.contains($0) })
    }

    /// The rows of the audit log follow the records: a dead letter that was sent and is listed as open is sent again, which is safe.
    package func perform(
        through producer: Producer, sealedBy seal: RecordSeal, on connection: PostgresConnection,
        by performer: Performer
    ) async throws {
        try await producer.send(
            deadLetters.map { seal.sealed(ProducerRecord(replaying: $0.deadLetter, authenticatedBy: seal)) })
        do {
            try await OperatorActionStore(connection).record(
                deadLetters.map { performer.action(DeadLetterActions.replayed, on: $0.id.subject(in: cluster)) })
        } catch {
            throw OperationError(
                """
                \(deadLetters.count.counted("dead letter")) sent, but the audit log could not be written: \(error). They are \
                still listed as open; replaying them again is safe.
                """)
        }
    }
}
