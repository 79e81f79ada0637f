import AppStore

/// An event of a purchase.
enum LifecycleEvent: String, Sendable, CaseIterable {
    case subscribe
    /// Buys something that does not renew.
    case buy
    /// The next period is charged, up to a day before it begins or after.
    case renew
    case turnRenewalOff
    case turnRenewalOn
    case upgrade
    /// To the same level and period, at once; Apple calls it an upgrade.
    case crossgrade
    /// Down, or sideways to another period, with the next renewal.
    case downgrade
    case keepProduct
    case redeemOffer
    case redeemOfferAndUpgrade
    case redeemOfferAndDowngrade
    case announcePriceIncrease
    case acceptPriceIncrease
    /// A price increase that needs no consent.
    case raisePrice
    case failToRenew
    case failToRenewWithGrace
    case outliveGrace
    case recover
    case expireVoluntarily
    case expireInBillingRetry
    case expireAfterPriceIncrease
    case expireProductNotForSale
    case expireOtherwise
    case resubscribe
    case requestRefund
    /// Requests a refund of the period before the newest.
    case requestRefundOfEarlierPeriod
    /// Apple asks for consumption information once more.
    case repeatConsumptionRequest
    case declineRefund
    case refund
    case refundEarlierPeriod
    case reverseRefund
    case extend
    case failToExtend
    /// A family member loses access, or a seat is taken away.
    case revoke
    /// The buyer of a volume purchase adds seats within a period, at once.
    case addSeats
    /// Some seats of a volume purchase are refunded; the purchase stands.
    case refundSeats
    case unclaimSeats
    case updateMetadata
    case migrate
    /// A price of Advanced Commerce, without consent.
    case changePrice
    /// A type that Apple does not have yet.
    case somethingNew
    /// A known type with a subtype that Apple does not have yet.
    case renewInANewWay

    /// Whether a customer asks for a refund.
    var isRefundRequest: Bool { self == .requestRefund || self == .requestRefundOfEarlierPeriod }

    /// Apple's event table: the type and subtype of each event.
    var kind: NotificationKind {
        switch self {
        case .subscribe: NotificationKind(.subscribed, .initialBuy)
        case .buy: .oneTimeCharge
        case .renew: NotificationKind(.didRenew)
        case .turnRenewalOff: NotificationKind(.didChangeRenewalStatus, .autoRenewDisabled)
        case .turnRenewalOn: NotificationKind(.didChangeRenewalStatus, .autoRenewEnabled)
        case .upgrade, .crossgrade: .upgraded
        case .downgrade: NotificationKind(.didChangeRenewalPref, .downgrade)
        case .keepProduct: NotificationKind(.didChangeRenewalPref)
        case .redeemOffer: NotificationKind(.offerRedeemed)
        case .redeemOfferAndUpgrade: NotificationKind(.offerRedeemed, .upgrade)
        case .redeemOfferAndDowngrade: NotificationKind(.offerRedeemed, .downgrade)
        case .announcePriceIncrease: NotificationKind(.priceIncrease, .pending)
        case .acceptPriceIncrease, .raisePrice: NotificationKind(.priceIncrease, .accepted)
        case .failToRenew: NotificationKind(.didFailToRenew)
        case .failToRenewWithGrace: NotificationKind(.didFailToRenew, .gracePeriod)
        case .outliveGrace: NotificationKind(.gracePeriodExpired)
        case .recover: NotificationKind(.didRenew, .billingRecovery)
        case .expireVoluntarily: NotificationKind(.expired, .voluntary)
        case .expireInBillingRetry: NotificationKind(.expired, .billingRetry)
        case .expireAfterPriceIncrease: NotificationKind(.expired, .priceIncrease)
        case .expireProductNotForSale: NotificationKind(.expired, .productNotForSale)
        case .expireOtherwise: NotificationKind(.expired)
        case .resubscribe: NotificationKind(.subscribed, .resubscribe)
        case .requestRefund, .requestRefundOfEarlierPeriod, .repeatConsumptionRequest:
            NotificationKind(.consumptionRequest)
        case .declineRefund: NotificationKind(.refundDeclined)
        case .refund, .refundEarlierPeriod: .refund
        case .reverseRefund: NotificationKind(.refundReversed)
        case .extend: .extended
        case .failToExtend: .extensionFailure
        case .revoke: NotificationKind(.revoke)
        case .addSeats: .seatsAdded
        case .refundSeats: NotificationKind(.refund, .seats)
        case .unclaimSeats: NotificationKind(.unclaimSeats)
        case .updateMetadata: NotificationKind(.metadataUpdate)
        case .migrate: NotificationKind(.migration)
        case .changePrice: NotificationKind(.priceChange)
        case .somethingNew: .unknownType
        case .renewInANewWay: .unknownSubtype
        }
    }
}

/// Apple's `notificationType` and `subtype`.
struct NotificationKind: Sendable, Hashable {
    var type: NotificationType
    var subtype: NotificationSubtype?

    init(_ type: NotificationType, _ subtype: NotificationSubtype? = nil) {
        self.type = type
        self.subtype = subtype
    }

    static let refund = NotificationKind(.refund)
    static let oneTimeCharge = NotificationKind(.oneTimeCharge)
    static let test = NotificationKind(.test)
    static let upgraded = NotificationKind(.didChangeRenewalPref, .upgrade)
    /// Apple documents the subtype; that it goes with this type is our reading.
    static let seatsAdded = NotificationKind(.didChangeRenewalPref, .increaseQuantity)
    static let extended = NotificationKind(.renewalExtended)
    static let extensionSummary = NotificationKind(.renewalExtension, .summary)
    static let extensionFailure = NotificationKind(.renewalExtension, .failure)
    static let unknownType = NotificationKind(
        NotificationType(rawValue: "SUBSCRIPTION_GIFTED"), NotificationSubtype(rawValue: "BIRTHDAY"))
    static let unknownSubtype = NotificationKind(.didRenew, NotificationSubtype(rawValue: "EARLY_BIRD"))
    /// Its only object is one that no client knows.
    static let unknownObject = NotificationKind(NotificationType(rawValue: "GIFT_OFFERED"))
}
