import Contracts
import StrictJSON

/// Puts a notice into Apple's words: field by field as the App Store writes them, what is not said left out.
enum Wording {
    /// The claims of `signedTransactionInfo`.
    static func transaction(_ purchase: Purchase, in notice: Notice) -> [UInt8] {
        let app = notice.app
        var json = JSONWriter(capacity: 1_200)
        json.beginObject()
        json.member("transactionId", purchase.transactionId)
        json.member("originalTransactionId", purchase.originalTransactionId)
        json.said("webOrderLineItemId", purchase.webOrderLineItemId)
        json.member("bundleId", app.bundleId)
        json.member("productId", purchase.product.id(in: app.bundleId))
        if purchase.product.period != nil { json.member("subscriptionGroupIdentifier", subscriptionGroup) }
        json.member("purchaseDate", purchase.purchaseDate.milliseconds)
        json.member("originalPurchaseDate", purchase.originalPurchaseDate.milliseconds)
        json.said("expiresDate", purchase.expiresDate?.milliseconds)
        json.member("quantity", 1)
        json.member("type", purchase.product.period == nil ? "Consumable" : "Auto-Renewable Subscription")
        json.said("appAccountToken", notice.customer?.appAccountToken?.uuidString.lowercased())
        json.member("inAppOwnershipType", "PURCHASED")
        json.member("signedDate", notice.signedDate.milliseconds)
        json.said("revocationDate", purchase.revocationDate?.milliseconds)
        json.said("revocationReason", purchase.revocationReason.map(Int64.init))
        json.member("environment", app.environment.rawValue)
        json.member("transactionReason", purchase.reason == .purchase ? "PURCHASE" : "RENEWAL")
        if let customer = notice.customer {
            json.member("storefront", customer.storefront.country)
            json.member("storefrontId", customer.storefront.id)
            json.member("price", purchase.product.price)
            json.member("currency", customer.storefront.currency)
            json.member("appTransactionId", customer.appTransactionId)
        }
        json.endObject()
        return json.bytes
    }

    /// The claims of `signedRenewalInfo`.
    static func renewal(_ renewal: Renewal, of purchase: Purchase, in notice: Notice) -> [UInt8] {
        let bundleId = notice.app.bundleId
        var json = JSONWriter(capacity: 900)
        json.beginObject()
        json.said("expirationIntent", renewal.expirationIntent.map(Int64.init))
        json.member("originalTransactionId", purchase.originalTransactionId)
        json.member("autoRenewProductId", renewal.nextProduct.id(in: bundleId))
        json.member("productId", renewal.product.id(in: bundleId))
        json.member("autoRenewStatus", renewal.willRenew ? 1 : 0)
        if renewal.willRenew { json.member("renewalPrice", renewal.nextProduct.price) }
        json.said("currency", notice.customer?.storefront.currency)
        if renewal.isInBillingRetry || renewal.expirationIntent != nil {
            json.member("isInBillingRetryPeriod", renewal.isInBillingRetry)
        }
        json.said("gracePeriodExpiresDate", renewal.graceExpiresDate?.milliseconds)
        json.member("signedDate", notice.signedDate.milliseconds)
        json.member("environment", notice.app.environment.rawValue)
        json.member("recentSubscriptionStartDate", renewal.recentStartDate.milliseconds)
        if renewal.willRenew { json.said("renewalDate", purchase.expiresDate?.milliseconds) }
        json.said("appAccountToken", notice.customer?.appAccountToken?.uuidString.lowercased())
        json.said("appTransactionId", notice.customer?.appTransactionId)
        json.endObject()
        return json.bytes
    }

    /// The claims of `signedPayload`.
    /// - Parameter omitsSignedDate: Apple's oldest notifications had none.
    static func notification(
        _ notice: Notice, signedTransactionInfo: [UInt8]?, signedRenewalInfo: [UInt8]?, omitsSignedDate: Bool = false
    ) -> [UInt8] {
        var json = JSONWriter(capacity: 16_384)
        json.beginObject()
        json.member("notificationType", notice.announcement.type)
        json.said("subtype", notice.announcement.subtype)
        json.member("notificationUUID", notice.uuid.uuidString.lowercased())
        json.beginObject("data")
        json.member("appAppleId", notice.app.appAppleId)
        json.member("bundleId", notice.app.bundleId)
        json.member("bundleVersion", "241")
        json.member("environment", notice.app.environment.rawValue)
        if let signedTransactionInfo { json.member("signedTransactionInfo", compact: signedTransactionInfo) }
        if let signedRenewalInfo { json.member("signedRenewalInfo", compact: signedRenewalInfo) }
        json.said("status", notice.status.map(Int64.init))
        if notice.announcement.type == "CONSUMPTION_REQUEST" {
            json.member("consumptionRequestReason", "UNINTENDED_PURCHASE")
        }
        json.endObject()
        json.member("version", "2.0")
        if !omitsSignedDate { json.member("signedDate", notice.signedDate.milliseconds) }
        json.endObject()
        return json.bytes
    }

    private static let subscriptionGroup = "21447302"
}

extension JSONWriter {
    /// Apple leaves out what it has nothing to say of; it never writes null.
    fileprivate mutating func said(_ key: String, _ value: String?) {
        if let value { member(key, value) }
    }

    fileprivate mutating func said(_ key: String, _ value: Int64?) {
        if let value { member(key, value) }
    }

    /// A compact JWS needs no escaping.
    fileprivate mutating func member(_ key: String, compact jws: [UInt8]) {
        var quoted: [UInt8] = []
        quoted.reserveCapacity(jws.count + 2)
        quoted.append(UInt8(ascii: "\""))
        quoted += jws
        quoted.append(UInt8(ascii: "\""))
        member(key, raw: quoted)
    }
}
