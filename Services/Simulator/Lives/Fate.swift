import struct Foundation.Date
import typealias Foundation.TimeInterval

/// Decides what happens next in a life, and when. The likelihoods are ours: lively rather than true.
struct Fate: Sendable {
    struct Decision: Sendable, Equatable {
        var event: LifeEvent
        var date: Date
        var product: Product
    }

    private var random: SeededRandom

    init(random: SeededRandom) { self.random = random }

    /// - Returns: nil where the life ends: nothing more will be heard of it.
    mutating func next(in life: Life) -> Decision? {
        switch life.phase {
        case .unborn: decide(.subscribe, in: life, within: life.tempo.scaled(60))
        case .active: nextWhileActive(in: life)
        case .grace(let end): nextInGrace(in: life, until: end)
        case .billingRetry(let end): nextInBillingRetry(in: life, until: end)
        case .expired: nextAfterExpiry(in: life)
        case .revoked: nextAfterRefund(in: life)
        }
    }

    private mutating func nextWhileActive(in life: Life) -> Decision? {
        let end = life.purchase?.expiresDate ?? life.now
        let willRenew = life.renewal?.willRenew ?? false
        if end > life.now, random.chance(willRenew ? 0.30 : 0.45) {
            // The candidates stand with their weights: a change of mind is commoner than a refund.
            var candidates: [LifeEvent] = [
                .turnRenewalOff, .turnRenewalOff, .turnRenewalOff, .turnRenewalOn, .turnRenewalOn, .upgrade,
                .downgrade, .downgrade, .keepProduct, .requestRefund, .declineRefund, .declineRefund, .refund,
            ]
            candidates.removeAll { !life.permits($0) }
            let room = end.timeIntervalSince(life.now) * 0.8
            return decide(random.element(of: candidates), in: life, within: room)
        }
        guard willRenew else { return decide(.expireVoluntarily, in: life, notBefore: end) }
        let roll = random.fraction()
        let event: LifeEvent = roll < 0.80 ? .renew : roll < 0.90 ? .failToRenew : .failToRenewWithGrace
        return decide(event, in: life, notBefore: end)
    }

    private mutating func nextInGrace(in life: Life, until end: Date) -> Decision? {
        let room = end.timeIntervalSince(life.now) * 0.9
        return random.chance(0.6) && room > 0
            ? decide(.recover, in: life, within: room) : decide(.outliveGrace, in: life, notBefore: end)
    }

    private mutating func nextInBillingRetry(in life: Life, until end: Date) -> Decision? {
        let room = end.timeIntervalSince(life.now) * 0.9
        return random.chance(0.5) && room > 0
            ? decide(.recover, in: life, within: room) : decide(.expireInBillingRetry, in: life, notBefore: end)
    }

    private mutating func nextAfterExpiry(in life: Life) -> Decision? {
        let roll = random.fraction()
        if roll < 0.55 { return decide(.resubscribe, in: life, within: life.tempo.scaled(90 * 86_400)) }
        // Only what was paid for can be given back, and only once.
        if roll < 0.60 { return decide(.refund, in: life, within: life.tempo.scaled(30 * 86_400)) }
        return nil
    }

    private mutating func nextAfterRefund(in life: Life) -> Decision? {
        let roll = random.fraction()
        if roll < 0.2 { return decide(.reverseRefund, in: life, within: life.tempo.scaled(10 * 86_400)) }
        if roll < 0.7 { return decide(.resubscribe, in: life, within: life.tempo.scaled(60 * 86_400)) }
        return nil
    }

    /// Some time within so many seconds from the newest event.
    private mutating func decide(_ event: LifeEvent, in life: Life, within room: TimeInterval) -> Decision {
        decide(event, in: life, at: life.now.adding(room * random.fraction()))
    }

    /// Shortly after a date: Apple needs a moment to charge.
    private mutating func decide(_ event: LifeEvent, in life: Life, notBefore date: Date) -> Decision {
        decide(event, in: life, at: max(date, life.now).adding(life.tempo.scaled(3600) * random.fraction()))
    }

    private mutating func decide(_ event: LifeEvent, in life: Life, at date: Date) -> Decision {
        let choice =
            switch event {
            case .upgrade: life.higherProducts
            case .downgrade: life.lowerProducts
            default: Product.subscriptions
            }
        // Later by a millisecond at least: two events of one life never share a signedDate.
        return Decision(
            event: event, date: max(date, life.now.adding(0.001)), product: random.element(of: choice))
    }
}
