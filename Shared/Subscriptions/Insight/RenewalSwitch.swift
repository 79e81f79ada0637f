import struct Foundation.Date
import struct Foundation.UUID

/// One time that auto-renew was switched off or on. Two switches within a period leave no trace but these.
public struct RenewalSwitch: Sendable, Equatable {
    /// The news of it.
    public var stamp: Stamp
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
    /// - Parameter news: in any order, with any repetitions.
    public static func all(in news: some Sequence<News>) -> [RenewalSwitch] {
        var seen: Set<UUID> = []
        return news.filter { seen.insert($0.stamp.notificationUUID).inserted }.compactMap { news in
            guard news.happening == .renewalTurnedOff || news.happening == .renewalTurnedOn else { return nil }
            return RenewalSwitch(
                stamp: news.stamp, isOn: news.happening == .renewalTurnedOn,
                transactionId: news.transaction?.transactionId, start: news.transaction?.purchaseDate,
                end: news.transaction?.expiresDate)
        }.sorted { $0.stamp < $1.stamp }
    }

    /// How often auto-renew was switched within each period, by transaction id; the empty id stands for an unknown one.
    public static func counts(in news: some Sequence<News>) -> [String: Int] {
        all(in: news).reduce(into: [:]) { $0[$1.transactionId ?? "", default: 0] += 1 }
    }
}
