import struct Foundation.Date
import struct Foundation.UUID

/// Why a subscription ended.
public enum ExpiryReason: String, Sendable, Hashable, CaseIterable {
    /// The customer had switched auto-renew off.
    case voluntary
    /// The charge failed for good.
    case billing
    /// The customer did not agree to a higher price.
    case price
    /// The product was no longer sold.
    case productUnavailable
    /// Another one, or one that Apple did not tell.
    case other
}

/// One end of a subscription: each `EXPIRED` notification is one, also where the customer came back later.
///
/// [notificationType](https://developer.apple.com/documentation/appstoreservernotifications/notificationtype)
public struct SubscriptionEnd: Sendable, Equatable {
    /// The last transaction before the end.
    public var transactionId: String?
    /// When the period ended; when Apple told, where the notification holds no transaction.
    public var at: Date
    /// By the notification's subtype.
    public var reason: ExpiryReason
}

extension SubscriptionEnd {
    /// All ends of one purchase, in Apple's order.
    /// - Parameter events: in any order, with any repetitions.
    public static func all(in events: some Sequence<PurchaseEvent>) -> [SubscriptionEnd] {
        var seen: Set<UUID> = []
        return events.filter { $0.eventType?.isEnd == true && seen.insert($0.version.notificationUUID).inserted }
            .sorted { $0.version < $1.version }
            .map { event in
                SubscriptionEnd(
                    transactionId: event.transaction?.transactionId,
                    at: min(event.transaction?.expiresDate ?? event.version.signedDate, event.version.signedDate),
                    reason: event.expiryReason)
            }
    }
}

extension PurchaseEvent {
    fileprivate var expiryReason: ExpiryReason {
        switch eventType {
        case .expiredVoluntarily: .voluntary
        case .expiredInBillingRetry: .billing
        case .expiredOverPrice: .price
        case .expiredUnsold: .productUnavailable
        default: .other
        }
    }
}
