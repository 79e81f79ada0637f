import AppStore
import Contracts

/// Puts a event into Apple's words.
enum PayloadBuilder {
    static let subscriptionGroup = "21447302"

    static func transaction(_ purchase: Purchase, in event: EventPayload) -> JWSTransactionDecodedPayload {
        var payload = JWSTransactionDecodedPayload()
        payload.originalTransactionId = purchase.originalTransactionId
        payload.transactionId = purchase.transactionId
        payload.webOrderLineItemId = purchase.webOrderLineItemId
        payload.bundleId = event.app.bundleId
        payload.productId = purchase.product.id(in: event.app.bundleId)
        payload.purchaseDate = purchase.purchaseDate
        payload.originalPurchaseDate = purchase.originalPurchaseDate
        payload.expiresDate = purchase.expiresDate
        payload.quantity = 1
        payload.type = type(of: purchase)
        if purchase.product.period != nil { payload.subscriptionGroupIdentifier = subscriptionGroup }
        if purchase.isUpgraded { payload.isUpgraded = true }
        payload.appAccountToken = event.customer?.appAccountToken?.uuidString.lowercased()
        payload.inAppOwnershipType = .purchased
        payload.signedDate = event.signedDate
        payload.revocationDate = purchase.revocationDate
        payload.revocationReason = purchase.revocationReason.map { RevocationReason(rawValue: Int64($0)) }
        payload.environment = environment(of: event)
        payload.transactionReason = purchase.reason == .purchase ? .purchase : .renewal
        payload.storefront = event.customer?.storefront.country
        payload.storefrontId = event.customer?.storefront.id
        payload.currency = event.customer?.storefront.currency
        payload.price = purchase.product.price
        payload.appTransactionId = event.customer?.appTransactionId
        return payload
    }

    static func type(of purchase: Purchase) -> TransactionType {
        purchase.product.period == nil ? .consumable : .autoRenewableSubscription
    }

    static func renewal(_ renewal: Renewal, of purchase: Purchase, in event: EventPayload)
        -> JWSRenewalInfoDecodedPayload
    {
        var payload = JWSRenewalInfoDecodedPayload()
        payload.originalTransactionId = purchase.originalTransactionId
        payload.productId = renewal.product.id(in: event.app.bundleId)
        payload.autoRenewProductId = renewal.nextProduct.id(in: event.app.bundleId)
        payload.autoRenewStatus = renewal.willRenew ? .on : .off
        if renewal.willRenew {
            payload.renewalPrice = renewal.nextProduct.price
            payload.renewalDate = purchase.expiresDate
        }
        payload.currency = event.customer?.storefront.currency
        payload.isInBillingRetryPeriod = renewal.spokenBillingRetry
        payload.gracePeriodExpiresDate = renewal.graceExpiresDate
        payload.expirationIntent = renewal.expirationIntent.map { ExpirationIntent(rawValue: Int64($0)) }
        payload.signedDate = event.signedDate
        payload.environment = environment(of: event)
        payload.recentSubscriptionStartDate = renewal.recentStartDate
        payload.appAccountToken = event.customer?.appAccountToken?.uuidString.lowercased()
        payload.appTransactionId = event.customer?.appTransactionId
        return payload
    }

    static func notification(
        _ event: EventPayload, signedTransactionInfo: [UInt8]?, signedRenewalInfo: [UInt8]?
    ) -> ResponseBodyV2DecodedPayload {
        var data = NotificationData()
        data.environment = environment(of: event)
        // Apple's number exists for what was bought in the real store only.
        if event.app.environment == .production { data.appAppleId = event.app.appAppleId }
        data.bundleId = event.app.bundleId
        data.bundleVersion = "241"
        data.signedTransactionInfo = signedTransactionInfo.map { String(decoding: $0, as: UTF8.self) }
        data.signedRenewalInfo = signedRenewalInfo.map { String(decoding: $0, as: UTF8.self) }
        data.status = event.status.map { SubscriptionStatus(rawValue: Int64($0)) }
        if event.kind.type == .consumptionRequest { data.consumptionRequestReason = .unintendedPurchase }
        var payload = ResponseBodyV2DecodedPayload()
        payload.notificationType = event.kind.type
        payload.subtype = event.kind.subtype
        payload.notificationUUID = event.uuid.uuidString.lowercased()
        // One of the two, never both.
        if let summary = event.summary { payload.summary = summary } else { payload.data = data }
        payload.version = "2.0"
        payload.signedDate = event.signedDate
        return payload
    }

    /// How the app itself came to the device.
    static func appTransaction(of event: EventPayload) -> AppTransaction {
        var payload = AppTransaction()
        payload.receiptType = environment(of: event)
        if event.app.environment == .production { payload.appAppleId = event.app.appAppleId }
        payload.bundleId = event.app.bundleId
        payload.applicationVersion = "241"
        payload.receiptCreationDate = event.signedDate
        payload.originalPurchaseDate = event.purchase?.originalPurchaseDate
        payload.originalApplicationVersion = "1"
        payload.appTransactionId = event.customer?.appTransactionId
        payload.originalPlatform = .iOS
        return payload
    }

    private static func environment(of event: EventPayload) -> AppStoreEnvironment {
        AppStoreEnvironment(rawValue: event.app.environment.rawValue)
    }
}

extension Renewal {
    /// Apple says something of billing retry only where payment failed or the subscription ended.
    var spokenBillingRetry: Bool? { isInBillingRetry || expirationIntent != nil ? isInBillingRetry : nil }
}
