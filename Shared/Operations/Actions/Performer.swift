import Storage

import struct Foundation.Date
import struct Foundation.UUID

/// Who performs an operation, when and why: what the audit log says beside the operation itself.
package struct Performer: Sendable, Equatable {
    /// Unicode scalars: what is shown as one character can be any number of bytes.
    package static let longestReason = 1000

    /// The person, or the API key by its name.
    package let name: String
    /// Nil for a person.
    package let apiKey: UUID?
    /// Nil where none was given.
    package let reason: String?
    package let now: Date

    /// - Throws: `OperationError` where the reason is too long.
    package init(_ name: String, apiKey: UUID? = nil, reason: String?, at now: Date) throws(OperationError) {
        self.name = name
        self.apiKey = apiKey
        self.reason = try Self.checked(reason)
        self.now = now
    }

    /// A reason on one line; nil where there is none.
    /// - Throws: `OperationError` where it is too long.
    package static func checked(_ reason: String?) throws(OperationError) -> String? {
        let reason = reason?.split(whereSeparator: \.isWhitespace).joined(separator: " ") ?? ""
        let length = reason.unicodeScalars.count
        guard length <= longestReason else {
            throw OperationError(
                "the reason is too long: it has \(length) characters; give at most \(longestReason)",
                .invalid("reason"))
        }
        return reason.isEmpty ? nil : reason
    }

    /// Its row of the audit log.
    package func action(
        _ operation: String, on subject: String, outcome: OperatorAction.Outcome = .done,
        about: OperatorAction.About? = nil
    ) -> OperatorAction {
        OperatorAction(
            actedAt: now, actor: name, apiKey: apiKey, operation: operation, subject: subject, reason: reason,
            outcome: outcome, about: about)
    }
}

/// What an operation would do now, in the words that the API, the console and the command line show; nothing was changed.
package struct OperationPlan: Sendable, Equatable {
    /// As in the audit log.
    package var operation: String
    /// As in the audit log.
    package var subject: String
    /// The app and the customer that it concerns; nil where it concerns several.
    package var about: OperatorAction.About?
    /// Sentences.
    package var effects: [String]
    /// Whether it would change anything.
    package var isEffective = true
    /// Why it needs a confirmation, a sentence; nil where it needs none.
    package var doubt: String?

    package init(
        _ operation: String, on subject: String, about: OperatorAction.About?, _ effects: [String],
        isEffective: Bool = true, doubt: String? = nil
    ) {
        self.operation = operation
        self.subject = subject
        self.about = about
        self.effects = effects
        self.isEffective = isEffective
        self.doubt = doubt
    }

    /// Its row of the audit log.
    func action(of performer: Performer, outcome: OperatorAction.Outcome = .done) -> OperatorAction {
        performer.action(operation, on: subject, outcome: outcome, about: about)
    }
}

extension ClosedRange where Bound: BinaryInteger {
    /// For an operation's limits of days.
    /// - Throws: `OperationError` where a number of days is outside of them.
    package func check(_ days: Bound) throws(OperationError) {
        guard contains(days) else {
            throw OperationError("\(days) days are out of range: give \(lowerBound) to \(upperBound)", .invalid("days"))
        }
    }
}
