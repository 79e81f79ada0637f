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
        case .subscribe: Announcement("SUBSCRIBED", "INITIAL_BUY")
        case .renew: Announcement("DID_RENEW")
        case .turnRenewalOff: Announcement("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED")
        case .turnRenewalOn: Announcement("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_ENABLED")
        case .upgrade: Announcement("DID_CHANGE_RENEWAL_PREF", "UPGRADE")
        case .downgrade: Announcement("DID_CHANGE_RENEWAL_PREF", "DOWNGRADE")
        case .keepProduct: Announcement("DID_CHANGE_RENEWAL_PREF")
        case .failToRenew: Announcement("DID_FAIL_TO_RENEW")
        case .failToRenewWithGrace: Announcement("DID_FAIL_TO_RENEW", "GRACE_PERIOD")
        case .outliveGrace: Announcement("GRACE_PERIOD_EXPIRED")
        case .recover: Announcement("DID_RENEW", "BILLING_RECOVERY")
        case .expireVoluntarily: Announcement("EXPIRED", "VOLUNTARY")
        case .expireInBillingRetry: Announcement("EXPIRED", "BILLING_RETRY")
        case .resubscribe: Announcement("SUBSCRIBED", "RESUBSCRIBE")
        case .requestRefund: Announcement("CONSUMPTION_REQUEST")
        case .declineRefund: Announcement("REFUND_DECLINED")
        case .refund: .refund
        case .reverseRefund: Announcement("REFUND_REVERSED")
        }
    }
}

/// Apple's `notificationType` and `subtype`.
struct Announcement: Sendable, Hashable {
    var type: String
    var subtype: String?

    init(_ type: String, _ subtype: String? = nil) {
        self.type = type
        self.subtype = subtype
    }

    static let refund = Announcement("REFUND")
    static let oneTimeCharge = Announcement("ONE_TIME_CHARGE")
    static let test = Announcement("TEST")
}
