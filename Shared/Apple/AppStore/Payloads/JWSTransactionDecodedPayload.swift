import StrictJSON

import struct Foundation.Date

/// One transaction, as signed by the App Store.
///
/// The same transaction is signed again whenever something about it changes; `signedDate` tells which is newer.
///
/// <https://developer.apple.com/documentation/appstoreserverapi/jwstransactiondecodedpayload>
public struct JWSTransactionDecodedPayload: Payload, Hashable {
    /// The first transaction of the subscription: its name for as long as it lives.
    public var originalTransactionId: String?
    /// This transaction.
    public var transactionId: String?
    /// One per renewal period, across devices.
    public var webOrderLineItemId: String?
    /// Bundle identifier of the app.
    public var bundleId: String?
    /// What was bought.
    public var productId: String?
    /// The group of which a customer can have one subscription at a time.
    public var subscriptionGroupIdentifier: String?
    /// When it was charged.
    public var purchaseDate: Date?
    /// When the original transaction was charged.
    public var originalPurchaseDate: Date?
    /// When the period ends, unless it renews.
    public var expiresDate: Date?
    /// How many.
    public var quantity: Int64?
    /// The kind of product.
    public var type: TransactionType?
    /// The account that the app named at purchase: a UUID in text.
    public var appAccountToken: String?
    /// Bought, shared or assigned.
    public var inAppOwnershipType: InAppOwnershipType?
    /// When this JSON was signed.
    public var signedDate: Date?
    /// Why it was refunded.
    public var revocationReason: RevocationReason?
    /// When it was refunded or withdrawn.
    public var revocationDate: Date?
    /// Replaced by an upgrade before its period ended.
    public var isUpgraded: Bool?
    /// The offer that applied.
    public var offerType: OfferType?
    /// The name of the offer.
    public var offerIdentifier: String?
    /// Sandbox or production.
    public var environment: AppStoreEnvironment?
    /// Three-letter country code of the storefront.
    public var storefront: String?
    /// Apple's number of the storefront.
    public var storefrontId: String?
    /// Bought or renewed.
    public var transactionReason: TransactionReason?
    /// ISO 4217 code of the price.
    public var currency: String?
    /// In thousandths of the currency's unit.
    public var price: Int64?
    /// How the offer is paid.
    public var offerDiscountType: OfferDiscountType?
    /// One per customer and app.
    public var appTransactionId: String?
    /// ISO 8601 duration of the offer.
    public var offerPeriod: String?
    /// What was taken back.
    public var revocationType: RevocationType?
    /// How much was taken back, in thousandths of a percent.
    public var revocationPercentage: Int64?
    /// Advanced Commerce, as it came.
    public var advancedCommerceInfo: RawJSON?
    /// How the subscription is billed.
    public var billingPlanType: BillingPlanType?
    /// The commitment, as it came.
    public var commitmentInfo: RawJSON?
    /// The name before the subscription got another.
    public var previousOriginalTransactionId: String?
    /// The seats of a multiseat purchase, as it came.
    public var multiSeatInfo: RawJSON?
    /// Why several transactions represent one period.
    public var additionalTransactionReason: AdditionalTransactionReason?
    /// How many seats a refund took back; Apple documents it within ``multiSeatInfo`` as well.
    public var revokedSeatQuantity: Int64?
    /// What it was read from, as far as this build cannot make use of it. Not written.
    public internal(set) var oddities: [PayloadOddity] = []

    /// The purchase that it belongs to: where Apple names no original transaction, this one is the first.
    public var purchaseId: String? {
        if let originalTransactionId, !originalTransactionId.isEmpty { return originalTransactionId }
        return transactionId
    }

    /// Nothing set.
    public init() {}

