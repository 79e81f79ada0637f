import AppStore

/// What can happen to a subscription.
enum LifecycleEvent: String, Sendable, CaseIterable {
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
    var kind: NotificationKind {
        switch self {
        case .subscribe: NotificationKind(.subscribed, .initialBuy)
        case .renew: NotificationKind(.didRenew)
        case .turnRenewalOff: NotificationKind(.didChangeRenewalStatus, .autoRenewDisabled)
        case .turnRenewalOn: NotificationKind(.didChangeRenewalStatus, .autoRenewEnabled)
        case .upgrade: NotificationKind(.didChangeRenewalPref, .upgrade)
        case .downgrade: NotificationKind(.didChangeRenewalPref, .downgrade)
        case .keepProduct: NotificationKind(.didChangeRenewalPref)
        case .failToRenew: NotificationKind(.didFailToRenew)
        case .failToRenewWithGrace: NotificationKind(.didFailToRenew, .gracePeriod)
        case .outliveGrace: NotificationKind(.gracePeriodExpired)
        case .recover: NotificationKind(.didRenew, .billingRecovery)
        case .expireVoluntarily: NotificationKind(.expired, .voluntary)
        case .expireInBillingRetry: NotificationKind(.expired, .billingRetry)
        case .resubscribe: NotificationKind(.subscribed, .resubscribe)
        case .requestRefund: NotificationKind(.consumptionRequest)
        case .declineRefund: NotificationKind(.refundDeclined)
        case .refund: .refund
        case .reverseRefund: NotificationKind(.refundReversed)
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
    static let extended = NotificationKind(.renewalExtended)
    static let extensionSummary = NotificationKind(.renewalExtension, .summary)
    static let extensionFailure = NotificationKind(.renewalExtension, .failure)
}
