/// What kind of product was bought.
///
/// <https://developer.apple.com/documentation/appstoreserverapi/type>
public struct TransactionType: OpenEnumeration {
    /// Apple's spelling.
    public let rawValue: String

    /// Keeps any value.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Renews until it is stopped.
    public static let autoRenewableSubscription = TransactionType(rawValue: "Auto-Renewable Subscription")
    /// Bought once, kept.
    public static let nonConsumable = TransactionType(rawValue: "Non-Consumable")
    /// Bought and used up.
    public static let consumable = TransactionType(rawValue: "Consumable")
    /// Runs for a time and does not renew.
    public static let nonRenewingSubscription = TransactionType(rawValue: "Non-Renewing Subscription")

    /// The documented values.
    public static let known: Set<TransactionType> = [
        .autoRenewableSubscription, .nonConsumable, .consumable, .nonRenewingSubscription,
    ]
}
