import AppStore

/// A kind of product, as the transaction history's filter spells it; payloads spell it otherwise.
///
/// <https://developer.apple.com/documentation/appstoreserverapi/get-transaction-history>
public struct TransactionHistoryProductType: OpenEnumeration {
    /// Apple's spelling.
    public let rawValue: String

    /// Keeps any value.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// A subscription that renews itself.
    public static let autoRenewable = TransactionHistoryProductType(rawValue: "AUTO_RENEWABLE")
    /// A subscription that does not.
    public static let nonRenewable = TransactionHistoryProductType(rawValue: "NON_RENEWABLE")
    /// Used up.
    public static let consumable = TransactionHistoryProductType(rawValue: "CONSUMABLE")
    /// Bought once and kept.
    public static let nonConsumable = TransactionHistoryProductType(rawValue: "NON_CONSUMABLE")

    /// The documented values.
    public static let known: Set<TransactionHistoryProductType> = [
        .autoRenewable, .nonRenewable, .consumable, .nonConsumable,
    ]
}
