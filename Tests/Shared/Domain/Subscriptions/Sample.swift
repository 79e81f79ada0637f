import Contracts
import Foundation
import Subscriptions

/// Facts and events for tests; times are days from one beginning.
enum Sample {
    static let beginning = Date(milliseconds: 1_767_225_600_000)  // 2026-01-01

    static func day(_ number: Double) -> Date { beginning.addingTimeInterval(number * 86_400) }

    static func key(_ id: String = "1", _ environment: StoreEnvironment = .production) -> SubscriptionKey {
        SubscriptionKey(environment: environment, originalTransactionId: id)
    }

    /// - Parameter signed: the day on which Apple signed it; with `number` it makes the version.
    static func event(
        _ name: String, signed: Double, number: UInt8 = 0, status: Int? = nil, transaction: TransactionFacts? = nil,
        renewal: RenewalFacts? = nil, key: SubscriptionKey = key(), bundleId: String = "com.example.metals"
    ) -> PurchaseEvent {
        let parts = name.split(separator: "/").map(String.init)
        return PurchaseEvent(
            key: key, version: version(signed, number), bundleId: bundleId, notificationType: parts[0],
            subtype: parts.count > 1 ? parts[1] : nil, status: status, transaction: transaction, renewal: renewal)
    }

    static func version(_ signed: Double, _ number: UInt8 = 0) -> EventVersion {
        let bytes = UInt8(truncatingIfNeeded: Int(signed * 8))
        return EventVersion(
            signedDate: day(signed),
            notificationUUID: UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, bytes, number)))
    }

    /// A subscription's period in days.
    static func period(
        _ id: String = "1", from: Double = 0, to: Double? = 30, product: String = "gold", signed: Double = 0,
        revoked: Double? = nil, group: String? = "metals", isUpgraded: Bool = false
    ) -> TransactionFacts {
        TransactionFacts(
            transactionId: id, productId: product, productType: "Auto-Renewable Subscription",
            subscriptionGroupIdentifier: group, purchaseDate: day(from), originalPurchaseDate: day(0),
            expiresDate: to.map(day), quantity: 1, ownership: "PURCHASED", isUpgraded: isUpgraded,
            revocationDate: revoked.map(day), priceMilliunits: 9990, currency: "EUR", signedDate: day(signed))
    }

    /// The transaction as Apple signs it since seats were added to its period.
    static func seats(_ transaction: TransactionFacts) -> TransactionFacts {
        var transaction = transaction
        transaction.additionalTransactionReason = "SEAT_ADDITION"
        return transaction
    }

    /// A purchase that does not renew.
    static func purchase(
        _ type: ProductKind, _ product: String, at: Double = 0, to: Double? = nil, revoked: Double? = nil
    ) -> TransactionFacts {
        var facts = period("1", from: at, to: to, product: product, revoked: revoked, group: nil)
        facts.productType = type.rawValue
        return facts
    }

    static func renewal(
        on: Bool? = true, retry: Bool? = false, grace: Double? = nil, signed: Double = 0, product: String? = nil,
        intent: Int? = nil
    ) -> RenewalFacts {
        RenewalFacts(
            autoRenewStatus: on, autoRenewProductId: product, isInBillingRetry: retry,
            gracePeriodExpiresDate: grace.map(day), expirationIntent: intent, signedDate: day(signed),
            productId: product)
    }

    static func state(_ events: PurchaseEvent...) -> Subscription? {
        events.reduce(nil) { Subscription.applying($1, known: $0).subscription }
    }

    /// A purchase whose current transaction is the last one.
    static func purchase(
        _ id: String = "1", _ transactions: TransactionFacts..., renewal: RenewalFacts? = nil, status: Int? = nil,
        environment: StoreEnvironment = .production
    ) -> PurchaseSnapshot {
        var subscription = Subscription(
            key: key(id, environment), bundleId: "com.example.metals", version: version(0), status: status,
            statusVersion: status.map { _ in version(0) },
            statusTransactionId: status.flatMap { _ in transactions.last?.transactionId },
            transaction: transactions.last,
            transactionVersion: version(0))
        subscription.renewal = renewal
        subscription.renewalVersion = renewal.map { _ in version(0) }
        return PurchaseSnapshot(
            subscription: subscription,
            transactions: transactions.map { TransactionVersion($0, version: version(0)) })
    }
}
