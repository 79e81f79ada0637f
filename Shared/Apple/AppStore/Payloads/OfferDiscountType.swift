/// How an offer is paid.
///
/// <https://developer.apple.com/documentation/appstoreserverapi/offerdiscounttype>
public struct OfferDiscountType: OpenEnumeration {
    /// Apple's spelling.
    public let rawValue: String

    /// Keeps any value.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Nothing is paid.
    public static let freeTrial = OfferDiscountType(rawValue: "FREE_TRIAL")
    /// A lower price in each period.
    public static let payAsYouGo = OfferDiscountType(rawValue: "PAY_AS_YOU_GO")
    /// A lower price for the whole time at once.
    public static let payUpFront = OfferDiscountType(rawValue: "PAY_UP_FRONT")
    /// A lower price once.
    public static let oneTime = OfferDiscountType(rawValue: "ONE_TIME")

    /// The documented values.
    public static let known: Set<OfferDiscountType> = [
        .freeTrial, .payAsYouGo, .payUpFront, .oneTime,
    ]
}
