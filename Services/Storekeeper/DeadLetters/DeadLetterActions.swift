import Foundation
import Postgres
import Storage

/// The replays and dismissals of dead letters in the audit log.
struct DeadLetterActions: Sendable {
    /// The last action on a dead letter.
    enum State: String, Codable, Sendable {
        case open
        case replayed
        case dismissed
        /// The database is not configured or unavailable.
        case unknown
    }

    let store: OperatorActionStore
    let cluster: String

    static let replayed = "dead-letters replay"
    static let dismissed = "dead-letters dismiss"

    /// The actions on each dead letter, oldest first.
    func actions(on ids: [DeadLetterID]) async throws -> [DeadLetterID: [OperatorAction]] {
        let subjects = Dictionary(uniqueKeysWithValues: Set(ids).map { ($0.subject(in: cluster), $0) })
        var actions: [DeadLetterID: [OperatorAction]] = [:]
        for action in try await store.actions(on: Array(subjects.keys)) {
            if let id = subjects[action.subject] { actions[id, default: []].append(action) }
        }
        return actions
    }

    /// The same; nil, with a warning, while the database is unavailable: in an incident the list must still work.
    func knownActions(
        on ids: [DeadLetterID], in context: CommandContext
    ) async throws -> [DeadLetterID: [OperatorAction]]? {
        do {
            return try await actions(on: ids)
        } catch let error as PostgresError {
            context.warn("Database unavailable; the state of the dead letters is unknown: \(error.messageWithHint)")
            return nil
        }
    }

    /// Those that no operator replayed or dismissed.
    func open(_ letters: [StoredDeadLetter]) async throws -> [StoredDeadLetter] {
        let actions = try await actions(on: letters.map(\.id))
        return letters.filter { Self.state(after: actions[$0.id] ?? []) == .open }
    }

    static func state(after actions: [OperatorAction]) -> State {
        switch actions.last?.action {
        case replayed: .replayed
        case dismissed: .dismissed
        default: .open
        }
    }

    /// Their subjects in the audit log.
    func subjects(_ letters: [StoredDeadLetter]) -> [String] { letters.map { $0.id.subject(in: cluster) } }
}
