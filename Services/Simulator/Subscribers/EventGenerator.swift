import struct Foundation.Date
import typealias Foundation.TimeInterval

/// Decides what happens next in a simulated, and when. The likelihoods are ours: lively rather than true.
struct EventGenerator: Sendable {
    struct Decision: Sendable, Equatable {
        var event: LifecycleEvent
        var date: Date
        var product: Product
    }

    private var random: SeededRandom

    init(random: SeededRandom) { self.random = random }

    /// - Returns: nil where the simulated ends: nothing more will be heard of it.
    mutating func next(in simulated: SimulatedPurchase) -> Decision? {
        switch simulated.phase {
        case .unborn: decide(.subscribe, in: simulated, within: simulated.timeScale.scaled(60))
        case .active: nextWhileActive(in: simulated)
        case .grace(let end): nextInGrace(in: simulated, until: end)
        case .billingRetry(let end): nextInBillingRetry(in: simulated, until: end)
        case .expired: nextAfterExpiry(in: simulated)
        case .revoked: nextAfterRefund(in: simulated)
        }
    }

    private mutating func nextWhileActive(in simulated: SimulatedPurchase) -> Decision? {
        let end = simulated.purchase?.expiresDate ?? simulated.now
        let willRenew = simulated.renewal?.willRenew ?? false
        if end > simulated.now, random.chance(willRenew ? 0.30 : 0.45) {
            // The candidates stand with their weights: a change of mind is commoner than a refund.
            var candidates: [LifecycleEvent] = [
                .turnRenewalOff, .turnRenewalOff, .turnRenewalOff, .turnRenewalOn, .turnRenewalOn, .upgrade,
                .downgrade, .downgrade, .keepProduct, .requestRefund, .declineRefund, .declineRefund, .refund,
            ]
            candidates.removeAll { !simulated.permits($0) }
            let room = end.timeIntervalSince(simulated.now) * 0.8
            return decide(random.element(of: candidates), in: simulated, within: room)
        }
        guard willRenew else { return decide(.expireVoluntarily, in: simulated, notBefore: end) }
        let roll = random.fraction()
        let event: LifecycleEvent = roll < 0.80 ? .renew : roll < 0.90 ? .failToRenew : .failToRenewWithGrace
        return decide(event, in: simulated, notBefore: end)
    }

    private mutating func nextInGrace(in simulated: SimulatedPurchase, until end: Date) -> Decision? {
        let room = end.timeIntervalSince(simulated.now) * 0.9
        return random.chance(0.6) && room > 0
            ? decide(.recover, in: simulated, within: room) : decide(.outliveGrace, in: simulated, notBefore: end)
    }

    private mutating func nextInBillingRetry(in simulated: SimulatedPurchase, until end: Date) -> Decision? {
        let room = end.timeIntervalSince(simulated.now) * 0.9
        return random.chance(0.5) && room > 0
            ? decide(.recover, in: simulated, within: room)
            : decide(.expireInBillingRetry, in: simulated, notBefore: end)
    }

    private mutating func nextAfterExpiry(in simulated: SimulatedPurchase) -> Decision? {
        let roll = random.fraction()
        if roll < 0.55 { return decide(.resubscribe, in: simulated, within: simulated.timeScale.scaled(90 * 86_400)) }
        // Only what was paid for can be given back, and only once.
        if roll < 0.60 { return decide(.refund, in: simulated, within: simulated.timeScale.scaled(30 * 86_400)) }
        return nil
    }

    private mutating func nextAfterRefund(in simulated: SimulatedPurchase) -> Decision? {
        let roll = random.fraction()
        if roll < 0.2 { return decide(.reverseRefund, in: simulated, within: simulated.timeScale.scaled(10 * 86_400)) }
        if roll < 0.7 { return decide(.resubscribe, in: simulated, within: simulated.timeScale.scaled(60 * 86_400)) }
        return nil
    }

    /// Some time within so many seconds from the newest event.
    private mutating func decide(_ event: LifecycleEvent, in simulated: SimulatedPurchase, within room: TimeInterval)
        -> Decision
    {
        decide(event, in: simulated, at: simulated.now.adding(room * random.fraction()))
    }

    /// Shortly after a date: Apple needs a moment to charge.
    private mutating func decide(_ event: LifecycleEvent, in simulated: SimulatedPurchase, notBefore date: Date)
        -> Decision
    {
        decide(
            event, in: simulated,
            at: max(date, simulated.now).adding(simulated.timeScale.scaled(3600) * random.fraction()))
    }

    private mutating func decide(_ event: LifecycleEvent, in simulated: SimulatedPurchase, at date: Date) -> Decision {
        let choice =
            switch event {
            case .upgrade: simulated.higherProducts
            case .downgrade: simulated.lowerProducts
            default: Product.subscriptions
            }
        // Later by a millisecond at least: two events of one simulated never share a signedDate.
        return Decision(
            event: event, date: max(date, simulated.now.adding(0.001)), product: random.element(of: choice))
    }
}
