/// The variant of a notification type.
///
/// <https://developer.apple.com/documentation/appstoreservernotifications/subtype>
public struct NotificationSubtype: OpenEnumeration {
    /// Apple's spelling.
    public let rawValue: String

    /// Keeps any value.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// First subscription in the group.
    public static let initialBuy = NotificationSubtype(rawValue: "INITIAL_BUY")
    /// Not the first subscription in the group.
    public static let resubscribe = NotificationSubtype(rawValue: "RESUBSCRIBE")
    /// Takes effect with the next period.
    public static let downgrade = NotificationSubtype(rawValue: "DOWNGRADE")
    /// Took effect at once.
    public static let upgrade = NotificationSubtype(rawValue: "UPGRADE")
    /// Automatic renewal was turned on.
    public static let autoRenewEnabled = NotificationSubtype(rawValue: "AUTO_RENEW_ENABLED")
    /// Automatic renewal was turned off.
    public static let autoRenewDisabled = NotificationSubtype(rawValue: "AUTO_RENEW_DISABLED")
    /// Expired because the customer had turned renewal off.
    public static let voluntary = NotificationSubtype(rawValue: "VOLUNTARY")
    /// Expired because billing retry ended without success.
    public static let billingRetry = NotificationSubtype(rawValue: "BILLING_RETRY")
    /// Expired because the customer did not consent to a price.
    public static let priceIncrease = NotificationSubtype(rawValue: "PRICE_INCREASE")
    /// Billing failed and a grace period runs.
    public static let gracePeriod = NotificationSubtype(rawValue: "GRACE_PERIOD")
    /// The customer has not answered to a price increase.
    public static let pending = NotificationSubtype(rawValue: "PENDING")
    /// The customer consented, or need not.
    public static let accepted = NotificationSubtype(rawValue: "ACCEPTED")
    /// Renewed after billing had failed.
    public static let billingRecovery = NotificationSubtype(rawValue: "BILLING_RECOVERY")
    /// Expired because the product is no longer sold.
    public static let productNotForSale = NotificationSubtype(rawValue: "PRODUCT_NOT_FOR_SALE")
    /// A mass extension is complete.
    public static let summary = NotificationSubtype(rawValue: "SUMMARY")
    /// A mass extension failed for one subscription.
    public static let failure = NotificationSubtype(rawValue: "FAILURE")
    /// An external purchase token was not reported on.
    public static let unreported = NotificationSubtype(rawValue: "UNREPORTED")
    /// An external purchase token was made.
    public static let created = NotificationSubtype(rawValue: "CREATED")
    /// An external purchase token is still open.
    public static let activeTokenReminder = NotificationSubtype(rawValue: "ACTIVE_TOKEN_REMINDER")
    /// Some seats of a multiseat purchase were refunded.
    public static let seats = NotificationSubtype(rawValue: "SEATS")
    /// The buyer of a multiseat purchase added seats.
    public static let increaseQuantity = NotificationSubtype(rawValue: "INCREASE_QUANTITY")
    /// Fewer seats renew.
    public static let decreaseQuantity = NotificationSubtype(rawValue: "DECREASE_QUANTITY")

    /// The documented values.
    public static let known: Set<NotificationSubtype> = [
        .initialBuy, .resubscribe, .downgrade, .upgrade, .autoRenewEnabled, .autoRenewDisabled, .voluntary,
        .billingRetry, .priceIncrease, .gracePeriod, .pending, .accepted, .billingRecovery, .productNotForSale,
        .summary, .failure, .unreported, .created, .activeTokenReminder, .seats,
        .increaseQuantity, .decreaseQuantity,
    ]
}
