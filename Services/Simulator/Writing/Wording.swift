import AppStore
import Contracts

/// Puts a notice into Apple's words.
enum Wording {
    static let subscriptionGroup = "21447302"

    static func transaction(_ purchase: Purchase, in notice: Notice) -> JWSTransactionDecodedPayload {
        var payload = JWSTransactionDecodedPayload()
        payload.originalTransactionId = purchase.originalTransactionId
        payload.transactionId = purchase.transactionId
        payload.webOrderLineItemId = purchase.webOrderLineItemId
        payload.bundleId = notice.app.bundleId
        payload.productId = purchase.product.id(in: notice.app.bundleId)
        payload.purchaseDate = purchase.purchaseDate
        payload.originalPurchaseDate = purchase.originalPurchaseDate
        payload.expiresDate = purchase.expiresDate
        payload.quantity = 1
        payload.type = type(of: purchase)
        if purchase.product.period != nil { payload.subscriptionGroupIdentifier = subscriptionGroup }
        if purchase.isUpgraded { payload.isUpgraded = true }
        payload.appAccountToken = notice.customer?.appAccountToken?.uuidString.lowercased()
        payload.inAppOwnershipType = .purchased
        payload.signedDate = notice.signedDate
        payload.revocationDate = purchase.revocationDate
        payload.revocationReason = purchase.revocationReason.map { RevocationReason(rawValue: Int64($0)) }
        payload.environment = environment(of: notice)
        payload.transactionReason = purchase.reason == .purchase ? .purchase : .renewal
        payload.storefront = notice.customer?.storefront.country
        payload.storefrontId = notice.customer?.storefront.id
        payload.currency = notice.customer?.storefront.currency
        payload.price = purchase.product.price
        payload.appTransactionId = notice.customer?.appTransactionId
        return payload
    }

    static func type(of purchase: Purchase) -> TransactionType {
        purchase.product.period == nil ? .consumable : .autoRenewableSubscription
    }

    static func renewal(_ renewal: Renewal, of purchase: Purchase, in notice: Notice) -> JWSRenewalInfoDecodedPayload {
        var payload = JWSRenewalInfoDecodedPayload()
        payload.originalTransactionId = purchase.originalTransactionId
        payload.productId = renewal.product.id(in: notice.app.bundleId)
        payload.autoRenewProductId = renewal.nextProduct.id(in: notice.app.bundleId)
        payload.autoRenewStatus = renewal.willRenew ? .on : .off
        if renewal.willRenew {
            payload.renewalPrice = renewal.nextProduct.price
            payload.renewalDate = purchase.expiresDate
        }
        payload.currency = notice.customer?.storefront.currency
        payload.isInBillingRetryPeriod = renewal.spokenBillingRetry
        payload.gracePeriodExpiresDate = renewal.graceExpiresDate
        payload.expirationIntent = renewal.expirationIntent.map { ExpirationIntent(rawValue: Int64($0)) }
        payload.signedDate = notice.signedDate
        payload.environment = environment(of: notice)
        payload.recentSubscriptionStartDate = renewal.recentStartDate
        payload.appAccountToken = notice.customer?.appAccountToken?.uuidString.lowercased()
        payload.appTransactionId = notice.customer?.appTransactionId
        return payload
    }

    static func notification(
        _ notice: Notice, signedTransactionInfo: [UInt8]?, signedRenewalInfo: [UInt8]?
    ) -> ResponseBodyV2DecodedPayload {
        var data = NotificationData()
        data.environment = environment(of: notice)
        // Apple's number exists for what was bought in the real store only.
        if notice.app.environment == .production { data.appAppleId = notice.app.appAppleId }
        data.bundleId = notice.app.bundleId
        data.bundleVersion = "241"
        data.signedTransactionInfo = signedTransactionInfo.map { String(decoding: $0, as: UTF8.self) }
        data.signedRenewalInfo = signedRenewalInfo.map { String(decoding: $0, as: UTF8.self) }
        data.status = notice.status.map { SubscriptionStatus(rawValue: Int64($0)) }
        if notice.announcement.type == .consumptionRequest { data.consumptionRequestReason = .unintendedPurchase }
        var payload = ResponseBodyV2DecodedPayload()
        payload.notificationType = notice.announcement.type
        payload.subtype = notice.announcement.subtype
        payload.notificationUUID = notice.uuid.uuidString.lowercased()
        // One of the two, never both.
        if let summary = notice.summary { payload.summary = summary } else { payload.data = data }
        payload.version = "2.0"
        payload.signedDate = notice.signedDate
        return payload
    }

    /// How the app itself came to the device.
    static func appTransaction(of notice: Notice) -> AppTransaction {
        var payload = AppTransaction()
        payload.receiptType = environment(of: notice)
        if notice.app.environment == .production { payload.appAppleId = notice.app.appAppleId }
        payload.bundleId = notice.app.bundleId
        payload.applicationVersion = "241"
        payload.receiptCreationDate = notice.signedDate
        payload.originalPurchaseDate = notice.purchase?.originalPurchaseDate
        payload.originalApplicationVersion = "1"
        payload.appTransactionId = notice.customer?.appTransactionId
        payload.originalPlatform = .iOS
        return payload
    }

    private static func environment(of notice: Notice) -> AppStoreEnvironment {
        AppStoreEnvironment(rawValue: notice.app.environment.rawValue)
    }
}

extension Renewal {
    /// Apple says something of billing retry only where payment failed or the subscription ended.
    var spokenBillingRetry: Bool? { isInBillingRetry || expirationIntent != nil ? isInBillingRetry : nil }
}
