extension Change {
    /// One English sentence for an operator: `The end of the period is 2026-…; it was 2025-….`
    public var sentence: String {
        switch (from, to) {
        case (nil, let to?): "The \(fact.words) is \(fact.value(to))."
        case (let from?, nil): "The \(fact.words) was removed; it was \(fact.value(from))."
        case (let from?, let to?): "The \(fact.words) is \(fact.value(to)); it was \(fact.value(from))."
        case (nil, nil): "The \(fact.words) is not known."
        }
    }
}

extension Fact {
    /// The English name of the fact.
    public var words: String {
        switch self {
        case .status: "status"
        case .transactionId: "current transaction"
        case .productId: "product"
        case .purchaseDate: "beginning of the period"
        case .expiresDate: "end of the period"
        case .inAppOwnershipType: "ownership"
        case .isUpgraded: "replacement by an upgrade"
        case .appAccountToken: "app account"
        case .offerIdentifier: "offer"
        case .revocationDate: "date of the refund or revocation"
        case .revocationReason: "reason of the refund"
        case .autoRenewStatus: "auto-renew"
        case .autoRenewProductId: "product of the next period"
        case .isInBillingRetryPeriod: "billing retry"
        case .gracePeriodExpiresDate: "end of the grace period"
        case .expirationIntent: "reason of the expiry"
        case .priceIncreaseStatus: "consent to the price increase"
        case .revocationType: "kind of the refund or revocation"
        case .renewalProductId: "product of the renewal info"
        case .renewalPrice: "price of the next period in thousandths"
        case .billingPeriodNumber: "number of the payment within the commitment"
        case .commitmentExpiresDate: "end of the commitment"
        case .commitmentAutoRenewStatus: "renewal of the commitment"
        }
    }

    /// The meaning of a value of this fact in English; unknown values as they are.
    fileprivate func value(_ text: String) -> String {
        switch (self, text) {
        case (.status, "1"): "active"
        case (.status, "2"): "expired"
        case (.status, "3"): "in billing retry"
        case (.status, "4"): "in grace"
        case (.status, "5"): "revoked"
        case (.autoRenewStatus, "true"), (.isInBillingRetryPeriod, "true"), (.commitmentAutoRenewStatus, "true"): "on"
        case (.autoRenewStatus, "false"), (.isInBillingRetryPeriod, "false"), (.commitmentAutoRenewStatus, "false"):
            "off"
        case (.isUpgraded, "true"): "done"
        case (.isUpgraded, "false"): "not done"
        case (.priceIncreaseStatus, "0"): "not answered"
        case (.priceIncreaseStatus, "1"): "given"
        case (.expirationIntent, "1"): "auto-renew was off"
        case (.expirationIntent, "2"): "the charge failed"
        case (.expirationIntent, "3"): "the customer did not agree to the price increase"
        case (.expirationIntent, "4"): "the product was not for sale"
        case (.expirationIntent, "5"): "another"
        case (.revocationReason, "0"): "other than the app"
        case (.revocationReason, "1"): "an issue with the app"
        default: text
        }
    }
}
