import struct Foundation.Date

/// The facts of one transaction, before they are written in Apple's words.
struct Purchase: Sendable, Equatable {
    enum Reason: Sendable, Equatable { case purchase, renewal }

    var originalTransactionId: String
    var transactionId: String
    /// Nil for what is bought once.
    var webOrderLineItemId: String?
    var product: Product
    var purchaseDate: Date
    var originalPurchaseDate: Date
    var expiresDate: Date?
    var reason: Reason
    var revocationDate: Date?
    /// 0 other, 1 a fault of the app.
    var revocationReason: Int?
    /// Replaced by something better before it ended.
    var isUpgraded = false
}

/// The facts of a subscription's renewal, before they are written in Apple's words.
struct Renewal: Sendable, Equatable {
    var product: Product
    /// What it renews to: differs from ``product`` after a downgrade.
    var nextProduct: Product
    var willRenew: Bool
    var isInBillingRetry: Bool
    var graceExpiresDate: Date?
    /// 1 cancelled, 2 billing error.
    var expirationIntent: Int?
    var recentStartDate: Date
}
