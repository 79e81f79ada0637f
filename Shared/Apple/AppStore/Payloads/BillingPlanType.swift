/// How a subscription is billed.
///
/// <https://developer.apple.com/documentation/appstoreserverapi/billingplantype>
public struct BillingPlanType: OpenEnumeration {
    /// Apple's spelling.
    public let rawValue: String

    /// Keeps any value.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Once for the whole commitment.
    public static let billedUpfront = BillingPlanType(rawValue: "BILLED_UPFRONT")
    /// Month by month through the commitment.
    public static let monthly = BillingPlanType(rawValue: "MONTHLY")

    /// The documented values.
    public static let known: Set<BillingPlanType> = [
        .billedUpfront, .monthly,
    ]
}
