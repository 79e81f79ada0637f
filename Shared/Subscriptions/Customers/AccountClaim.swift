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
    /// Since when: the date of purchase of the transaction with the token, or the time of the upload.
    public var since: Date

    /// All fields.
    public init(
        key: SubscriptionKey, bundleId: String, appTransactionId: String?, appAccountToken: String, since: Date
    ) {
        self.key = key
        self.bundleId = bundleId
        self.appTransactionId = appTransactionId
        self.appAccountToken = appAccountToken
        self.since = since
    }
}
