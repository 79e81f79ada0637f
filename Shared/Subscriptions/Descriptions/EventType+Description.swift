extension EventType {
    /// - Parameter event: one in which this happened.
    func sentence(of event: PurchaseEvent) -> String {
        let transaction = event.transaction
        let renewal = event.renewal
        return switch self {
        case .subscribed, .subscribedByOffer:
            transaction?.isFamilyShared == true
                ? "The family shares \(event.product) \(event.until(transaction?.expiresDate))."
                : "The customer subscribed to \(event.product)\(event.offer) \(event.until(transaction?.expiresDate))."
        case .resubscribed, .resubscribedByOffer:
            "The customer subscribed again, to \(event.product)\(event.offer) \(event.until(transaction?.expiresDate))."
        case .offerRedeemed: "The customer redeemed an offer for \(event.product)\(event.offer)."
        case .upgraded, .upgradedByOffer:
            "The customer upgraded to \(event.product)\(event.offer), at once, \(event.until(transaction?.expiresDate))."
        case .downgradeChosen, .downgradeChosenByOffer:
            "The customer chose \(renewal?.autoRenewProductId ?? "another product") for the next period instead of "
                + "\(event.product), \(event.moment)."
        case .choiceUndone: "The customer stays with \(event.product) and took back the choice of another product."
        case .renewalTurnedOff: "Auto-renew was switched off \(event.moment)."
        case .renewalTurnedOn: "Auto-renew was switched on \(event.moment)."
        case .renewed: "\(event.product) renewed\(event.offer) \(event.until(transaction?.expiresDate))."
        case .billingRecovered:
            "The charge went through and \(event.product) goes on \(event.until(transaction?.expiresDate))."
        case .billingFailed: "The charge failed; there is no access while Apple tries again for up to 60 days."
        case .billingFailedWithGrace:
            "The charge failed; access goes on \(event.until(renewal?.gracePeriodExpiresDate)) while Apple tries again."
        case .graceEnded: "The grace period is over without a charge; access ends while Apple tries on."
        case .expired: "\(event.product) expired; Apple gave no reason."
        case .expiredVoluntarily: "\(event.product) expired because auto-renew was off."
        case .expiredInBillingRetry: "\(event.product) expired because the charge failed for good."
        case .expiredOverPrice: "\(event.product) expired because the customer did not agree to the new price."
        case .expiredUnsold: "\(event.product) expired because it was no longer sold."
        case .priceIncreasePending:
            "The customer was asked to agree to a price increase\(event.price) and has not answered."
        case .priceIncreaseAccepted: "The customer agreed to the price increase\(event.price), or need not be asked."
        case .priceChanged: "The price of \(event.product) changed\(event.price)."
        case .refunded: event.refund
        case .seatsRefunded: "Apple refunded seats of \(event.product); the others stay."
        case .refundDeclined: "Apple declined the refund of \(event.product); access stays."
        case .refundReversed: "Apple took back the refund of \(event.product); what was bought is reinstated."
        case .consumptionRequested:
            "The customer wants money back for \(event.product)\(event.reasonForRequest); Apple asks how far it was used, "
                + "within 12 hours."
        case .familyAccessRevoked: "The family no longer shares \(event.product); access ends."
        case .extended:
            "The renewal date of \(event.product) was extended; the period runs \(event.until(transaction?.expiresDate))."
        case .massExtensionFailed: "The renewal date of \(event.product) could not be extended in a mass extension."
        case .massExtensionDone: "A mass extension of renewal dates is complete."
        case .boughtOnce: "The customer bought \(transaction?.quantity ?? 1) × \(event.product)."
        case .tokenUnreported: "A token for purchases outside of the App Store was not reported on."
        case .tokenCreated: "A token for purchases outside of the App Store was made."
        case .tokenReminder: "A token for purchases outside of the App Store is still open."
        case .consentRescinded: "A parent withdrew the consent to use the app."
        case .metadataUpdated: "Names or descriptions of \(event.product) changed."
        case .migrated: "The subscription was moved to \(event.product)\(event.origin)."
        case .seatsUnclaimed: "Seats of \(event.product) were given back."
        case .tested: "This is a test that we asked for."
        }
    }
}

extension PurchaseEvent {
    fileprivate var refund: String {
        let why = transaction?.revocationReason == 1 ? ", because of an issue with the app" : ""
        let part = transaction?.revocationType == "REFUND_PRORATED" ? "part of " : ""
        return "Apple refunded \(part)\(product)\(why); that purchase gives no access any more."
    }

    fileprivate var reasonForRequest: String { consumptionRequestReason.map { " (\($0))" } ?? "" }

    fileprivate var origin: String { transaction?.previousOriginalTransactionId.map { " from purchase \($0)" } ?? "" }
}
