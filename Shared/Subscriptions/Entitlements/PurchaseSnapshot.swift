/// One purchase of a customer, as stored.
public struct PurchaseSnapshot: Sendable, Equatable {
    /// Its newest facts.
    public var subscription: Subscription
    /// Its transactions, the newest version of each, in any order. May leave out the current one.
    public var transactions: [TransactionFacts]

    /// All fields.
    public init(subscription: Subscription, transactions: [TransactionFacts]) {
        self.subscription = subscription
        self.transactions = transactions
    }
}
