import Foundation

/// What has to be so for a dead letter to be meant; nil is anything.
struct LetterQuery: Sendable {
    var stage: String?
    var reason: String?
    var from: Date?
    var to: Date?

    var isRestricted: Bool { stage != nil || reason != nil || from != nil || to != nil }

    /// That a stage or a reason is none of those that there are, which looks like good news and is mostly a typo.
    func warning(among letters: [LoggedLetter]) -> String? {
        func unknown(_ wanted: String?, _ noun: String, _ all: Set<String>) -> String? {
            guard let wanted, !all.isEmpty, !all.contains(wanted) else { return nil }
            let words = all.sorted().joined(separator: ", ")
            return "No dead letter has the \(noun) \(wanted.visible); there are \(words)."
        }
        return unknown(stage, "stage", Set(letters.map(\.letter.stage)))
            ?? unknown(reason, "reason", Set(letters.map(\.letter.reason)))
    }

    func accepts(_ logged: LoggedLetter) -> Bool {
        (stage ?? logged.letter.stage) == logged.letter.stage
            && (reason ?? logged.letter.reason) == logged.letter.reason
            && (from ?? .distantPast) <= logged.letter.refusedAt && logged.letter.refusedAt < (to ?? .distantFuture)
    }
}

/// Which dead letters something is done to.
enum LetterSelection: Sendable {
    /// These, whatever was done to them before.
    case named([LetterID])
    /// Those that nobody has dealt with and that the query accepts.
    case open(LetterQuery)
}

extension DeadLetterLog {
    func selected(
        _ selection: LetterSelection, _ trail: LetterTrail, in surroundings: Surroundings
    ) async throws -> [LoggedLetter] {
        switch selection {
        case .named(let ids):
            let letters = try await letters(Set(ids))
            let actions = try await trail.actions(on: ids)
            for id in Set(ids).sorted() {
                guard let last = actions[id]?.last else { continue }
                surroundings.warn(
                    "\(id) was \(LetterTrail.state(after: [last]).rawValue) before, at \(last.actedAt.text) by "
                        + "\(last.actor.visible).")
            }
            return letters
        case .open(let query):
            let all = try await letters()
            if let warning = query.warning(among: all) { surroundings.warn(warning) }
            return try await trail.open(all.filter(query.accepts))
        }
    }
}
