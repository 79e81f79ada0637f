import Digests
import Subscriptions

import struct Foundation.Date

/// What is decided about a refund request.
package enum RefundDecision: Sendable, Equatable {
    /// Apple is told this.
    case answer(RefundAnswer, rule: String)
    /// Nothing is sent.
    case withhold(WithheldReason, rule: String?)
    /// The rule waits for a usage report until then; a report is looked at earlier.
    case wait(until: Date, rule: String)

    /// Why nothing is sent; the raw values are stored.
    package enum WithheldReason: String, Sendable, CaseIterable {
        /// The account of the purchase has not consented, or there is none. Decided again when it has.
        case consent
        /// The rule says so.
        case rule
        /// The transaction is among those that stay without an answer, for comparison.
        case holdOut
        /// Apple takes no answer about the purchase of a family member.
        case familyShared
        /// The request was found when its time was over, or nothing could be decided within it.
        case late

        /// Whether the request may still be answered while its time is not over.
        package var isFinal: Bool { self != .consent && self != .late }
    }
}

extension RefundPolicy {
    /// - Parameter now: decides how long a rule waits, and nothing else.
    package func decide(_ subject: RefundSubject, at now: Date) -> RefundDecision {
        guard !subject.isFamilyShared else { return .withhold(.familyShared, rule: nil) }
        guard subject.account?.isConsenting(under: consent) == true else { return .withhold(.consent, rule: nil) }
        // The last rule has no conditions.
        guard let rule = rules.first(where: { $0.conditions.hold(for: subject) }) else {
            return .withhold(.rule, rule: nil)
        }
        guard case .answer(let preference, let waitForUsage) = rule.result else {
            return .withhold(.rule, rule: rule.name)
        }
        let end = subject.requestedAt.addingTimeInterval(waitForUsage)
        if subject.usage == nil, now < end { return .wait(until: end, rule: rule.name) }
        if Self.isHeldOut(subject.transactionId, percentage: holdOut) {
            return .withhold(.holdOut, rule: rule.name)
        }
        return .answer(RefundAnswer(preference, about: subject), rule: rule.name)
    }

    /// Whether a transaction is held out: the same on every machine and at every time.
    package static func isHeldOut(_ transactionId: String, percentage: Int) -> Bool {
        guard percentage > 0 else { return false }
        let number = SHA256Hash.digest(Array(transactionId.utf8)).prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return number % 100 < UInt64(percentage)
    }
}
