/// Why there is a transaction.
///
/// <https://developer.apple.com/documentation/appstoreserverapi/transactionreason>
public struct TransactionReason: OpenEnumeration {
    /// Apple's spelling.
    public let rawValue: String

    /// Keeps any value.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The customer bought.
    public static let purchase = TransactionReason(rawValue: "PURCHASE")
    /// The App Store renewed.
    public static let renewal = TransactionReason(rawValue: "RENEWAL")

    /// The documented values.
    public static let known: Set<TransactionReason> = [
        .purchase, .renewal,
    ]
}
