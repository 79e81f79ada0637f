import Subscriptions

import struct Foundation.Date

/// What is known of a refund request at a moment: all that a policy decides by. Dates of the request are Apple's.
package struct RefundSubject: Sendable, Equatable {
    /// The transaction of the request.
    package var transactionId: String
    /// The app.
    package var bundleId: String
    /// The product, and Apple's type of it.
    package var productId: String
    package var productType: String
    /// Three letters of the country; nil in old payloads.
    package var storefront: String?
    /// In thousandths of a unit of the currency.
    package var priceMilliunits: Int64?
    package var currency: String?
    package var isFamilyShared = false
    /// Whether the signed transaction has `advancedCommerceInfo`.
    package var isAdvancedCommerce = false
    /// Of the transaction.
    package var purchasedAt: Date?
    /// Of the first transaction of the purchase.
    package var originallyPurchasedAt: Date?
    /// Apple's `transactionReason`: `PURCHASE` where the customer bought, `RENEWAL`; nil in older payloads.
    package var transactionReason: String?
    /// The first request since Apple's last decision: conditions of time count up to it, so that repeats change nothing.
    package var requestedAt: Date
    /// Apple's `consumptionRequestReason`.
    package var reason: String?
    /// Whether no earlier transaction of the purchase was paid.
    package var isFirstPayment = false
    /// Whether it is the first payment after a free trial.
    package var isConvertedFromTrial = false
    /// When other transactions of the customer were refunded.
    package var refunds: [Date] = []
    /// When the customer asked for refunds of other transactions, the newest request of each.
    package var refundRequests: [Date] = []
    /// How many transactions of the customer were paid, with this one.
    package var paidTransactions = 0
    /// The account that owns or claims the purchase; nil where there is none.
    package var account: Account?
    /// The newest report of the transaction.
    package var usage: UsageReport?

    package init(
        transactionId: String, bundleId: String, productId: String, productType: String, requestedAt: Date
    ) {
        self.transactionId = transactionId
        self.bundleId = bundleId
        self.productId = productId
        self.productType = productType
        self.requestedAt = requestedAt
    }

    /// Whether Apple counts periods for it, and takes no percentage.
    package var isAutoRenewable: Bool { productType == ProductKind.autoRenewable.rawValue }

    /// How long after the first transaction the customer asked; nil where Apple's payload has no date.
    package var sincePurchase: Double? {
        (originallyPurchasedAt ?? purchasedAt).map { requestedAt.timeIntervalSince($0) }
    }

    /// How long after the renewal the customer asked; nil where the transaction is no renewal: who subscribes again, or changes to a
    /// better product, buys.
    package var sinceRenewal: Double? {
        guard let purchasedAt, let originallyPurchasedAt, originallyPurchasedAt < purchasedAt, isAutoRenewable,
            transactionReason != "PURCHASE"
        else { return nil }
        return requestedAt.timeIntervalSince(purchasedAt)
    }

    /// The account of a purchase, and what is on record of its consent to telling Apple about the use.
    package struct Account: Sendable, Equatable {
        /// When the customer was created through the API; nil where it never was.
        package var createdAt: Date?
        /// The newest consent or withdrawal; nil where there is none.
        package var consent: (isGiven: Bool, at: Date)?
        /// When Apple last reported that a parent withdrew the consent to the use of the app.
        package var rescindedAt: Date?

        package init(createdAt: Date? = nil, consent: (isGiven: Bool, at: Date)? = nil, rescindedAt: Date? = nil) {
            self.createdAt = createdAt
            self.consent = consent
            self.rescindedAt = rescindedAt
        }

        package static func == (left: Self, right: Self) -> Bool {
            left.createdAt == right.createdAt && left.consent?.isGiven == right.consent?.isGiven
                && left.consent?.at == right.consent?.at && left.rescindedAt == right.rescindedAt
        }

        /// Whether something may be told to Apple: the newest on record counts, a parent's withdrawal ends what was given before,
        /// and accounts without a record count as consenting if they were created since the terms of the policy said so.
        package func isConsenting(under terms: RefundPolicy.Consent?) -> Bool {
            func outlives(_ moment: Date) -> Bool { rescindedAt.map { $0 < moment } ?? true }
            if let consent { return consent.isGiven && outlives(consent.at) }
            guard let since = terms?.acceptedSince, let createdAt, createdAt >= since else { return false }
            return outlives(createdAt)
        }
    }

    /// How far a customer used what was bought, as the backend reported it; nil where it said nothing.
    package struct UsageReport: Sendable, Equatable {
        /// In thousandths of a per cent: 100000 is everything.
        package var percentage: Int64?
        package var deliveryStatus: DeliveryStatus?
        package var isSampleProvided: Bool?

        package init(
            percentage: Int64? = nil, deliveryStatus: DeliveryStatus? = nil, isSampleProvided: Bool? = nil
        ) {
            self.percentage = percentage
            self.deliveryStatus = deliveryStatus
            self.isSampleProvided = isSampleProvided
        }

        /// With what another report says where this one says nothing.
        package func completed(by other: UsageReport?) -> UsageReport {
            UsageReport(
                percentage: percentage ?? other?.percentage, deliveryStatus: deliveryStatus ?? other?.deliveryStatus,
                isSampleProvided: isSampleProvided ?? other?.isSampleProvided)
        }
    }
}
