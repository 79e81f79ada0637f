import struct Foundation.Date

/// A purchase with the Apple account and the app's account that its newest payloads name.
public struct OwnedPurchase: Sendable, Hashable {
    /// Of the purchase that is owned.
    public var key: SubscriptionKey
    /// The app's bundle identifier.
    public var bundleId: String
    /// Apple's id of the customer within the app. Older transactions have none.
    public var appTransactionId: String?
    /// The app's account that the newest transaction or renewal info names, lower-case UUID text: it owns the purchase.
    /// Nil where they name none.
    public var appAccountToken: String?
    /// When it was last bought by a transaction that names an account; a renewal is no purchase. Nil where it never was.
    public var boughtAt: Date?
    /// When what was bought so ends; a period that another purchase replaced ends with that one, whether Apple has signed it since or
    /// not. What lasts for ever ends in the distant future, or with its refund. Nil where no end is known.
    public var boughtUntil: Date?
    /// The original transaction id of the purchase that a migration replaced by this one: both are of one Apple account. Nil where it
    /// replaced none.
    public var migratedFrom: String?
    /// When the first of its transactions was charged that name the purchase before. Nil where it replaced none.
    public var migratedAt: Date?

    package init(
        key: SubscriptionKey, bundleId: String, appTransactionId: String?, appAccountToken: String? = nil,
        boughtAt: Date? = nil, boughtUntil: Date? = nil, migratedFrom: String? = nil, migratedAt: Date? = nil
    ) {
        self.key = key
        self.bundleId = bundleId
        self.appTransactionId = appTransactionId
        self.appAccountToken = appAccountToken
        self.boughtAt = boughtAt
        self.boughtUntil = boughtUntil
        self.migratedFrom = migratedFrom
        self.migratedAt = migratedAt
    }
}

extension OwnedPurchase {
    /// From the stored state of the purchase.
    /// - Parameter transactions: its newest versions, in no order.
    public init(_ subscription: Subscription, _ transactions: [TransactionVersion] = []) {
        let migrated = transactions.lazy.map(\.facts).filter { facts in
            facts.previousOriginalTransactionId.map { $0 != subscription.key.originalTransactionId } ?? false
        }
        let purchases = transactions.map(\.facts).filter { $0.reason == "PURCHASE" }
        let bought = purchases.filter { $0.appAccountToken != nil }
        self.init(
            key: subscription.key, bundleId: subscription.bundleId,
            appTransactionId: subscription.transaction?.appTransactionId,
            appAccountToken: subscription.appAccountToken,
            boughtAt: bought.compactMap(\.purchaseDate).max(),
            boughtUntil: bought.filter { !$0.isUpgraded }.compactMap { facts in
                let next = facts.purchaseDate.flatMap { date in
                    purchases.compactMap(\.purchaseDate).filter { $0 > date }.min()
                }
                let end = [facts.expiresDate, facts.revocationDate, next].compactMap(\.self).min()
                let isForEver = facts.kind == .nonConsumable || facts.kind == .consumable
                return end ?? (isForEver ? .distantFuture : nil)
            }.max(),
            migratedFrom: migrated.compactMap(\.previousOriginalTransactionId).min(),
            migratedAt: migrated.compactMap(\.purchaseDate).min())
    }

    /// From a claim, which has the same ids and no owner.
    init(_ claim: AccountClaim) {
        self.init(key: claim.key, bundleId: claim.bundleId, appTransactionId: claim.appTransactionId)
    }
}

extension Subscription {
    /// The app's account that owns the purchase, by the payload that Apple signed last. Set App Account Token appears in the
    /// renewal info before the next transaction has it.
    ///
    /// [appAccountToken](https://developer.apple.com/documentation/appstoreserverapi/appaccounttoken)
    public var appAccountToken: String? {
        guard let token = renewal?.appAccountToken, let renewal, let transaction else {
            return transaction?.appAccountToken ?? renewal?.appAccountToken
        }
        return renewal.signedDate > transaction.signedDate ? token : transaction.appAccountToken ?? token
    }
}
