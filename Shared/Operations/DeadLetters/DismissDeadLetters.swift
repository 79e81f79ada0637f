import Postgres
import Storage

import struct Foundation.UUID

/// Closes dead letters that need no replay. They stay in the topic until its retention deletes them.
package struct DismissDeadLetters: Sendable {
    /// Which dead letters.
    package enum Selected: Sendable {
        /// As an operator chose them, in the topic of a cluster.
        case chosen([StoredDeadLetter], cluster: String)
        /// Those of a frozen list of the console, which is then settled.
        case selection(UUID)
    }

    private let deadLetters: Selected

    package init(_ deadLetters: Selected) { self.deadLetters = deadLetters }

    /// All of them or none, with their rows of the audit log.
    /// - Returns: false where something was done with the selection before.
    /// - Throws: `OperationError` without a reason: a dismissal without one helps no reader of the audit log.
    @discardableResult
    package func perform(on connection: PostgresConnection, by performer: Performer) async throws -> Bool {
        guard let reason = performer.reason else {
            throw OperationError("a dismissal needs a reason", .invalid("reason"))
        }
        switch deadLetters {
        case .chosen(let deadLetters, let cluster):
            try await OperatorActionStore(connection).record(
                deadLetters.map { performer.action(DeadLetterActions.dismissed, on: $0.id.subject(in: cluster)) })
            return true
        case .selection(let id):
            return try await DeadLetterSelections(connection).dismiss(
                id, by: performer.name, note: reason, at: performer.now
            ) { cluster, deadLetters in
                deadLetters.compactMap { DeadLetterID($0) }.map {
                    performer.action(DeadLetterActions.dismissed, on: $0.subject(in: cluster))
                }
            }
        }
    }
}
