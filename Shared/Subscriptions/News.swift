import struct Foundation.Date

/// What one proven notification says about one subscription or one-time purchase.
public struct News: Sendable, Equatable {
    /// What decides the partition.
    public var key: SubscriptionKey
    /// How new the news is.
    public var stamp: Stamp
    /// The app, by its bundle identifier.
    public var bundleId: String
    /// Apple's `notificationType` and `subtype`, raw, so that an unknown one is kept.
    public var notificationType: String
    /// Apple's raw subtype, where the type has one.
    public var subtype: String?
    /// Apple's `status` raw value (1 active … 5 revoked), nil where the notification has none.
    public var status: Int?
    /// The newest transaction known.
    public var transaction: TransactionFacts?
    /// The newest renewal info known.
    public var renewal: RenewalFacts?

    /// All fields.
    public init(
        key: SubscriptionKey, stamp: Stamp, bundleId: String, notificationType: String, subtype: String?,
        status: Int?, transaction: TransactionFacts?, renewal: RenewalFacts?
    ) {
        self.key = key
        self.stamp = stamp
        self.bundleId = bundleId
        self.notificationType = notificationType
        self.subtype = subtype
        self.status = status
        self.transaction = transaction
        self.renewal = renewal
    }
}

/// What we keep of Apple's `JWSTransactionDecodedPayload`.
public struct TransactionFacts: Sendable, Equatable {
    /// Apple's id of the newest transaction.
    public var transactionId: String
    /// The product, by its App Store Connect id.
    public var productId: String
    /// Apple's `type`, e.g. `Auto-Renewable Subscription`.
    public var productType: String
    /// The group of subscriptions of which a customer has one.
    public var subscriptionGroupIdentifier: String?
    /// Start of this period.
    public var purchaseDate: Date?
    /// When the first transaction was bought.
    public var originalPurchaseDate: Date?
    /// End of this period, where the product has periods.
    public var expiresDate: Date?
    /// How many were bought.
    public var quantity: Int?
    /// The customer's `appAccountToken`, lower-case UUID text.
    public var appAccountToken: String?
    /// Apple's `inAppOwnershipType`: bought, or shared by the family.
    public var ownership: String?
    /// Whether a purchase of a higher level replaced it.
    public var isUpgraded: Bool
    /// When Apple refunded it or family sharing ended; nil while it stands.
    public var revocationDate: Date?
    /// Apple's raw value: 0 other, 1 an issue with the app.
    public var revocationReason: Int?
    /// Apple's raw value: 1 introductory, 2 promotional, 3 code, 4 win-back.
    public var offerType: Int?
    /// Which offer.
    public var offerIdentifier: String?
    /// Price in thousandths of a unit of `currency` (ISO 4217).
    public var priceMilliunits: Int64?
    /// ISO 4217.
    public var currency: String?
    /// The transaction's own `signedDate`.
    public var signedDate: Date

    /// All fields.
    public init(
        transactionId: String, productId: String, productType: String, subscriptionGroupIdentifier: String? = nil,
        purchaseDate: Date? = nil, originalPurchaseDate: Date? = nil, expiresDate: Date? = nil, quantity: Int? = nil,
        appAccountToken: String? = nil, ownership: String? = nil, isUpgraded: Bool = false,
        revocationDate: Date? = nil, revocationReason: Int? = nil, offerType: Int? = nil,
        offerIdentifier: String? = nil, priceMilliunits: Int64? = nil, currency: String? = nil, signedDate: Date
    ) {
        self.transactionId = transactionId
        self.productId = productId
        self.productType = productType
        self.subscriptionGroupIdentifier = subscriptionGroupIdentifier
        self.purchaseDate = purchaseDate
        self.originalPurchaseDate = originalPurchaseDate
        self.expiresDate = expiresDate
        self.quantity = quantity
        self.appAccountToken = appAccountToken
        self.ownership = ownership
        self.isUpgraded = isUpgraded
        self.revocationDate = revocationDate
        self.revocationReason = revocationReason
        self.offerType = offerType
        self.offerIdentifier = offerIdentifier
        self.priceMilliunits = priceMilliunits
        self.currency = currency
        self.signedDate = signedDate
    }
}

/// What we keep of Apple's `JWSRenewalInfoDecodedPayload`.
public struct RenewalFacts: Sendable, Equatable {
    /// Whether it will renew.
    public var autoRenewStatus: Bool?
    /// The product it will renew as.
    public var autoRenewProductId: String?
    /// Whether Apple is trying to charge.
    public var isInBillingRetry: Bool?
    /// Until when access goes on although the charge failed.
    public var gracePeriodExpiresDate: Date?
    /// Apple's raw value: 1 cancelled, 2 billing, 3 price, 4 product gone, 5 other.
    public var expirationIntent: Int?
    /// Apple's raw value: 0 asked, 1 agreed.
    public var priceIncreaseStatus: Int?
    /// Start of the service without a gap of more than 60 days.
    public var recentSubscriptionStartDate: Date?
    /// When the next charge is due.
    public var renewalDate: Date?
    /// The renewal info's own `signedDate`.
    public var signedDate: Date

    /// All fields.
    public init(
        autoRenewStatus: Bool? = nil, autoRenewProductId: String? = nil, isInBillingRetry: Bool? = nil,
        gracePeriodExpiresDate: Date? = nil, expirationIntent: Int? = nil, priceIncreaseStatus: Int? = nil,
        recentSubscriptionStartDate: Date? = nil, renewalDate: Date? = nil, signedDate: Date
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
    }
}
