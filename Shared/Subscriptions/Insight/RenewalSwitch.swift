import struct Foundation.Date
import struct Foundation.UUID

/// One time that auto-renew was switched off or on. Two switches within a period leave no trace but these.
public struct RenewalSwitch: Sendable, Equatable {
    /// The event of it.
    public var version: EventVersion
    /// On, or off.
    public var isOn: Bool
    /// The transaction whose period ran.
    public var transactionId: String?
    /// Of that period.
    public var start: Date?
    /// Of that period.
    public var end: Date?
}

extension RenewalSwitch {
    /// All switches of one purchase, in Apple's order.
    /// - Parameter event: in any order, with any repetitions.
    public static func all(in event: some Sequence<PurchaseEvent>) -> [RenewalSwitch] {
        var seen: Set<UUID> = []
        return event.filter { seen.insert($0.version.notificationUUID).inserted }.compactMap { event in
            guard event.eventType == .renewalTurnedOff || event.eventType == .renewalTurnedOn else { return nil }
            return RenewalSwitch(
                version: event.version, isOn: event.eventType == .renewalTurnedOn,
                transactionId: event.transaction?.transactionId, start: event.transaction?.purchaseDate,
                end: event.transaction?.expiresDate)
        }.sorted { $0.version < $1.version }
    }

    /// How often auto-renew was switched within each period, by transaction id; the empty id stands for an unknown one.
    public static func counts(in event: some Sequence<PurchaseEvent>) -> [String: Int] {
        all(in: event).reduce(into: [:]) { $0[$1.transactionId ?? "", default: 0] += 1 }
    }
}
