import Subscriptions

import struct Foundation.Date
import struct Foundation.UUID

/// A switch of auto-renew, off or on. Only the events show two switches within one period; the state does not.
package struct RenewalSwitch: Sendable, Equatable {
    /// The version of the event that reported the switch.
    package var version: EventVersion
    /// Whether auto-renew was switched on.
    package var isOn: Bool
    /// The transaction of the current period.
    package var transactionId: String?
    /// The start of that period.
    package var start: Date?
    /// The end of that period.
    package var end: Date?
}

extension RenewalSwitch {
    /// All switches of one purchase, in Apple's order.
    /// - Parameter events: in any order, with any repetitions.
    package static func all(in events: some Sequence<PurchaseEvent>) -> [RenewalSwitch] {
        var seen: Set<UUID> = []
        return events.filter { seen.insert($0.version.notificationUUID).inserted }.compactMap { event in
            guard event.eventType == .renewalTurnedOff || event.eventType == .renewalTurnedOn else { return nil }
            return RenewalSwitch(
                version: event.version, isOn: event.eventType == .renewalTurnedOn,
                transactionId: event.transaction?.transactionId, start: event.transaction?.purchaseDate,
                end: event.transaction?.expiresDate)
        }.sorted { $0.version < $1.version }
    }

    /// How often auto-renew was switched within each period, by transaction id; the empty id stands for an unknown one.
    package static func counts(in events: some Sequence<PurchaseEvent>) -> [String: Int] {
        all(in: events).reduce(into: [:]) { $0[$1.transactionId ?? "", default: 0] += 1 }
    }
}
