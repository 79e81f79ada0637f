import struct Foundation.Date
import struct Foundation.UUID

/// A stretch of time in which one purchase gives access to one product.
public struct AccessPeriod: Sendable, Hashable {
    /// Why it gives access.
    public enum Reason: String, Sendable, Hashable, CaseIterable {
        /// A transaction paid for the time.
        case transaction
        /// The charge failed, and Apple's grace period grants access.
        case gracePeriod
        /// Apple's status grants access, and no known transaction explains it: a transaction is missing in the ledger.
        case status
        /// A non-consumable was bought.
        case nonConsumable
        /// A non-renewing subscription whose duration is known.
        case nonRenewing
        /// A non-renewing subscription without a configured duration: access has no end until an operator sets one.
        case durationUnknown
    }

    /// The product that may be used, by its App Store Connect id.
    public var productId: String
    /// The first moment of access.
    public var startsAt: Date
    /// The first moment without access; nil where no end is known.
    public var endsAt: Date?
    /// Why it gives access.
    public var reason: Reason
    /// The transaction that paid; nil where none is known.
    public var transactionId: String?
    /// The notification that decided; nil where a transaction did: its newest version names its notification.
    public var notificationUUID: UUID?

    package init(
        productId: String, startsAt: Date, endsAt: Date?, reason: Reason, transactionId: String?,
        notificationUUID: UUID?
    ) {
        self.productId = productId
        self.startsAt = startsAt
        self.endsAt = endsAt
        self.reason = reason
        self.transactionId = transactionId
        self.notificationUUID = notificationUUID
    }

    var interval: Interval { Interval(from: startsAt, to: endsAt ?? .forever) }

    /// Whether the moment is in the period: its start is, its end is not.
    public func contains(_ moment: Date) -> Bool {
        startsAt <= moment && (endsAt.map { moment < $0 } ?? true)
    }
}