    /// Reads Apple's JSON; fields without a value here are passed over.
    ///
    /// - Throws: `PayloadFault` where a field that decides something has another kind of value than Apple documents;
    ///   the others are nil then, see ``oddities``.
    public init(json: JSONValue) throws(PayloadFault) {
        let fields = try PayloadFields(json)
        originalTransactionId = try fields.read("originalTransactionId")
        transactionId = try fields.read("transactionId")
        webOrderLineItemId = fields.attempt("webOrderLineItemId")
        bundleId = try fields.read("bundleId")
        productId = try fields.read("productId")
        subscriptionGroupIdentifier = try fields.read("subscriptionGroupIdentifier")
        purchaseDate = try fields.read("purchaseDate")
        originalPurchaseDate = try fields.read("originalPurchaseDate")
        expiresDate = try fields.read("expiresDate")
        quantity = fields.attempt("quantity")
        type = try fields.read("type")
        appAccountToken = try fields.read("appAccountToken")
        inAppOwnershipType = fields.attempt("inAppOwnershipType")
        signedDate = try fields.read("signedDate")
        revocationReason = fields.attempt("revocationReason")
        revocationDate = try fields.read("revocationDate")
        isUpgraded = try fields.read("isUpgraded")
        offerType = fields.attempt("offerType")
        offerIdentifier = fields.attempt("offerIdentifier")
        environment = try fields.read("environment")
        storefront = fields.attempt("storefront")
        storefrontId = fields.attempt("storefrontId")
        transactionReason = fields.attempt("transactionReason")
        currency = fields.attempt("currency")
        price = fields.attempt("price")
        offerDiscountType = fields.attempt("offerDiscountType")
        appTransactionId = try fields.read("appTransactionId")
        offerPeriod = fields.attempt("offerPeriod")
        revocationType = fields.attempt("revocationType")
        revocationPercentage = fields.attempt("revocationPercentage")
        advancedCommerceInfo = try fields.read("advancedCommerceInfo")
        billingPlanType = fields.attempt("billingPlanType")
        commitmentInfo = try fields.read("commitmentInfo")
        previousOriginalTransactionId = fields.attempt("previousOriginalTransactionId")
        multiSeatInfo = try fields.read("multiSeatInfo")
        additionalTransactionReason = fields.attempt("additionalTransactionReason")
        revokedSeatQuantity = fields.attempt("revokedSeatQuantity", "multiSeatInfo")
        oddities = fields.oddities
    }

    /// Writes Apple's members; what is nil is left out.
    public func writeMembers(to writer: inout JSONWriter) {
        writer.field("originalTransactionId", originalTransactionId)
        writer.field("transactionId", transactionId)
        writer.field("webOrderLineItemId", webOrderLineItemId)
        writer.field("bundleId", bundleId)
        writer.field("productId", productId)
        writer.field("subscriptionGroupIdentifier", subscriptionGroupIdentifier)
        writer.field("purchaseDate", purchaseDate)
        writer.field("originalPurchaseDate", originalPurchaseDate)
        writer.field("expiresDate", expiresDate)
        writer.field("quantity", quantity)
        writer.field("type", type)
        writer.field("appAccountToken", appAccountToken)
        writer.field("inAppOwnershipType", inAppOwnershipType)
        writer.field("signedDate", signedDate)
        writer.field("revocationReason", revocationReason)
        writer.field("revocationDate", revocationDate)
        writer.field("isUpgraded", isUpgraded)
        writer.field("offerType", offerType)
        writer.field("offerIdentifier", offerIdentifier)
        writer.field("environment", environment)
        writer.field("storefront", storefront)
        writer.field("storefrontId", storefrontId)
        writer.field("transactionReason", transactionReason)
        writer.field("currency", currency)
        writer.field("price", price)
        writer.field("offerDiscountType", offerDiscountType)
        writer.field("appTransactionId", appTransactionId)
        writer.field("offerPeriod", offerPeriod)
        writer.field("revocationType", revocationType)
        writer.field("revocationPercentage", revocationPercentage)
        writer.field("advancedCommerceInfo", advancedCommerceInfo)
        writer.field("billingPlanType", billingPlanType)
        writer.field("commitmentInfo", commitmentInfo)
        writer.field("previousOriginalTransactionId", previousOriginalTransactionId)
        writer.field("multiSeatInfo", multiSeatInfo)
        writer.field("additionalTransactionReason", additionalTransactionReason)
        writer.field("revokedSeatQuantity", revokedSeatQuantity)
    }
}
