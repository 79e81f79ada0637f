/// Whose a purchase is within Apple's books, as far as it says.
public struct OwnedPurchase: Sendable, Hashable {
    /// The purchase.
    public var key: SubscriptionKey
    /// The app.
    public var bundleId: String
    /// Apple's id of the customer within the app. Older transactions have none.
    public var appTransactionId: String?

    /// All fields.
    public init(key: SubscriptionKey, bundleId: String, appTransactionId: String?) {
        self.key = key
        self.bundleId = bundleId
        self.appTransactionId = appTransactionId
    }
}

extension OwnedPurchase {
    /// From what is known of the purchase.
    public init(_ subscription: Subscription) {
        self.init(
            key: subscription.key, bundleId: subscription.bundleId,
            appTransactionId: subscription.transaction?.appTransactionId)
    }

    /// From a claim, which names the purchase too.
    init(_ claim: AccountClaim) {
        self.init(key: claim.key, bundleId: claim.bundleId, appTransactionId: claim.appTransactionId)
    }
}
