import Commands
import Contracts
import Foundation
import Operations

/// Filters for dead letters; nil matches everything.
struct DeadLetterQuery: Sendable {
    var stage: String?
    var reason: String?
    /// As the payload says, which may be unverified.
    var app: String?
    var environment: StoreEnvironment?
    var from: Date?
    var to: Date?

    var isRestricted: Bool {
        stage != nil || reason != nil || app != nil || environment != nil || from != nil || to != nil
    }

    /// A warning where no dead letter has this stage, reason or app: an empty list looks like good news and is mostly a
    /// typo.
    func warning(among deadLetters: [StoredDeadLetter]) -> String? {
        func unknown(_ wanted: String?, _ noun: String, _ all: Set<String>) -> String? {
            guard let wanted, !all.isEmpty, !all.contains(wanted) else { return nil }
            let words = all.sorted().joined(separator: ", ")
            return "No dead letter has the \(noun) \(wanted.escaped); there are \(words)."
        }
        return unknown(stage, "stage", Set(deadLetters.map(\.deadLetter.stage)))
            ?? unknown(reason, "reason", Set(deadLetters.map(\.deadLetter.reason)))
            ?? unknown(app, "app", Set(deadLetters.compactMap(\.contents.bundleId)))
    }

    func accepts(_ logged: StoredDeadLetter) -> Bool {
        (stage ?? logged.deadLetter.stage) == logged.deadLetter.stage
            && (reason ?? logged.deadLetter.reason) == logged.deadLetter.reason
            && (app == nil || app == logged.contents.bundleId)
            && (environment == nil || environment?.rawValue == logged.contents.environment)
            && (from ?? .distantPast) <= logged.deadLetter.rejectedAt
            && logged.deadLetter.rejectedAt < (to ?? .distantFuture)
    }
}

/// The dead letters to act on.
enum DeadLetterSelection: Sendable {
    /// These ids, whether open or not.
    case named([DeadLetterID])
    /// Open ones that match the filters.
    case open(DeadLetterQuery)
}

extension DeadLetterLog {
    func selected(
        _ selection: DeadLetterSelection, _ auditLog: DeadLetterActions, in context: CommandContext
    ) async throws -> [StoredDeadLetter] {
        switch selection {
        case .named(let ids):
            let deadLetters = try await deadLetters(Set(ids))
            let actions = try await auditLog.actions(on: deadLetters)
            for id in Set(ids).sorted() {
                guard let last = actions[id]?.last else { continue }
                context.warn(
                    "\(id) was already \(DeadLetterActions.state(after: [last]).rawValue) at \(last.actedAt.text) by "
                        + "\(last.actor.escaped).")
            }
            return deadLetters
        case .open(let query):
            let all = try await deadLetters()
            if let warning = query.warning(among: all) { context.warn(warning) }
            return try await auditLog.open(all.filter(query.accepts))
        }
    }
}
