import Subscriptions

import struct Foundation.Date
import struct Foundation.TimeInterval

/// A customer switched auto-renew off.
package struct Cancellation: Sendable, Equatable {
    /// The part of the period in which the customer cancelled.
    package enum Timing: String, Sendable, Hashable, CaseIterable {
        /// Within a day of the beginning: the customer bought one period only.
        case atOnce
        /// In the first half.
        case early
        /// In the second half.
        case late
        /// Within the last day, perhaps after a reminder of the coming charge.
        case lastDay
        /// The charge had failed already.
        case afterEnd
        /// The period has no dates.
        case unknown
    }

    /// The transaction of the period in which the customer cancelled.
    package var transactionId: String?
    /// The time of the cancellation by Apple's clock.
    package var at: Date
    /// Seconds from ``at`` to the end of the period; negative after the end, nil where the end is unknown.
    package var secondsBeforeEnd: TimeInterval?
    /// The part of the period in which the customer cancelled.
    package var timing: Timing
    /// Whether the customer switched auto-renew on again within the same period.
    package var isUndone: Bool
}

extension Cancellation {
    /// All cancellations of one purchase, in Apple's order. A switch by Apple after a refund is not among them.
    ///
    /// [subtype](https://developer.apple.com/documentation/appstoreservernotifications/subtype)
    /// - Parameter events: all events of the purchase, in any order, with any repetitions.
    package static func all(in events: some Sequence<PurchaseEvent>) -> [Cancellation] {
        let events = Array(events)
        let refunds = events.filter { $0.eventType == .refunded || $0.eventType == .familyAccessRevoked }
        let switches = RenewalSwitch.all(in: events)
        return switches.enumerated().filter { !$1.isOn && !$1.follows(refunds) }.map { index, off in
            let isUndone = switches.dropFirst(index + 1).contains { $0.isOn && $0.transactionId == off.transactionId }
            return Cancellation(
                transactionId: off.transactionId, at: off.version.signedDate,
                secondsBeforeEnd: off.end?.timeIntervalSince(off.version.signedDate),
                timing: timing(of: off.version.signedDate, from: off.start, to: off.end), isUndone: isUndone)
        }
    }

    /// The first and last tenth of a period of less than ten days stand for its first and last day.
    static func timing(of date: Date, from start: Date?, to end: Date?) -> Timing {
        guard let start, let end, start < end else { return .unknown }
        if date >= end { return .afterEnd }
        let length = end.timeIntervalSince(start)
        let edge = min(BillingRules.day, length / 10)
        if end.timeIntervalSince(date) <= edge { return .lastDay }
        if date.timeIntervalSince(start) <= edge { return .atOnce }
        return date.timeIntervalSince(start) * 2 < length ? .early : .late
    }
}

extension RenewalSwitch {
    /// Whether the transaction was refunded or revoked when auto-renew was switched off; Apple may sign the two a few
    /// seconds apart, in either order.
    fileprivate func follows(_ refunds: [PurchaseEvent]) -> Bool {
        refunds.contains {
            $0.transaction?.transactionId == transactionId
                && $0.version.signedDate <= version.signedDate.addingTimeInterval(60)
        }
    }
}
