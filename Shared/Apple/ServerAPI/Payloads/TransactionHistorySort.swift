import AppStore

/// In which order of their last change transactions are listed.
///
/// <https://developer.apple.com/documentation/appstoreserverapi/get-transaction-history>
public struct TransactionHistorySort: OpenEnumeration {
    /// Apple's spelling.
    public let rawValue: String

    /// Keeps any value.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The oldest change first, which is the default: the only order whose last revision is worth storing.
    public static let ascending = TransactionHistorySort(rawValue: "ASCENDING")
    /// The newest change first.
    public static let descending = TransactionHistorySort(rawValue: "DESCENDING")

    /// The documented values.
    public static let known: Set<TransactionHistorySort> = [
        .ascending, .descending,
    ]
}
