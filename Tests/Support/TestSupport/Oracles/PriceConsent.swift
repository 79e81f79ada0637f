import Subscriptions

import struct Foundation.Date

/// A customer's consent to a price increase.
///
/// [priceIncreaseStatus](https://developer.apple.com/documentation/appstoreserverapi/priceincreasestatus)
package enum PriceConsent: Sendable, Equatable {
    /// No price increase is pending.
    case none
    /// The customer was asked and has not answered. Without consent the subscription ends with the period.
    case pending(since: Date)
    /// The customer agreed, or the increase needs no consent.
    case accepted(at: Date)
    /// The subscription ended because the customer did not agree.
    case refused(at: Date)

    /// The newest notification counts; a renewal after it, a new subscription or any end closes the price increase.
    /// - Parameters:
    ///   - subscription: its renewal info counts where no notification of the price increase is known.
    ///   - events: of the same purchase, in any order, with any repetitions.
    package init(of subscription: Subscription, events: some Sequence<PurchaseEvent>) {
        let newest = events.compactMap { event in event.priceConsent.map { (version: event.version, consent: $0) } }
            .max { $0.version < $1.version }
        self = newest?.consent ?? .none
        guard let version = subscription.renewalVersion, let status = subscription.renewal?.priceIncreaseStatus else {
            return
        }
        let isNewer = newest.map { $0.version <= version } ?? true
        switch (status, self) {
        case (0, .none) where isNewer && !subscription.hasExpired:
            self = .pending(since: version.signedDate)
        // After a renewal the 1 is of a price increase that is closed.
        case (1, .pending) where isNewer, (1, .none) where newest == nil: self = .accepted(at: version.signedDate)
        default: break
        }
    }
}

extension PurchaseEvent {
    /// The consent that the event reports; nil where it reports none.
    fileprivate var priceConsent: PriceConsent? {
        switch eventType {
        case .priceIncreasePending: .pending(since: version.signedDate)
        case .priceIncreaseAccepted: .accepted(at: version.signedDate)
        case .expiredOverPrice: .refused(at: version.signedDate)
        case .subscribed, .resubscribed, .subscribedByOffer, .resubscribedByOffer, .upgraded, .upgradedByOffer,
            .renewed,
            .billingRecovered, .expired, .expiredVoluntarily, .expiredInBillingRetry, .expiredUnsold:
            PriceConsent.none
        default: nil
        }
    }
}

extension Subscription {
    /// By Apple's newest status; the renewal info with it may still hold a question that was never answered.
    fileprivate var hasExpired: Bool { status == 2 || status == 5 }
}
