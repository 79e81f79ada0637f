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
    ///
    /// What was done before a dead letter was rejected was done to another one at its offset, before the topic was deleted and created
    /// again.
    package func actions(on deadLetters: [StoredDeadLetter]) async throws -> [DeadLetterID: [OperatorAction]] {
        let subjects = Dictionary(deadLetters.map { ($0.id.subject(in: cluster), $0) }, uniquingKeysWith: { $1 })
        var actions: [DeadLetterID: [OperatorAction]] = [:]
        for action in try await store.actions(on: Array(subjects.keys)) {
            guard let deadLetter = subjects[action.subject], action.actedAt >= deadLetter.deadLetter.rejectedAt else {
                continue
            }
            actions[deadLetter.id, default: []].append(action)
        }
        return actions
    }

    /// Those that no operator replayed or dismissed.
    package func open(_ deadLetters: [StoredDeadLetter]) async throws -> [StoredDeadLetter] {
        let actions = try await actions(on: deadLetters)
        return deadLetters.filter { Self.state(after: actions[$0.id] ?? []) == .open }
    }

    package static func state(after actions: [OperatorAction]) -> State {
        switch actions.last?.operation {
        case replayed: .replayed
        case dismissed: .dismissed
        default: .open
        }
    }
}
