extension EventType {
    /// One English sentence for an operator.
    /// - Parameter event: an event of this type.
    func sentence(of event: PurchaseEvent) -> String {
        let transaction = event.transaction
        let renewal = event.renewal
        return switch self {
        case .subscribed, .subscribedByOffer:
            transaction?.isFamilyShared == true
                ? "The customer got \(event.product) by family sharing \(event.until(transaction?.expiresDate))."
                : "The customer subscribed to \(event.product)\(event.offer) \(event.until(transaction?.expiresDate))."
        case .resubscribed, .resubscribedByOffer:
            "The customer subscribed again, to \(event.product)\(event.offer) \(event.until(transaction?.expiresDate))."
        case .offerRedeemed: "The customer redeemed an offer for \(event.product)\(event.offer)."
        case .upgraded, .upgradedByOffer:
            "The customer upgraded to \(event.product)\(event.offer), at once, \(event.until(transaction?.expiresDate))."
        case .downgradeChosen, .downgradeChosenByOffer:
            "The customer chose \(renewal?.autoRenewProductId ?? "another product") for the next period instead of "
                + "\(event.product), \(event.moment)."
        case .choiceUndone: "The customer cancelled the change to another product and keeps \(event.product)."
        case .renewalTurnedOff:
            event.isCommitmentCancelled
                ? "The customer cancelled the renewal of the commitment; its payments and access continue."
                : "Auto-renew was switched off \(event.moment)."
        case .renewalTurnedOn: "Auto-renew was switched on \(event.moment)."
        case .renewed:
            "\(event.product) renewed\(event.offer) \(event.until(transaction?.expiresDate))\(event.early)."
        case .billingRecovered:
            "The charge succeeded and \(event.product) continues \(event.until(transaction?.expiresDate))."
        case .billingFailed:
            "The charge failed; there is no access while Apple retries it for up to "
                + "\(Int(BillingRules.billingRetry(of: transaction?.billingPlanType) / BillingRules.day)) days."
        case .billingFailedWithGrace:
            "The charge failed; access continues \(event.until(renewal?.gracePeriodExpiresDate)) while Apple retries it."
        case .graceEnded: "The grace period ended without a charge; access ends while Apple retries the charge."
        case .expired: "\(event.product) expired; Apple gave no reason."
        case .expiredVoluntarily: "\(event.product) expired because auto-renew was off."
        case .expiredInBillingRetry: "\(event.product) expired because Apple could not charge during billing retry."
        case .expiredOverPrice: "\(event.product) expired because the customer did not agree to the price increase."
        case .expiredUnsold: "\(event.product) expired because it was no longer for sale."
        case .priceIncreasePending:
            "The customer was asked to agree to a price increase\(event.price) and has not answered."
        case .priceIncreaseAccepted:
            "The customer agreed to the price increase\(event.price), or it needs no consent."
        case .priceChanged: "The price of \(event.product) changed\(event.price)."
        case .refunded: event.refund
        case .seatsRefunded: "Apple refunded seats of \(event.product); the other seats stay valid."
        case .refundDeclined: "Apple declined the refund of \(event.product); access continues."
        case .refundReversed: "Apple reversed the refund of \(event.product); the purchase is reinstated."
        case .consumptionRequested:
            "The customer requested a refund of \(event.product)\(event.reasonForRequest); Apple asks for consumption "
                + "information within 12 hours."
        case .familyAccessRevoked: "\(event.product) is no longer available by family sharing; access ends."
        case .extended:
            "The renewal date of \(event.product) was extended; the period lasts \(event.until(transaction?.expiresDate))."
        case .massExtensionFailed: "The renewal date of \(event.product) could not be extended in a mass extension."
        case .massExtensionDone: "A mass extension of renewal dates is complete."
        case .boughtOnce: "The customer bought \(transaction?.quantity ?? 1) × \(event.product)."
        case .tokenUnreported: "Apple received no report for an external purchase token."
        case .tokenCreated: "Apple created an external purchase token."
        case .tokenReminder: "An external purchase token is still active."
        case .consentRescinded: "A parent withdrew the consent to use the app."
        case .metadataUpdated: "Names or descriptions of \(event.product) changed."
        case .migrated: "The subscription was migrated to \(event.product)\(event.origin)."
        case .seatsUnclaimed: "Seats of \(event.product) were unclaimed."
        case .tested: "Apple sent a test notification that was requested."
        }
    }
}

extension PurchaseEvent {
    fileprivate var refund: String {
        let why = transaction?.revocationReason == 1 ? ", because of an issue with the app" : ""
        if isRefundOfItems {
            return "Apple refunded items of \(product)\(why); the purchase goes on with those that were not revoked."
        }
        let part = transaction?.isRefundedInPart == true ? "part of " : ""
        return "Apple refunded \(part)\(product)\(why); that transaction gives no access any more."
    }

    /// Whether payments go on, and only what follows the commitment was switched off.
    fileprivate var isCommitmentCancelled: Bool {
        commitment?.autoRenewStatus == false && renewal?.autoRenewStatus == true
    }

    fileprivate var reasonForRequest: String { consumptionRequestReason.map { " (\($0))" } ?? "" }

    fileprivate var origin: String { transaction?.previousOriginalTransactionId.map { " from purchase \($0)" } ?? "" }
}
