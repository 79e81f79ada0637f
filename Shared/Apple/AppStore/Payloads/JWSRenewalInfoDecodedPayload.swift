import StrictJSON

import struct Foundation.Date

/// What will happen at the end of the period, as signed by the App Store.
///
/// <https://developer.apple.com/documentation/appstoreserverapi/jwsrenewalinfodecodedpayload>
public struct JWSRenewalInfoDecodedPayload: Payload, Hashable {
    /// Why it ended.
    public var expirationIntent: ExpirationIntent?
    /// Transaction id of the first purchase, which names the subscription.
    public var originalTransactionId: String?
    /// What will renew.
    public var autoRenewProductId: String?
    /// What runs now.
    public var productId: String?
    /// Whether it will renew.
    public var autoRenewStatus: AutoRenewStatus?
    /// Apple tries to bill; true throughout grace as well.
    public var isInBillingRetryPeriod: Bool?
    /// Whether the customer answered to a price increase.
    public var priceIncreaseStatus: PriceIncreaseStatus?
    /// Until when access shall go on while Apple tries to bill.
    public var gracePeriodExpiresDate: Date?
    /// The offer that will apply.
    public var offerType: OfferType?
    /// The name of that offer.
    public var offerIdentifier: String?
    /// When this JSON was signed.
    public var signedDate: Date?
    /// Sandbox or production.
    public var environment: AppStoreEnvironment?
    /// Since when without a gap of more than 60 days.
    public var recentSubscriptionStartDate: Date?
    /// When it will renew.
    public var renewalDate: Date?
    /// ISO 4217 code of the price.
    public var currency: String?
    /// In thousandths of the currency's unit.
    public var renewalPrice: Int64?
    /// How that offer is paid.
    public var offerDiscountType: OfferDiscountType?
    /// Win-back offers that the customer may take, best first.
    public var eligibleWinBackOfferIds: [String]?
    /// The account that the app named at purchase: a UUID in text.
    public var appAccountToken: String?
    /// One per customer and app.
    public var appTransactionId: String?
    /// ISO 8601 duration of the offer.
    public var offerPeriod: String?
    /// Advanced Commerce, as it came.
    public var advancedCommerceInfo: RawJSON?
    /// The seats of a multiseat purchase, as it came.
    public var multiSeatInfo: RawJSON?
    /// The commitment, as it came.
    public var commitmentInfo: RawJSON?
    /// How the next period is billed.
    public var renewalBillingPlanType: BillingPlanType?
    /// What it was read from, as far as this build cannot make use of it. Not written.
    public internal(set) var oddities: [PayloadOddity] = []

    /// Nothing set.
    public init() {}

    /// Reads Apple's JSON; fields without a value here are passed over.
    ///
    /// - Throws: `PayloadFault` where a field that decides something has another kind of value than Apple documents;
    ///   the others are nil then, see ``oddities``.
    public init(json: JSONValue) throws(PayloadFault) {
        let fields = try PayloadFields(json)
        expirationIntent = fields.attempt("expirationIntent")
        originalTransactionId = try fields.read("originalTransactionId")
        autoRenewProductId = fields.attempt("autoRenewProductId")
        productId = try fields.read("productId")
        autoRenewStatus = fields.attempt("autoRenewStatus")
        isInBillingRetryPeriod = try fields.read("isInBillingRetryPeriod")
        priceIncreaseStatus = fields.attempt("priceIncreaseStatus")
        gracePeriodExpiresDate = try fields.read("gracePeriodExpiresDate")
        offerType = fields.attempt("offerType")
        offerIdentifier = fields.attempt("offerIdentifier")
        signedDate = try fields.read("signedDate")
        environment = try fields.read("environment")
        recentSubscriptionStartDate = try fields.read("recentSubscriptionStartDate")
        renewalDate = try fields.read("renewalDate")
        currency = fields.attempt("currency")
        renewalPrice = fields.attempt("renewalPrice")
        offerDiscountType = fields.attempt("offerDiscountType")
        eligibleWinBackOfferIds = fields.attempt("eligibleWinBackOfferIds")
        appAccountToken = fields.attempt("appAccountToken")
        appTransactionId = fields.attempt("appTransactionId")
        offerPeriod = fields.attempt("offerPeriod")
        advancedCommerceInfo = try fields.read("advancedCommerceInfo")
        multiSeatInfo = try fields.read("multiSeatInfo")
        commitmentInfo = try fields.read("commitmentInfo")
        renewalBillingPlanType = fields.attempt("renewalBillingPlanType")
        oddities = fields.oddities
    }

    /// Writes Apple's members; what is nil is left out.
    public func writeMembers(to writer: inout JSONWriter) {
        writer.field("expirationIntent", expirationIntent)
        writer.field("originalTransactionId", originalTransactionId)
        writer.field("autoRenewProductId", autoRenewProductId)
        writer.field("productId", productId)
        writer.field("autoRenewStatus", autoRenewStatus)
        writer.field("isInBillingRetryPeriod", isInBillingRetryPeriod)
        writer.field("priceIncreaseStatus", priceIncreaseStatus)
        writer.field("gracePeriodExpiresDate", gracePeriodExpiresDate)
        writer.field("offerType", offerType)
        writer.field("offerIdentifier", offerIdentifier)
        writer.field("signedDate", signedDate)
        writer.field("environment", environment)
        writer.field("recentSubscriptionStartDate", recentSubscriptionStartDate)
        writer.field("renewalDate", renewalDate)
        writer.field("currency", currency)
        writer.field("renewalPrice", renewalPrice)
        writer.field("offerDiscountType", offerDiscountType)
        writer.field("eligibleWinBackOfferIds", eligibleWinBackOfferIds)
        writer.field("appAccountToken", appAccountToken)
        writer.field("appTransactionId", appTransactionId)
        writer.field("offerPeriod", offerPeriod)
        writer.field("advancedCommerceInfo", advancedCommerceInfo)
        writer.field("multiSeatInfo", multiSeatInfo)
        writer.field("commitmentInfo", commitmentInfo)
        writer.field("renewalBillingPlanType", renewalBillingPlanType)
    }
}
