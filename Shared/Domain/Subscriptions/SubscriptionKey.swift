import Contracts

/// One subscription (or one-time purchase): Apple's original transaction id, within its environment.
public struct SubscriptionKey: Sendable, Hashable, Comparable {
    /// Apple's environment of the purchase.
    public var environment: StoreEnvironment
    /// Apple's id of the first transaction, shared by all of its renewals.
    public var originalTransactionId: String

    package init(environment: StoreEnvironment, originalTransactionId: String) {
        self.environment = environment
        self.originalTransactionId = originalTransactionId
    }

    /// The order in which transactions lock rows, so that two of them cannot deadlock.
    public static func < (left: Self, right: Self) -> Bool {
        guard left.environment == right.environment else {
            return left.environment.rawValue < right.environment.rawValue
        }
        return left.originalTransactionId < right.originalTransactionId
    }
}
