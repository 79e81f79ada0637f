import struct Foundation.Date
import struct Foundation.UUID

/// A stretch of time in which one purchase gives access to one product.
public struct AccessPeriod: Sendable, Hashable {
    /// Why it gives access.
    public enum Reason: String, Sendable, Hashable, CaseIterable {
        /// A transaction paid for the time.
        case transaction
        /// The charge failed, and Apple's grace period runs.
        case gracePeriod
        /// Apple's status says so, and no known transaction explains it: a transaction is missing here.
        case status
        /// A non-consumable was bought.
        case nonConsumable
        /// A non-renewing subscription, whose duration is known.
        case nonRenewing
        /// A non-renewing subscription of a product whose duration was never configured: access has no end until it is.
        case durationUnknown
    }

    /// What may be used, by its App Store Connect id.
    public var productId: String
    /// The first moment of access.
    public var startsAt: Date
    /// The first moment without it; nil where no end is known.
    public var endsAt: Date?
    /// Why it gives access.
    public var reason: Reason
    /// The transaction that paid; nil where none is known.
    public var transactionId: String?
    /// The notification that decided; nil where a transaction did, whose newest version tells which notification held it.
    public var notificationUUID: UUID?

    /// - Parameter endsAt: nil where no end is known.
    public init(
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

    /// Whether the moment lies inside; the end does not.
    public func contains(_ moment: Date) -> Bool {
        startsAt <= moment && (endsAt.map { moment < $0 } ?? true)
    }
}
