import Contracts

/// One subscription (or one-time purchase): Apple's original transaction id, within its environment.
public struct SubscriptionKey: Sendable, Hashable, Comparable {
    public var environment: StoreEnvironment
    public var originalTransactionId: String

    public init(environment: StoreEnvironment, originalTransactionId: String) {
        self.environment = environment
        self.originalTransactionId = originalTransactionId
    }

    public static func < (left: Self, right: Self) -> Bool {
        (left.environment.rawValue, left.originalTransactionId)
            < (right.environment.rawValue, right.originalTransactionId)
    }
}
