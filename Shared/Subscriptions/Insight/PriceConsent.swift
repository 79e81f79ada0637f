import struct Foundation.Date

/// Where a customer stands with a price increase.
public enum PriceConsent: Sendable, Equatable {
    /// None is under way.
    case none
    /// Asked, not answered. Without consent the subscription ends with the period.
    case pending(since: Date)
    /// Agreed, or need not be asked.
    case accepted(at: Date)
    /// Ended over it.
    case refused(at: Date)

    /// The newest notification counts; a renewal after it, a new subscription or any end closes the matter.
    /// - Parameters:
    ///   - subscription: its renewal info tells where no notification did.
    ///   - events: of the same purchase, in any order, with any repetitions.
    public init(of subscription: Subscription, events: some Sequence<PurchaseEvent>) {
        let newest = events.compactMap { event in event.priceConsent.map { (version: event.version, consent: $0) } }
            .max { $0.version < $1.version }
        self = newest?.consent ?? .none
        guard let version = subscription.renewalVersion, let told = subscription.renewal?.priceIncreaseStatus else {
            return
        }
        let isNewer = newest.map { $0.version <= version } ?? true
        switch (told, self) {
        case (0, .none) where isNewer && !subscription.hasExpired:
            self = .pending(since: version.signedDate)
        // After a renewal the 1 is what is left of a matter that is closed.
        case (1, .pending) where isNewer, (1, .none) where newest == nil: self = .accepted(at: version.signedDate)
        default: break
        }
    }
}

extension PurchaseEvent {
    /// What the event says of a price increase; nil where it says nothing.
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
    /// By Apple's newest status; a renewal info told with it may still hold the question that was never answered.
    fileprivate var hasExpired: Bool { status == 2 || status == 5 }
}
