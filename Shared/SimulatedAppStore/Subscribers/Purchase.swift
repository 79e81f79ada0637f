import AppStore

import struct Foundation.Date

/// One transaction, before it is written as Apple's payload.
struct Purchase: Sendable, Equatable {
    enum Reason: Sendable, Equatable { case purchase, renewal }

    var originalTransactionId: String
    var transactionId: String
    /// Nil for a one-time purchase.
    var webOrderLineItemId: String?
    var product: Product
    /// When it was charged; of a renewal, when its period begins: the charge may be a day earlier.
    var purchaseDate: Date
    var originalPurchaseDate: Date
    var expiresDate: Date?
    var reason: Reason
    var price: Int64
    /// Of a volume purchase, its seats.
    var quantity: Int64 = 1
    /// More than one transaction represents its period, because seats were added.
    var sharesPeriod = false
    /// Seats that a refund took back; the transaction stands.
    var revokedSeats: Int64 = 0
    var offer: Offer?
    var revocation: Revocation?
    /// Of a product that is paid in parts.
    var commitment: Commitment?
    /// Of Advanced Commerce.
    var commerce: Commerce?
    /// Replaced by something better before it ended.
    var isUpgraded = false

    /// Twelve monthly payments that the customer owes.
    struct Commitment: Sendable, Equatable {
        static let payments = 12

        /// Which payment, from 1.
        var number: Int
        /// Moves on where a failed charge succeeds late.
        var expiresDate: Date

        var isLast: Bool { number == Self.payments }
    }

    /// A refund, or the end of sharing.
    struct Revocation: Sendable, Equatable {
        var date: Date
        /// 0 other, 1 a fault of the app.
        var reason: Int
        var type: RevocationType
        /// Thousandths of a percent, of a refund in part.
        var percentage: Int64?

        /// Whether money went back to the customer.
        var isRefund: Bool { type == .refundFull || type == .refundProrated }
    }
}

/// The renewal of a subscription, before it is written as Apple's payload.
struct Renewal: Sendable, Equatable {
    var product: Product
    /// What it renews to: differs from ``product`` after a downgrade.
    var nextProduct: Product
    var willRenew: Bool
    /// Whether another commitment follows; nil without a commitment.
    var commitmentWillRenew: Bool?
    /// The end of the newest period, which Apple states whether it renews or not.
    var date: Date?
    var isInBillingRetry: Bool
    var graceExpiresDate: Date?
    /// 1 cancelled, 2 billing error, 3 price not consented, 4 product not for sale, 5 other.
    var expirationIntent: Int?
    var recentStartDate: Date
    /// 0 not answered, 1 consented or not needed; nil without a price increase.
    var priceIncreaseStatus: Int64?
    /// The price of the next period where it is not the product's.
    var nextPrice: Int64?
    /// Applies to the next period.
    var nextOffer: Offer?
    /// Offers for a customer who left.
    var winBackOffers: [String] = []
}
