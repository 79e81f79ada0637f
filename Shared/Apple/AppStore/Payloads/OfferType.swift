/// What kind of offer applied.
///
/// <https://developer.apple.com/documentation/appstoreserverapi/offertype>
public struct OfferType: OpenEnumeration {
    /// Apple's number.
    public let rawValue: Int64

    /// Keeps any value.
    public init(rawValue: Int64) { self.rawValue = rawValue }

    /// Introductory.
    public static let introductory = OfferType(rawValue: 1)
    /// Promotional, signed by us.
    public static let promotional = OfferType(rawValue: 2)
    /// The customer redeemed an offer code.
    public static let offerCode = OfferType(rawValue: 3)
    /// Win-back.
    public static let winBack = OfferType(rawValue: 4)

    /// The documented values.
    public static let known: Set<OfferType> = [
        .introductory, .promotional, .offerCode, .winBack,
    ]
}
