import AppStore

/// What can happen to a subscription.
enum LifeEvent: String, Sendable, CaseIterable {
    case subscribe
    case renew
    case turnRenewalOff
    case turnRenewalOn
    case upgrade
    case downgrade
    case keepProduct
    case failToRenew
    case failToRenewWithGrace
    case outliveGrace
    case recover
    case expireVoluntarily
    case expireInBillingRetry
    case resubscribe
    case requestRefund
    case declineRefund
    case refund
    case reverseRefund

    /// Apple's event table: what is announced, and how.
    var announcement: Announcement {
        switch self {
        case .subscribe: Announcement(.subscribed, .initialBuy)
        case .renew: Announcement(.didRenew)
        case .turnRenewalOff: Announcement(.didChangeRenewalStatus, .autoRenewDisabled)
        case .turnRenewalOn: Announcement(.didChangeRenewalStatus, .autoRenewEnabled)
        case .upgrade: Announcement(.didChangeRenewalPref, .upgrade)
        case .downgrade: Announcement(.didChangeRenewalPref, .downgrade)
        case .keepProduct: Announcement(.didChangeRenewalPref)
        case .failToRenew: Announcement(.didFailToRenew)
        case .failToRenewWithGrace: Announcement(.didFailToRenew, .gracePeriod)
        case .outliveGrace: Announcement(.gracePeriodExpired)
        case .recover: Announcement(.didRenew, .billingRecovery)
        case .expireVoluntarily: Announcement(.expired, .voluntary)
        case .expireInBillingRetry: Announcement(.expired, .billingRetry)
        case .resubscribe: Announcement(.subscribed, .resubscribe)
        case .requestRefund: Announcement(.consumptionRequest)
        case .declineRefund: Announcement(.refundDeclined)
        case .refund: .refund
        case .reverseRefund: Announcement(.refundReversed)
        }
    }
}

/// Apple's `notificationType` and `subtype`.
struct Announcement: Sendable, Hashable {
    var type: NotificationType
    var subtype: NotificationSubtype?

    init(_ type: NotificationType, _ subtype: NotificationSubtype? = nil) {
        self.type = type
        self.subtype = subtype
    }

    static let refund = Announcement(.refund)
    static let oneTimeCharge = Announcement(.oneTimeCharge)
    static let test = Announcement(.test)
    static let upgraded = Announcement(.didChangeRenewalPref, .upgrade)
    static let extended = Announcement(.renewalExtended)
    static let extensionSummary = Announcement(.renewalExtension, .summary)
    static let extensionFailure = Announcement(.renewalExtension, .failure)
}
