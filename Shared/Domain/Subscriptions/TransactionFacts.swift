import struct Foundation.Date

/// The stored fields of a transaction, under Apple's names. Nil means that the payload has no such field.
///
/// [JWSTransactionDecodedPayload](https://developer.apple.com/documentation/appstoreserverapi/jwstransactiondecodedpayload)
public struct TransactionFacts: Sendable, Equatable {
    /// Apple's id of the transaction.
    public var transactionId: String
    /// The product, by its App Store Connect id.
    public var productId: String
    /// Apple's `type`, e.g. `Auto-Renewable Subscription`.
    public var productType: String
    /// The subscription group; a customer has one subscription of a group.
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
    /// When Apple refunded it or family sharing ended; nil where neither happened.
    public var revocationDate: Date?
    /// Apple's raw value: 0 other, 1 an issue with the app.
    public var revocationReason: Int?
    /// Apple's raw value: 1 introductory, 2 promotional, 3 code, 4 win-back.
    public var offerType: Int?
    /// Apple's id of the offer.
    public var offerIdentifier: String?
    /// Price in thousandths of a unit of ``currency``.
    public var priceMilliunits: Int64?
    /// ISO 4217 code.
    public var currency: String?
    /// The transaction's own `signedDate`.
    public var signedDate: Date
    /// Apple's `transactionReason`: `PURCHASE` or `RENEWAL`. Nil in older payloads.
    public var reason: String?
    /// Apple's `offerDiscountType`, e.g. `FREE_TRIAL`. Nil where there is no offer, and in older payloads.
    public var offerDiscountType: String?
    /// Apple's `revocationType`, e.g. `REFUND_PRORATED`. Nil where nothing was revoked, and in older payloads.
    public var revocationType: String?
    /// Apple's id of the customer within the app; the same for every purchase of one Apple account.
    public var appTransactionId: String?
    /// Apple's id of the order line, which support reads off a receipt; one for each period.
    public var webOrderLineItemId: String?
    /// The original transaction id of the subscription before it was migrated to this one.
    public var previousOriginalTransactionId: String?
    /// Apple's `additionalTransactionReason`: why several transactions represent one period, e.g. `SEAT_ADDITION`.
    public var additionalTransactionReason: String?
    /// How many of the seats in ``quantity`` a refund revoked.
    public var revokedSeatQuantity: Int?
    /// Apple's `multiSeatInfo`, as JSON.
    public var multiSeatInfo: String?
    /// The refunded share of the price, in thousandths of a percent. Of Advanced Commerce it sums up the refunds of the items, also
    /// while the transaction goes on.
    public var revocationPercentage: Int64?
    /// The refunds of the items of Advanced Commerce; empty where Apple does not say of each how much and when.
    public var itemRefunds: [ItemRefund]
    /// Three-letter country code of the storefront; some payloads have `xx_XX`.
    public var storefront: String?
    /// ISO 8601 duration of the offer.
    public var offerPeriod: String?
    /// Apple's `billingPlanType`: `BILLED_UPFRONT` or `MONTHLY`.
    public var billingPlanType: String?
    /// Apple's `commitmentInfo`, as JSON.
    public var commitmentInfo: String?

    /// A refund of an item of Advanced Commerce.
    public struct ItemRefund: Sendable, Equatable {
        /// When Apple refunded it.
        public var date: Date
        /// In thousandths of a unit of the currency.
        public var amount: Int64

        package init(date: Date, amount: Int64) { (self.date, self.amount) = (date, amount) }
    }

    package init(
        transactionId: String, productId: String, productType: String, subscriptionGroupIdentifier: String? = nil,
        purchaseDate: Date? = nil, originalPurchaseDate: Date? = nil, expiresDate: Date? = nil, quantity: Int? = nil,
        appAccountToken: String? = nil, ownership: String? = nil, isUpgraded: Bool = false,
        revocationDate: Date? = nil, revocationReason: Int? = nil, offerType: Int? = nil,
        offerIdentifier: String? = nil, priceMilliunits: Int64? = nil, currency: String? = nil, signedDate: Date,
        reason: String? = nil, offerDiscountType: String? = nil, revocationType: String? = nil,
        appTransactionId: String? = nil, webOrderLineItemId: String? = nil,
        previousOriginalTransactionId: String? = nil, additionalTransactionReason: String? = nil,
        revokedSeatQuantity: Int? = nil, multiSeatInfo: String? = nil, revocationPercentage: Int64? = nil,
        itemRefunds: [ItemRefund] = [], storefront: String? = nil, offerPeriod: String? = nil,
        billingPlanType: String? = nil, commitmentInfo: String? = nil
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
        self.reason = reason
        self.offerDiscountType = offerDiscountType
        self.revocationType = revocationType
        self.appTransactionId = appTransactionId
        self.webOrderLineItemId = webOrderLineItemId
        self.previousOriginalTransactionId = previousOriginalTransactionId
        self.additionalTransactionReason = additionalTransactionReason
        self.revokedSeatQuantity = revokedSeatQuantity
        self.multiSeatInfo = multiSeatInfo
        self.revocationPercentage = revocationPercentage
        self.itemRefunds = itemRefunds
        self.storefront = storefront
        self.offerPeriod = offerPeriod
        self.billingPlanType = billingPlanType
        self.commitmentInfo = commitmentInfo
    }
}

extension TransactionFacts {
    /// Whether a member of the family bought it.
    public var isFamilyShared: Bool { ownership == "FAMILY_SHARED" }

    /// Whether its customer paid nothing for it, because the payment is in another purchase: that of a member of the family, or that of the
    /// seats of which one was assigned.
    package var isPaidElsewhere: Bool { ownership.map { Self.ownershipsPaidElsewhere.contains($0) } ?? false }

    /// Apple's spelling, in a fixed order.
    package static let ownershipsPaidElsewhere = ["FAMILY_SHARED", "ASSIGNED"]

    /// Whether the period has an end and a length. A period that ends before it begins gives no access at any time.
    var hasPeriod: Bool {
        guard let expiresDate else { return false }
        guard let purchaseDate else { return true }
        return purchaseDate < expiresDate
    }
}
