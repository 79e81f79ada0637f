import Storage

/// The replays and dismissals of dead letters in the audit log.
package struct DeadLetterActions: Sendable {
    /// The last action on a dead letter.
    package enum State: String, Codable, Sendable {
        case open
        case replayed
        case dismissed
        /// The database is not configured or unavailable.
        case unknown
    }

    package let store: OperatorActionStore
    package let cluster: String

    package init(store: OperatorActionStore, cluster: String) {
        self.store = store
        self.cluster = cluster
    }

    package static let replayed = "dead-letters replay"
    package static let dismissed = "dead-letters dismiss"

    /// The actions on each dead letter, oldest first.
    package func actions(on ids: [DeadLetterID]) async throws -> [DeadLetterID: [OperatorAction]] {
        let subjects = Dictionary(uniqueKeysWithValues: Set(ids).map { ($0.subject(in: cluster), $0) })
        var actions: [DeadLetterID: [OperatorAction]] = [:]
        for action in try await store.actions(on: Array(subjects.keys)) {
            if let id = subjects[action.subject] { actions[id, default: []].append(action) }
        }
        return actions
    }

    /// Those that no operator replayed or dismissed.
    package func open(_ letters: [StoredDeadLetter]) async throws -> [StoredDeadLetter] {
        let actions = try await actions(on: letters.map(\.id))
        return letters.filter { Self.state(after: actions[$0.id] ?? []) == .open }
    }

    package static func state(after actions: [OperatorAction]) -> State {
        switch actions.last?.action {
        case replayed: .replayed
        case dismissed: .dismissed
        default: .open
        }
    }

    /// Their subjects in the audit log.
    package func subjects(_ letters: [StoredDeadLetter]) -> [String] { letters.map { $0.id.subject(in: cluster) } }
}
