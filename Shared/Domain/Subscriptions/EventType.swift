import Contracts

/// Apple's notification type and subtype, as `TYPE` or `TYPE/SUBTYPE`.
///
/// An unknown pair is stored and shown by its raw name; see ``PurchaseEvent/eventName``.
///
/// [notificationType](https://developer.apple.com/documentation/appstoreservernotifications/notificationtype),
/// [subtype](https://developer.apple.com/documentation/appstoreservernotifications/subtype)
public enum EventType: String, Sendable, Hashable, CaseIterable {
    case subscribed = "SUBSCRIBED/INITIAL_BUY"
    case resubscribed = "SUBSCRIBED/RESUBSCRIBE"
    /// Apple's name, until January 2024, for `SUBSCRIBED/INITIAL_BUY` with an offer.
    case subscribedByOffer = "OFFER_REDEEMED/INITIAL_BUY"
    /// Apple's name, until January 2024, for `SUBSCRIBED/RESUBSCRIBE` with an offer.
    case resubscribedByOffer = "OFFER_REDEEMED/RESUBSCRIBE"
    case offerRedeemed = "OFFER_REDEEMED"
    case upgradedByOffer = "OFFER_REDEEMED/UPGRADE"
    case downgradeChosenByOffer = "OFFER_REDEEMED/DOWNGRADE"
    case upgraded = "DID_CHANGE_RENEWAL_PREF/UPGRADE"
    /// A downgrade, or a crossgrade to a period of another length; takes effect with the next period.
    case downgradeChosen = "DID_CHANGE_RENEWAL_PREF/DOWNGRADE"
    case choiceUndone = "DID_CHANGE_RENEWAL_PREF"
    case renewalTurnedOff = "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED"
    case renewalTurnedOn = "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_ENABLED"
    case renewed = "DID_RENEW"
    case billingRecovered = "DID_RENEW/BILLING_RECOVERY"
    case billingFailed = "DID_FAIL_TO_RENEW"
    case billingFailedWithGrace = "DID_FAIL_TO_RENEW/GRACE_PERIOD"
    case graceEnded = "GRACE_PERIOD_EXPIRED"
    case expired = "EXPIRED"
    case expiredVoluntarily = "EXPIRED/VOLUNTARY"
    case expiredInBillingRetry = "EXPIRED/BILLING_RETRY"
    case expiredOverPrice = "EXPIRED/PRICE_INCREASE"
    case expiredUnsold = "EXPIRED/PRODUCT_NOT_FOR_SALE"
    case priceIncreasePending = "PRICE_INCREASE/PENDING"
    case priceIncreaseAccepted = "PRICE_INCREASE/ACCEPTED"
    case refunded = "REFUND"
    /// Some seats of a multi-seat purchase; the transaction stays valid for the others.
    case seatsRefunded = "REFUND/SEATS"
    case refundDeclined = "REFUND_DECLINED"
    case refundReversed = "REFUND_REVERSED"
    case consumptionRequested = "CONSUMPTION_REQUEST"
    case familyAccessRevoked = "REVOKE"
    case extended = "RENEWAL_EXTENDED"
    case massExtensionDone = "RENEWAL_EXTENSION/SUMMARY"
    case massExtensionFailed = "RENEWAL_EXTENSION/FAILURE"
    case boughtOnce = "ONE_TIME_CHARGE"
    case tokenUnreported = "EXTERNAL_PURCHASE_TOKEN/UNREPORTED"
    case tokenCreated = "EXTERNAL_PURCHASE_TOKEN/CREATED"
    case tokenReminder = "EXTERNAL_PURCHASE_TOKEN/ACTIVE_TOKEN_REMINDER"
    case consentRescinded = "RESCIND_CONSENT"
    case metadataUpdated = "METADATA_UPDATE"
    case migrated = "MIGRATION"
    case priceChanged = "PRICE_CHANGE"
    case seatsUnclaimed = "UNCLAIM_SEATS"
    case tested = "TEST"

    /// Nil for a pair that this build does not know.
    public init?(notificationType: String, subtype: String?) {
        self.init(rawValue: Self.name(notificationType, subtype))
    }

    /// The name of any pair, known or not. An empty subtype is none.
    public static func name(_ notificationType: String, _ subtype: String?) -> String {
        guard let subtype, !subtype.isEmpty else { return notificationType }
        return notificationType + "/" + subtype
    }
}

extension EventType {
    /// Whether the event begins a period with a transaction of its own.
    var bringsTransaction: Bool {
        switch self {
        case .subscribed, .resubscribed, .subscribedByOffer, .resubscribedByOffer, .offerRedeemed, .upgradedByOffer,
            .upgraded, .renewed, .billingRecovered, .boughtOnce, .migrated:
            true
        default: false
        }
    }

    /// Whether the history of a purchase can begin with the event.
    var isBeginning: Bool {
        switch self {
        case .subscribed, .subscribedByOffer, .boughtOnce, .migrated: true
        default: false
        }
    }

    /// Whether the event starts the service again after an end.
    var isReturn: Bool {
        switch self {
        case .subscribed, .resubscribed, .subscribedByOffer, .resubscribedByOffer: true
        default: false
        }
    }

    /// Whether the service ended.
    package var isEnd: Bool {
        switch self {
        case .expired, .expiredVoluntarily, .expiredInBillingRetry, .expiredOverPrice, .expiredUnsold: true
        default: false
        }
    }
}

extension PurchaseEvent {
    /// The type and subtype as `TYPE` or `TYPE/SUBTYPE`, whether known or not.
    public var eventName: String { EventType.name(notificationType, subtype) }

    /// The type and subtype; nil where this build does not know the pair.
    public var eventType: EventType? { EventType(notificationType: notificationType, subtype: subtype) }

    /// Which object Apple signed, where the event comes from a transaction or renewal info without a notification: it
    /// reports facts, and no lifecycle event. Nil for notifications.
    public var part: SignedPart? { SignedPart(rawValue: notificationType) }
}
