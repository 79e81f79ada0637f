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
        var words: [(stamp: Stamp, consent: PriceConsent)] = []
        if let stamp = marks[.priceIncreasePending]?.stamp { words.append((stamp, .pending(since: stamp.signedDate))) }
        if let stamp = marks[.priceIncreaseAccepted]?.stamp { words.append((stamp, .accepted(at: stamp.signedDate))) }
        if let stamp = marks[.expiredOverPrice]?.stamp { words.append((stamp, .refused(at: stamp.signedDate))) }
        let closing: [Happening] = [
            .subscribed, .resubscribed, .subscribedByOffer, .resubscribedByOffer, .upgraded, .upgradedByOffer, .renewed,
            .billingRecovered,
        ]
        for happening in closing {
            if let stamp = marks[happening]?.stamp { words.append((stamp, .none)) }
        }
        let newest = words.max { $0.stamp < $1.stamp }
        self = newest?.consent ?? .none
        guard let stamp = subscription.renewalStamp, let told = subscription.renewal?.priceIncreaseStatus else {
            return
        }
        let isNewer = newest.map { $0.stamp <= stamp } ?? true
        switch (told, self) {
        case (0, .none) where isNewer: self = .pending(since: stamp.signedDate)
        // After a renewal the 1 is what is left of a matter that is closed.
        case (1, .pending) where isNewer, (1, .none) where newest == nil: self = .accepted(at: stamp.signedDate)
        default: break
        }
    }
}
