import Subscriptions

import struct Foundation.Date
import struct Foundation.UUID

/// Why a subscription ended, by the subtype of `EXPIRED`.
///
/// [subtype](https://developer.apple.com/documentation/appstoreservernotifications/subtype)
package enum ExpiryReason: String, Sendable, Hashable, CaseIterable {
    /// The customer had switched auto-renew off.
    case voluntary
    /// Billing retry ended without a charge.
    case billing
    /// The customer did not agree to a higher price.
    case price
    /// The product was no longer sold.
    case productUnavailable
    /// Another reason, or none in the notification.
    case other
}

/// One end of a subscription: each `EXPIRED` notification is one, even if the customer subscribed again later.
///
/// [notificationType](https://developer.apple.com/documentation/appstoreservernotifications/notificationtype)
package struct SubscriptionEnd: Sendable, Equatable {
    /// The last transaction before the end.
    package var transactionId: String?
    /// When the period ended; the notification's `signedDate` if that is earlier or the transaction has no end.
    package var at: Date
    /// The reason by the notification's subtype.
    package var reason: ExpiryReason
}

extension SubscriptionEnd {
    /// All ends of one purchase, in Apple's order.
    /// - Parameter events: in any order, with any repetitions.
    package static func all(in events: some Sequence<PurchaseEvent>) -> [SubscriptionEnd] {
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
