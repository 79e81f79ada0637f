import Contracts

/// One subscription (or one-time purchase): Apple's original transaction id, within its environment.
public struct SubscriptionKey: Sendable, Hashable, Comparable {
    /// Where the purchase was made.
    public var environment: StoreEnvironment
    /// Apple's id of the first transaction, which all of its renewals share.
    public var originalTransactionId: String

    /// All fields.
    public init(environment: StoreEnvironment, originalTransactionId: String) {
        self.environment = environment
        self.originalTransactionId = originalTransactionId
    }

    /// The order in which rows are locked.
    public static func < (left: Self, right: Self) -> Bool {
        guard left.environment == right.environment else {
            return left.environment.rawValue < right.environment.rawValue
        }
        return left.originalTransactionId < right.originalTransactionId
    }
}
