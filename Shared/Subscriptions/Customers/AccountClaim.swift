import struct Foundation.Date

/// That one of the app's accounts claims a purchase: by the token in a transaction, or by uploading one.
public struct AccountClaim: Sendable, Hashable {
    /// The purchase.
    public var key: SubscriptionKey
    /// The app.
    public var bundleId: String
    /// Apple's id of the customer within the app. Older transactions have none.
    public var appTransactionId: String?
    /// The app's account, lower-case UUID text.
    public var appAccountToken: String
    /// Since when: the date of purchase of the transaction with the token, to the millisecond, or the time of the upload.
    public var since: Date
    /// When Apple signed the claim of that moment, or the time of the upload. Of two accounts that claim one transaction
    /// the later signed counts first: the purchase was moved to it.
    public var toldAt: Date

    /// All fields.
    /// - Parameter toldAt: nil stands for `since`.
    public init(
        key: SubscriptionKey, bundleId: String, appTransactionId: String?, appAccountToken: String, since: Date,
        toldAt: Date? = nil
    ) {
        self.key = key
        self.bundleId = bundleId
        self.appTransactionId = appTransactionId
        self.appAccountToken = appAccountToken
        self.since = since
        self.toldAt = toldAt ?? since
    }

    /// Nil where the event holds no transaction with a token.
    public init?(_ event: PurchaseEvent) {
        guard let transaction = event.transaction, let token = transaction.appAccountToken else { return nil }
        self.init(
            key: event.key, bundleId: event.bundleId, appTransactionId: transaction.appTransactionId,
            appAccountToken: token, since: (transaction.purchaseDate ?? transaction.signedDate).wholeMilliseconds,
            toldAt: transaction.signedDate)
    }

    /// Whether it counts before another one, as far as their times tell.
    public func isBefore(_ other: AccountClaim) -> Bool {
        guard since == other.since else { return since < other.since }
        return toldAt > other.toldAt
    }
}
