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

    /// The newest word counts; a renewal after it, or a new subscription, closes the matter.
    /// - Parameters:
    ///   - subscription: its renewal info tells where no notification did.
    ///   - marks: of the same purchase.
    public init(of subscription: Subscription, _ marks: Marks) {
        var words: [(version: EventVersion, consent: PriceConsent)] = []
        if let version = marks[.priceIncreasePending]?.version {
            words.append((version, .pending(since: version.signedDate)))
        }
        if let version = marks[.priceIncreaseAccepted]?.version {
            words.append((version, .accepted(at: version.signedDate)))
        }
        if let version = marks[.expiredOverPrice]?.version { words.append((version, .refused(at: version.signedDate))) }
        let closing: [EventType] = [
            .subscribed, .resubscribed, .subscribedByOffer, .resubscribedByOffer, .upgraded, .upgradedByOffer, .renewed,
            .billingRecovered,
        ]
        for eventType in closing {
            if let version = marks[eventType]?.version { words.append((version, .none)) }
        }
        let newest = words.max { $0.version < $1.version }
        self = newest?.consent ?? .none
        guard let version = subscription.renewalVersion, let told = subscription.renewal?.priceIncreaseStatus else {
            return
        }
        let isNewer = newest.map { $0.version <= version } ?? true
        switch (told, self) {
        case (0, .none) where isNewer: self = .pending(since: version.signedDate)
        // After a renewal the 1 is what is left of a matter that is closed.
        case (1, .pending) where isNewer, (1, .none) where newest == nil: self = .accepted(at: version.signedDate)
        default: break
        }
    }
}
