/// Whether the customer answered to a price increase.
///
/// <https://developer.apple.com/documentation/appstoreserverapi/priceincreasestatus>
public struct PriceIncreaseStatus: OpenEnumeration {
    /// Apple's number.
    public let rawValue: Int64

    /// Keeps any value.
    public init(rawValue: Int64) { self.rawValue = rawValue }

    /// Not yet.
    public static let unanswered = PriceIncreaseStatus(rawValue: 0)
    /// Consented, or was informed where consent is not needed.
    public static let accepted = PriceIncreaseStatus(rawValue: 1)

    /// The documented values.
    public static let known: Set<PriceIncreaseStatus> = [
        .unanswered, .accepted,
    ]
}
