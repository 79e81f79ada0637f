import struct Foundation.Date
import struct Foundation.TimeInterval

/// One time that a customer switched auto-renew off.
public struct Cancellation: Sendable, Equatable {
    /// Where in the period it was.
    public enum Timing: String, Sendable, Hashable, CaseIterable {
        /// Within a day of the beginning: bought for one period only.
        case atOnce
        /// In the first half.
        case early
        /// In the second half.
        case late
        /// Within the last day: a reminder of the coming charge, perhaps.
        case lastDay
        /// The charge had failed already.
        case afterEnd
        /// The period has no dates.
        case unknown
    }

    /// The transaction whose period was to be the last.
    public var transactionId: String?
    /// When, by Apple's clock.
    public var at: Date
    /// From then to the end of the period; negative after it, nil where the end is unknown.
    public var secondsBeforeEnd: TimeInterval?
    /// Where in the period it was.
    public var timing: Timing
    /// Whether it was switched on again within the same period.
    public var isUndone: Bool
}

extension Cancellation {
    /// All cancellations of one purchase, in Apple's order. What Apple switched off after a refund is none.
    ///
    /// [subtype](https://developer.apple.com/documentation/appstoreservernotifications/subtype)
    /// - Parameter events: all of them, in any order, with any repetitions.
    public static func all(in events: some Sequence<PurchaseEvent>) -> [Cancellation] {
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

    /// A period of less than two days is all first half or second half but for the last tenth of it.
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
    /// Whether the transaction was taken back when auto-renew was switched off; Apple may sign the two a few seconds
    /// apart, in either order.
    fileprivate func follows(_ refunds: [PurchaseEvent]) -> Bool {
        refunds.contains {
            $0.transaction?.transactionId == transactionId
                && $0.version.signedDate <= version.signedDate.addingTimeInterval(60)
        }
    }
}
