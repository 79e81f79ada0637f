import struct Foundation.Date

/// The claim of one of the app's accounts to a purchase, and the evidence for it.
public struct AccountClaim: Sendable, Hashable {
    /// Of the purchase that the account claims.
    public var key: SubscriptionKey
    /// The app's bundle identifier.
    public var bundleId: String
    /// Apple's id of the customer within the app. Older transactions have none.
    public var appTransactionId: String?
    /// The app's account, lower-case UUID text.
    public var appAccountToken: String
    /// `apple` where a transaction has the account's token.
    public var evidence: ClaimEvidence
    /// The purchase date of the transaction with the token, to the millisecond, or the time of the upload.
    public var since: Date
    /// When Apple signed the transaction with the token, or the time of the upload. Of two accounts that claim one
    /// transaction the one signed later comes first: Apple moved the purchase to it.
    public var signedAt: Date

    /// - Parameter signedAt: nil stands for `since`.
    package init(
        key: SubscriptionKey, bundleId: String, appTransactionId: String?, appAccountToken: String,
        evidence: ClaimEvidence, since: Date, signedAt: Date? = nil
    ) {
        self.key = key
        self.bundleId = bundleId
        self.appTransactionId = appTransactionId
        self.appAccountToken = appAccountToken
        self.evidence = evidence
        self.since = since
        self.signedAt = signedAt ?? since
    }

    /// Nil where the event holds no transaction with a token.
    public init?(_ event: PurchaseEvent) {
        guard let transaction = event.transaction, let token = transaction.appAccountToken else { return nil }
        self.init(
            key: event.key, bundleId: event.bundleId, appTransactionId: transaction.appTransactionId,
            appAccountToken: token, evidence: .apple,
            since: (transaction.purchaseDate ?? transaction.signedDate).wholeMilliseconds,
            signedAt: transaction.signedDate)
    }

    /// Whether another claim of the same account would change nothing beside it.
    public func includes(_ other: AccountClaim) -> Bool {
        key == other.key && bundleId == other.bundleId && appAccountToken == other.appAccountToken
            && (appTransactionId == other.appTransactionId || other.appTransactionId == nil)
            && (evidence < other.evidence || evidence == other.evidence && since <= other.since)
    }

    /// Whether it comes before another claim: by its evidence, then by its times; both directions are false where these are
    /// equal.
    public func isBefore(_ other: AccountClaim) -> Bool {
        guard evidence == other.evidence else { return evidence < other.evidence }
        guard since == other.since else { return since < other.since }
        return signedAt > other.signedAt
    }
}
