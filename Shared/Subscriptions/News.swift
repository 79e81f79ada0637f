import struct Foundation.Date

/// What one proven notification says about one subscription or one-time purchase.
public struct News: Sendable, Equatable {
    public var key: SubscriptionKey
    public var stamp: Stamp
    public var bundleId: String
    /// Apple's `notificationType` and `subtype`, raw, so that an unknown one is kept.
    public var notificationType: String
    public var subtype: String?
    /// Apple's `status` raw value (1 active … 5 revoked), nil where the notification has none.
    public var status: Int?
    public var transaction: TransactionFacts?
    public var renewal: RenewalFacts?

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
    public var transactionId: String
    public var productId: String
    public var productType: String
    public var subscriptionGroupIdentifier: String?
    public var purchaseDate: Date?
    public var originalPurchaseDate: Date?
    public var expiresDate: Date?
    public var quantity: Int?
    /// The customer's `appAccountToken`, lower-case UUID text.
    public var appAccountToken: String?
    public var ownership: String?
    public var isUpgraded: Bool
    public var revocationDate: Date?
    public var revocationReason: Int?
    public var offerType: Int?
    public var offerIdentifier: String?
    /// Price in thousandths of a unit of `currency` (ISO 4217).
    public var priceMilliunits: Int64?
    public var currency: String?
    /// The transaction's own `signedDate`.
    public var signedDate: Date

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
    public var autoRenewStatus: Bool?
    public var autoRenewProductId: String?
    public var isInBillingRetry: Bool?
    public var gracePeriodExpiresDate: Date?
    public var expirationIntent: Int?
    public var priceIncreaseStatus: Int?
    public var recentSubscriptionStartDate: Date?
    public var renewalDate: Date?
    /// The renewal info's own `signedDate`.
    public var signedDate: Date

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
