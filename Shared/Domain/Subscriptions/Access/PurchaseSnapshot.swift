import struct Foundation.Date

/// The stored state of one purchase with its transactions.
public struct PurchaseSnapshot: Sendable, Equatable {
    /// The newest facts of the purchase.
    public var subscription: Subscription
    /// The transactions, the newest version of each, in any order. May leave out the current one.
    public var transactions: [TransactionVersion]
    /// When a migration replaced the purchase: the beginning of the first transaction of another purchase that names it as
    /// `previousOriginalTransactionId`. Nil where none does.
    public var migratedAt: Date?

    package init(subscription: Subscription, transactions: [TransactionVersion] = [], migratedAt: Date? = nil) {
        self.subscription = subscription
        self.transactions = transactions
        self.migratedAt = migratedAt
    }

    /// The transactions with the current one, each once.
    package var versions: [TransactionVersion] {
        guard let facts = subscription.transaction, let version = subscription.transactionVersion else {
            return transactions
        }
        let current = TransactionVersion(facts, version: version)
        guard let index = transactions.firstIndex(where: { $0.facts.transactionId == facts.transactionId }) else {
            return transactions + [current]
        }
        guard transactions[index].isOlder(than: current) else { return transactions }
        var versions = transactions
        versions[index] = current
        return versions
    }
}

extension PurchaseSnapshot {
    /// The state of the purchase at a moment, past or future, as known now.
    /// - Parameter durations: the configured durations of non-renewing products, by product id.
    public func state(at moment: Date, durations: [String: ProductDuration] = [:]) -> SubscriptionState {
        let period = AccessSchedule(of: self, durations: durations).period(at: moment)
        return subscription.state(at: moment, access: period?.reason)
    }
}
