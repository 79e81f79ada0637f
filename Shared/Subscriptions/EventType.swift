import Contracts

/// What a notification announces: a row of Apple's event table, as `TYPE` or `TYPE/SUBTYPE`.
///
/// A pair that is not here is kept and shown by its raw name; see ``PurchaseEvent/event``.
public enum EventType: String, Sendable, Hashable, CaseIterable {
    case subscribed = "SUBSCRIBED/INITIAL_BUY"
    case resubscribed = "SUBSCRIBED/RESUBSCRIBE"
    /// What `SUBSCRIBED/INITIAL_BUY` with an offer was called until January 2024.
    case subscribedByOffer = "OFFER_REDEEMED/INITIAL_BUY"
    /// What `SUBSCRIBED/RESUBSCRIBE` with an offer was called until January 2024.
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
    /// Whether it begins a period with a transaction of its own.
    var bringsTransaction: Bool {
        switch self {
        case .subscribed, .resubscribed, .subscribedByOffer, .resubscribedByOffer, .offerRedeemed, .upgradedByOffer,
            .upgraded, .renewed, .billingRecovered, .boughtOnce, .migrated:
            true
        default: false
        }
    }

    /// Whether a life can begin with it.
    var isBeginning: Bool {
        switch self {
        case .subscribed, .subscribedByOffer, .boughtOnce, .migrated: true
        default: false
        }
    }

    /// Whether it starts the service anew after an end.
    var isReturn: Bool {
        switch self {
        case .subscribed, .resubscribed, .subscribedByOffer, .resubscribedByOffer: true
        default: false
        }
    }

    /// Whether the service ended.
    var isEnd: Bool {
        switch self {
        case .expired, .expiredVoluntarily, .expiredInBillingRetry, .expiredOverPrice, .expiredUnsold: true
        default: false
        }
    }
}

extension PurchaseEvent {
    /// What happened, by the name of its row: `TYPE` or `TYPE/SUBTYPE`, whether known or not.
    public var eventName: String { EventType.name(notificationType, subtype) }

    /// What happened; nil where this build does not know the pair.
    public var eventType: EventType? { EventType(notificationType: notificationType, subtype: subtype) }

    /// What Apple signed by itself, where this is no notification: nothing happened, it only says how things stood.
    public var part: SignedPart? { SignedPart(rawValue: notificationType) }
}
