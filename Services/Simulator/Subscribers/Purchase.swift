import AppStore

import struct Foundation.Date

/// The facts of one transaction, before they are written in Apple's words.
struct Purchase: Sendable, Equatable {
    enum Reason: Sendable, Equatable { case purchase, renewal }

    var originalTransactionId: String
    var transactionId: String
    /// Nil for what is bought once.
    var webOrderLineItemId: String?
    var product: Product
    /// When it was bought; of a renewal, when its period begins: it may have been charged a day before.
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
    /// Replaced by something better before it ended.
    var isUpgraded = false

    /// Money was given back, or sharing ended.
    struct Revocation: Sendable, Equatable {
        var date: Date
        /// 0 other, 1 a fault of the app.
        var reason: Int
        var type: RevocationType
        /// Thousandths of a percent, of a refund in part.
        var percentage: Int64?
    }
}

/// The facts of a subscription's renewal, before they are written in Apple's words.
struct Renewal: Sendable, Equatable {
    var product: Product
    /// What it renews to: differs from ``product`` after a downgrade.
    var nextProduct: Product
    var willRenew: Bool
    /// The end of the newest period, which Apple says whether it will renew or not.
    var date: Date?
    var isInBillingRetry: Bool
    var graceExpiresDate: Date?
    /// 1 cancelled, 2 billing error, 3 price not consented, 4 product not for sale, 5 other.
    var expirationIntent: Int?
    var recentStartDate: Date
    /// 0 not answered, 1 consented or not needed; nil without a price increase.
    var priceIncreaseStatus: Int64?
    /// What the next period costs where it is not the product's price.
    var nextPrice: Int64?
    /// Applies to the next period.
    var nextOffer: Offer?
    /// Offers that a customer who left could take.
    var winBackOffers: [String] = []
}
