/// Where a subscription stands, as Apple sees it.
///
/// <https://developer.apple.com/documentation/appstoreserverapi/status>
public struct SubscriptionStatus: OpenEnumeration {
    /// Apple's number.
    public let rawValue: Int64

    /// Keeps any value.
    public init(rawValue: Int64) { self.rawValue = rawValue }

    /// Paid for.
    public static let active = SubscriptionStatus(rawValue: 1)
    /// Ended.
    public static let expired = SubscriptionStatus(rawValue: 2)
    /// Not paid for; Apple tries again.
    public static let billingRetry = SubscriptionStatus(rawValue: 3)
    /// Not paid for, but access shall go on.
    public static let billingGracePeriod = SubscriptionStatus(rawValue: 4)
    /// Refunded or withdrawn.
    public static let revoked = SubscriptionStatus(rawValue: 5)

    /// The documented values.
    public static let known: Set<SubscriptionStatus> = [
        .active, .expired, .billingRetry, .billingGracePeriod, .revoked,
    ]
}
