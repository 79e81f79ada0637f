extension Happening {
    /// - Parameter news: one in which this happened.
    func sentence(of news: News) -> String {
        let transaction = news.transaction
        let renewal = news.renewal
        return switch self {
        case .subscribed, .subscribedByOffer:
            transaction?.isFamilyShared == true
                ? "The family shares \(news.product) \(news.until(transaction?.expiresDate))."
                : "The customer subscribed to \(news.product)\(news.offer) \(news.until(transaction?.expiresDate))."
        case .resubscribed, .resubscribedByOffer:
            "The customer subscribed again, to \(news.product)\(news.offer) \(news.until(transaction?.expiresDate))."
        case .offerRedeemed: "The customer redeemed an offer for \(news.product)\(news.offer)."
        case .upgraded, .upgradedByOffer:
            "The customer upgraded to \(news.product)\(news.offer), at once, \(news.until(transaction?.expiresDate))."
        case .downgradeChosen, .downgradeChosenByOffer:
            "The customer chose \(renewal?.autoRenewProductId ?? "another product") for the next period instead of "
                + "\(news.product), \(news.moment)."
        case .choiceUndone: "The customer stays with \(news.product) and took back the choice of another product."
        case .renewalTurnedOff: "Auto-renew was switched off \(news.moment)."
        case .renewalTurnedOn: "Auto-renew was switched on \(news.moment)."
        case .renewed: "\(news.product) renewed\(news.offer) \(news.until(transaction?.expiresDate))."
        case .billingRecovered:
            "The charge went through and \(news.product) goes on \(news.until(transaction?.expiresDate))."
        case .billingFailed: "The charge failed; there is no access while Apple tries again for up to 60 days."
        case .billingFailedWithGrace:
            "The charge failed; access goes on \(news.until(renewal?.gracePeriodExpiresDate)) while Apple tries again."
        case .graceEnded: "The grace period is over without a charge; access ends while Apple tries on."
        case .expired: "\(news.product) expired; Apple gave no reason."
        case .expiredVoluntarily: "\(news.product) expired because auto-renew was off."
        case .expiredInBillingRetry: "\(news.product) expired because the charge failed for good."
        case .expiredOverPrice: "\(news.product) expired because the customer did not agree to the new price."
        case .expiredUnsold: "\(news.product) expired because it was no longer sold."
        case .priceIncreasePending:
            "The customer was asked to agree to a price increase\(news.price) and has not answered."
        case .priceIncreaseAccepted: "The customer agreed to the price increase\(news.price), or need not be asked."
        case .priceChanged: "The price of \(news.product) changed\(news.price)."
        case .refunded: news.refund
        case .refundDeclined: "Apple declined the refund of \(news.product); access stays."
        case .refundReversed: "Apple took back the refund of \(news.product); what was bought is reinstated."
        case .consumptionRequested:
            "The customer wants money back for \(news.product)\(news.reasonForRequest); Apple asks how far it was used, "
                + "within 12 hours."
        case .familyAccessRevoked: "The family no longer shares \(news.product); access ends."
        case .extended:
            "The renewal date of \(news.product) was extended; the period runs \(news.until(transaction?.expiresDate))."
        case .massExtensionFailed: "The renewal date of \(news.product) could not be extended in a mass extension."
        case .massExtensionDone: "A mass extension of renewal dates is complete."
        case .boughtOnce: "The customer bought \(transaction?.quantity ?? 1) × \(news.product)."
        case .tokenUnreported: "A token for purchases outside of the App Store was not reported on."
        case .tokenCreated: "A token for purchases outside of the App Store was made."
        case .tokenReminder: "A token for purchases outside of the App Store is still open."
        case .consentRescinded: "A parent withdrew the consent to use the app."
        case .metadataUpdated: "Names or descriptions of \(news.product) changed."
        case .migrated: "The subscription was moved to \(news.product)\(news.origin)."
        case .seatsUnclaimed: "Seats of \(news.product) were given back."
        case .tested: "This is a test that we asked for."
        }
    }
}

extension News {
    fileprivate var refund: String {
        let why = transaction?.revocationReason == 1 ? ", because of an issue with the app" : ""
        let part = transaction?.revocationType == "REFUND_PRORATED" ? "part of " : ""
        return "Apple refunded \(part)\(product)\(why); that purchase gives no access any more."
    }

    fileprivate var reasonForRequest: String { consumptionRequestReason.map { " (\($0))" } ?? "" }

    fileprivate var origin: String { transaction?.previousOriginalTransactionId.map { " from purchase \($0)" } ?? "" }
}
