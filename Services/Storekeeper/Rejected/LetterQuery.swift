import Foundation

/// What has to be so for a dead letter to be meant; nil is anything.
struct LetterQuery: Sendable {
    var stage: String?
    var reason: String?
    var from: Date?
    var to: Date?

    var isRestricted: Bool { stage != nil || reason != nil || from != nil || to != nil }

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
    func selected(_ selection: LetterSelection, _ trail: LetterTrail) async throws -> [LoggedLetter] {
        switch selection {
        case .named(let ids): try await letters(Set(ids))
        case .open(let query): try await trail.open(try await letters().filter(query.accepts))
        }
    }
}
