import Foundation
import Postgres
import Storage

/// What became of dead letters by hand: read from, and written to, the trail of operators' actions.
struct LetterTrail: Sendable {
    /// What was done last.
    enum State: String, Codable, Sendable {
        case open
        case replayed
        case resolved
        /// No database was asked.
        case unknown
    }

    let store: OperatorActionStore
    let cluster: String

    static let replayed = "rejected.replay"
    static let resolved = "rejected.resolve"

    /// What was done to each of the letters, oldest first.
    func actions(on ids: [LetterID]) async throws -> [LetterID: [OperatorAction]] {
        let subjects = Dictionary(uniqueKeysWithValues: Set(ids).map { ($0.subject(in: cluster), $0) })
        var actions: [LetterID: [OperatorAction]] = [:]
        for action in try await store.actions(on: Array(subjects.keys)) {
            if let id = subjects[action.subject] { actions[id, default: []].append(action) }
        }
        return actions
    }

    /// The same; nil, with a word about it, where the database does not answer: in an incident one looks all the same.
    func knownActions(
        on ids: [LetterID], in surroundings: Surroundings
    ) async throws -> [LetterID: [OperatorAction]]? {
        do {
            return try await actions(on: ids)
        } catch let error as PostgresError {
            surroundings.warn("The database does not say what was done about them: \(error.advised)")
            return nil
        }
    }

    /// Those that nobody has dealt with.
    func open(_ letters: [LoggedLetter]) async throws -> [LoggedLetter] {
        let actions = try await actions(on: letters.map(\.id))
        return letters.filter { Self.state(after: actions[$0.id] ?? []) == .open }
    }

    static func state(after actions: [OperatorAction]) -> State {
        switch actions.last?.action {
        case replayed: .replayed
        case resolved: .resolved
        default: .open
        }
    }

    /// What the trail calls them.
    func subjects(_ letters: [LoggedLetter]) -> [String] { letters.map { $0.id.subject(in: cluster) } }
}
