import struct Foundation.Date

/// The stored fields of Apple's renewal info, under Apple's names. Nil means that the payload has no such field.
///
/// [JWSRenewalInfoDecodedPayload](https://developer.apple.com/documentation/appstoreserverapi/jwsrenewalinfodecodedpayload)
public struct RenewalFacts: Sendable, Equatable {
    /// Whether the subscription will renew.
    public var autoRenewStatus: Bool?
    /// The product of the next period.
    public var autoRenewProductId: String?
    /// Whether Apple retries a failed charge.
    public var isInBillingRetry: Bool?
    /// The end of access after a failed charge.
    public var gracePeriodExpiresDate: Date?
    /// Apple's raw value: 1 cancelled, 2 billing, 3 price, 4 product gone, 5 other.
    public var expirationIntent: Int?
    /// Apple's raw value: 0 asked, 1 agreed. Of Advanced Commerce it sums up what the items have.
    public var priceIncreaseStatus: Int?
    /// Start of the service without a gap of more than 60 days.
    public var recentSubscriptionStartDate: Date?
    /// When the next charge is due.
    public var renewalDate: Date?
    /// The renewal info's own `signedDate`.
    public var signedDate: Date
    /// The product of the current period. Nil in older payloads; then the transaction's product counts.
    public var productId: String?
    /// Price of the next period in thousandths of a unit of `currency`.
    public var renewalPriceMilliunits: Int64?
    /// ISO 4217.
    public var currency: String?
    /// The offer of the next period, Apple's raw value as in ``TransactionFacts/offerType``.
    public var offerType: Int?
    /// Apple's id of the offer of the next period.
    public var offerIdentifier: String?
    /// The account that the app named, lower-case UUID text; Set App Account Token changes it here before the transaction.
    public var appAccountToken: String?
    /// The win-back offers that the customer may redeem, best first.
    public var eligibleWinBackOfferIds: [String]?
    /// ISO 8601 duration of the next period's offer.
    public var offerPeriod: String?
    /// Apple's `renewalBillingPlanType`: `BILLED_UPFRONT` or `MONTHLY`.
    public var billingPlanType: String?
    /// Apple's `commitmentInfo`, as JSON.
    public var commitmentInfo: String?

    package init(
        autoRenewStatus: Bool? = nil, autoRenewProductId: String? = nil, isInBillingRetry: Bool? = nil,
        gracePeriodExpiresDate: Date? = nil, expirationIntent: Int? = nil, priceIncreaseStatus: Int? = nil,
        recentSubscriptionStartDate: Date? = nil, renewalDate: Date? = nil, signedDate: Date,
        productId: String? = nil, renewalPriceMilliunits: Int64? = nil, currency: String? = nil,
        offerType: Int? = nil, offerIdentifier: String? = nil, appAccountToken: String? = nil,
        eligibleWinBackOfferIds: [String]? = nil, offerPeriod: String? = nil, billingPlanType: String? = nil,
        commitmentInfo: String? = nil
    ) {
        self.autoRenewStatus = autoRenewStatus
        self.autoRenewProductId = autoRenewProductId
        self.isInBillingRetry = isInBillingRetry
        self.gracePeriodExpiresDate = gracePeriodExpiresDate
        self.expirationIntent = expirationIntent
        self.priceIncreaseStatus = priceIncreaseStatus
        self.recentSubscriptionStartDate = recentSubscriptionStartDate
        self.renewalDate = renewalDate
        self.signedDate = signedDate
        self.productId = productId
        self.renewalPriceMilliunits = renewalPriceMilliunits
        self.currency = currency
        self.offerType = offerType
        self.offerIdentifier = offerIdentifier
        self.appAccountToken = appAccountToken
        self.eligibleWinBackOfferIds = eligibleWinBackOfferIds
        self.offerPeriod = offerPeriod
        self.billingPlanType = billingPlanType
        self.commitmentInfo = commitmentInfo
    }
}

extension RenewalFacts {
    /// Whether a charge failed: in billing retry, in a grace period, or expired because of billing.
    public var isFailingToRenew: Bool {
        isInBillingRetry == true || gracePeriodExpiresDate != nil || expirationIntent == 2
    }
}
