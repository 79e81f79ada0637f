/// Why several transactions represent one subscription period.
/// <https://developer.apple.com/documentation/appstoreserverapi/additionaltransactionreason>
public struct AdditionalTransactionReason: OpenEnumeration {
    /// Apple's spelling.
    public let rawValue: String

    /// Keeps any value.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The group purchaser added seats during the period.
    public static let seatAddition = AdditionalTransactionReason(rawValue: "SEAT_ADDITION")

    /// The documented values.
    public static let known: Set<AdditionalTransactionReason> = [.seatAddition]
}
