/// What happened, in Apple's words.
///
/// Together with the subtype it names the event.
///
/// <https://developer.apple.com/documentation/appstoreservernotifications/notificationtype>
public struct NotificationType: OpenEnumeration {
    /// Apple's spelling.
    public let rawValue: String

    /// Keeps any value.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// A customer subscribed, or a family member gained access.
    public static let subscribed = NotificationType(rawValue: "SUBSCRIBED")
    /// The customer chose another product for the next period, or now.
    public static let didChangeRenewalPref = NotificationType(rawValue: "DID_CHANGE_RENEWAL_PREF")
    /// Automatic renewal was turned on or off.
    public static let didChangeRenewalStatus = NotificationType(rawValue: "DID_CHANGE_RENEWAL_STATUS")
    /// An active subscriber redeemed an offer.
    public static let offerRedeemed = NotificationType(rawValue: "OFFER_REDEEMED")
    /// A period began.
    public static let didRenew = NotificationType(rawValue: "DID_RENEW")
    /// A subscription ended.
    public static let expired = NotificationType(rawValue: "EXPIRED")
    /// Billing failed; billing retry begins, perhaps with grace.
    public static let didFailToRenew = NotificationType(rawValue: "DID_FAIL_TO_RENEW")
    /// The grace period is over; billing retry goes on.
    public static let gracePeriodExpired = NotificationType(rawValue: "GRACE_PERIOD_EXPIRED")
    /// A price increase needs consent, or got it.
    public static let priceIncrease = NotificationType(rawValue: "PRICE_INCREASE")
    /// A transaction was refunded.
    public static let refund = NotificationType(rawValue: "REFUND")
    /// A request for a refund was declined.
    public static let refundDeclined = NotificationType(rawValue: "REFUND_DECLINED")
    /// Apple asks how far a purchase was used.
    public static let consumptionRequest = NotificationType(rawValue: "CONSUMPTION_REQUEST")
    /// The renewal date of one subscription was extended.
    public static let renewalExtended = NotificationType(rawValue: "RENEWAL_EXTENDED")
    /// Family access was withdrawn.
    public static let revoke = NotificationType(rawValue: "REVOKE")
    /// Sent because we asked for it.
    public static let test = NotificationType(rawValue: "TEST")
    /// A mass extension ended, or failed for one subscription.
    public static let renewalExtension = NotificationType(rawValue: "RENEWAL_EXTENSION")
    /// A refund was taken back; access must be reinstated.
    public static let refundReversed = NotificationType(rawValue: "REFUND_REVERSED")
    /// Concerns a token for purchases outside the App Store.
    public static let externalPurchaseToken = NotificationType(rawValue: "EXTERNAL_PURCHASE_TOKEN")
    /// Something that does not renew was bought.
    public static let oneTimeCharge = NotificationType(rawValue: "ONE_TIME_CHARGE")
    /// A parent withdrew consent for the app.
    public static let rescindConsent = NotificationType(rawValue: "RESCIND_CONSENT")
    /// Advanced Commerce: names or descriptions changed.
    public static let metadataUpdate = NotificationType(rawValue: "METADATA_UPDATE")
    /// Advanced Commerce: a subscription was moved over.
    public static let migration = NotificationType(rawValue: "MIGRATION")
    /// Advanced Commerce: a price changed.
    public static let priceChange = NotificationType(rawValue: "PRICE_CHANGE")
    /// Seats of a multi-seat purchase were given back.
    public static let unclaimSeats = NotificationType(rawValue: "UNCLAIM_SEATS")

    /// The documented values.
    public static let known: Set<NotificationType> = [
        .subscribed, .didChangeRenewalPref, .didChangeRenewalStatus, .offerRedeemed, .didRenew, .expired,
        .didFailToRenew, .gracePeriodExpired, .priceIncrease, .refund, .refundDeclined, .consumptionRequest,
        .renewalExtended, .revoke, .test, .renewalExtension, .refundReversed, .externalPurchaseToken, .oneTimeCharge,
        .rescindConsent, .metadataUpdate, .migration, .priceChange, .unclaimSeats,
    ]
}
