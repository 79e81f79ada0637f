import Contracts

import struct Foundation.Date
import typealias Foundation.TimeInterval

/// The next event of a purchase, and its time.
struct Decision: Sendable, Equatable {
    var event: LifecycleEvent
    var date: Date
    var product: Product
    var offer: Offer?
}

/// Decides the next event of a purchase without a scenario. The probabilities are chosen for coverage, not from real customers.
struct EventGenerator: Sendable {
    private var random: SeededRandom

    init(random: SeededRandom) { self.random = random }

    /// - Returns: nil where no event follows.
    mutating func next(in purchase: SimulatedPurchase) -> Decision? {
        switch purchase.phase {
        // The first purchase is decided together with the customer: see ``Population``.
        case .notBought: nil
        case .owned: nextWhileOwned(purchase)
        case .active: nextWhileActive(purchase)
        case .grace(let end): nextInGrace(purchase, until: end)
        case .billingRetry(let end): nextInBillingRetry(purchase, until: end)
        case .expired: nextAfterExpiry(purchase)
        case .revoked: nextAfterRefund(purchase)
        }
    }

    private mutating func nextWhileOwned(_ purchase: SimulatedPurchase) -> Decision? {
        if purchase.refundRequest != nil { return nextOfRefundRequest(purchase) }
        let events: [(LifecycleEvent, Double)] = [(.revoke, 0.6), (.requestRefund, 0.3), (.refund, 0.15)]
        let roll = random.fraction()
        var sum = 0.0
        for (event, share) in events where purchase.permits(event, at: purchase.now) {
            sum += share
            if roll < sum { return decide(event, in: purchase, within: purchase.timeScale.scaled(30 * 86_400)) }
        }
        return nil
    }

    /// Apple asks again until it is answered or twelve hours are over, then decides.
    private mutating func nextOfRefundRequest(_ purchase: SimulatedPurchase) -> Decision? {
        guard let request = purchase.refundRequest else { return nil }
        let hours = purchase.now.timeIntervalSince(request.requestedAt) / purchase.timeScale.scaled(3600)
        if purchase.permits(.repeatConsumptionRequest, at: purchase.now), hours < 12, random.chance(0.5) {
            return decide(.repeatConsumptionRequest, in: purchase, within: purchase.timeScale.scaled(4 * 3600))
        }
        let isGranted = purchase.permits(.refund, at: purchase.now) && random.chance(0.5)
        return decide(
            isGranted ? .refund : .declineRefund, in: purchase, within: purchase.timeScale.scaled(24 * 3600))
    }

    /// Changes of the renewal are more frequent than refunds.
    private static let whileActive: [(event: LifecycleEvent, weight: Int)] = [
        (.turnRenewalOff, 12), (.turnRenewalOn, 8), (.upgrade, 5), (.crossgrade, 3), (.downgrade, 8),
        (.keepProduct, 4), (.requestRefund, 4), (.requestRefundOfEarlierPeriod, 4), (.refund, 2),
        (.refundEarlierPeriod, 3), (.redeemOffer, 3), (.redeemOfferAndUpgrade, 2), (.redeemOfferAndDowngrade, 2),
        (.announcePriceIncrease, 6), (.acceptPriceIncrease, 10), (.raisePrice, 2), (.extend, 2), (.failToExtend, 2),
        (.revoke, 10), (.unclaimSeats, 8), (.addSeats, 16), (.refundSeats, 8), (.updateMetadata, 1), (.migrate, 1),
        (.changePrice, 1),
        (.somethingNew, 1),
    ]

    private mutating func nextWhileActive(_ purchase: SimulatedPurchase) -> Decision? {
        let paidEnd = purchase.purchase?.expiresDate ?? purchase.now
        let willRenew = purchase.renewal?.willRenew ?? false
        if purchase.refundRequest != nil, let decision = nextOfRefundRequest(purchase), decision.date < paidEnd {
            return decision
        }
        if paidEnd > purchase.now, random.chance(willRenew ? 0.35 : 0.45) {
            let candidates = Self.whileActive.filter { purchase.permits($0.event, at: purchase.now) }
            let room = paidEnd.timeIntervalSince(purchase.now) * 0.8
            return decide(random.element(of: candidates), in: purchase, within: room)
        }
        return nextAtTheEnd(purchase, of: paidEnd, willRenew: willRenew)
    }

    private mutating func nextAtTheEnd(
        _ purchase: SimulatedPurchase, of paidEnd: Date, willRenew: Bool
    ) -> Decision? {
        guard willRenew else {
            let roll = random.fraction()
            let event: LifecycleEvent =
                roll < 0.85 ? .expireVoluntarily : roll < 0.93 ? .expireOtherwise : .expireProductNotForSale
            return decide(event, in: purchase, notBefore: paidEnd)
        }
        if purchase.permits(.expireAfterPriceIncrease, at: paidEnd), random.chance(0.7) {
            return decide(.expireAfterPriceIncrease, in: purchase, notBefore: paidEnd)
        }
        if purchase.isOverInSandbox {
            let room = paidEnd.timeIntervalSince(purchase.now) * 0.9
            return room > 0 ? decide(.turnRenewalOff, in: purchase, within: room) : nil
        }
        if purchase.chargesFail {
            return decide(.failToRenew, in: purchase, notBefore: paidEnd)
        }
        let roll = random.fraction()
        let event: LifecycleEvent =
            roll < 0.79 ? .renew : roll < 0.80 ? .renewInANewWay : roll < 0.89 ? .failToRenew : .failToRenewWithGrace
        guard purchase.permits(event, at: paidEnd) else {
            return decide(.failToRenew, in: purchase, notBefore: paidEnd)
        }
        // Apple charges up to a day before the end, and announces a failure then, too.
        if event != .failToRenew, random.chance(0.6) {
            // In the second half of that day a failed charge already has status 4.
            let early = purchase.timeScale.earlyCharge * (event == .failToRenewWithGrace ? 0.5 : 1)
            return decide(event, in: purchase, at: paidEnd.adding(-early * random.fraction()))
        }
        return decide(event, in: purchase, notBefore: paidEnd)
    }

    private mutating func nextInGrace(_ purchase: SimulatedPurchase, until end: Date) -> Decision? {
        if purchase.permits(.revoke, at: purchase.now), random.chance(0.2) {
            return decide(.revoke, in: purchase, within: end.timeIntervalSince(purchase.now) * 0.5)
        }
        // In grace proper: before the end of the paid period there is nothing to recover.
        let paidEnd = purchase.purchase?.expiresDate ?? purchase.now
        let begin = max(paidEnd, purchase.now)
        let room = end.timeIntervalSince(begin) * 0.9
        return random.chance(0.6) && room > 0
            ? decide(.recover, in: purchase, at: begin.adding(room * random.fraction()))
            : decide(.outliveGrace, in: purchase, notBefore: end)
    }

    private mutating func nextInBillingRetry(_ purchase: SimulatedPurchase, until end: Date) -> Decision? {
        let room = end.timeIntervalSince(purchase.now) * 0.9
        return random.chance(0.5) && room > 0
            ? decide(.recover, in: purchase, within: room)
            : decide(.expireInBillingRetry, in: purchase, notBefore: end)
    }

    private mutating func nextAfterExpiry(_ purchase: SimulatedPurchase) -> Decision? {
        let roll = random.fraction()
        if roll < 0.55 { return decide(.resubscribe, in: purchase, within: purchase.timeScale.scaled(90 * 86_400)) }
        // Only a paid transaction can be refunded, and only once.
        if roll < 0.60, purchase.permits(.refund, at: purchase.now) {
            return decide(.refund, in: purchase, within: purchase.timeScale.scaled(30 * 86_400))
        }
        if roll < 0.65, purchase.permits(.refundEarlierPeriod, at: purchase.now) {
            return decide(.refundEarlierPeriod, in: purchase, within: purchase.timeScale.scaled(30 * 86_400))
        }
        return nil
    }

    private mutating func nextAfterRefund(_ purchase: SimulatedPurchase) -> Decision? {
        let roll = random.fraction()
        if roll < 0.25, purchase.permits(.reverseRefund, at: purchase.now) {
            return decide(.reverseRefund, in: purchase, within: purchase.timeScale.scaled(10 * 86_400))
        }
        if roll < 0.7, purchase.permits(.resubscribe, at: purchase.now) {
            return decide(.resubscribe, in: purchase, within: purchase.timeScale.scaled(60 * 86_400))
        }
        return nil
    }

    private mutating func decide(
        _ event: LifecycleEvent, in purchase: SimulatedPurchase, within room: TimeInterval
    ) -> Decision {
        decide(event, in: purchase, at: purchase.now.adding(room * random.fraction()))
    }

    /// Shortly after a date: Apple needs a moment to charge.
    private mutating func decide(
        _ event: LifecycleEvent, in purchase: SimulatedPurchase, notBefore date: Date
    ) -> Decision {
        decide(
            event, in: purchase,
            at: max(date, purchase.now).adding(purchase.timeScale.scaled(3600) * random.fraction()))
    }

    private mutating func decide(_ event: LifecycleEvent, in purchase: SimulatedPurchase, at date: Date) -> Decision {
        // At least a millisecond later: two events of one purchase never share a signedDate.
        Decision(
            event: event, date: max(date, purchase.now.adding(0.001)), product: product(for: event, in: purchase),
            offer: offer(for: event))
    }

    private mutating func product(for event: LifecycleEvent, in purchase: SimulatedPurchase) -> Product {
        switch event {
        case .upgrade, .redeemOfferAndUpgrade: random.element(of: purchase.higherProducts)
        case .crossgrade: random.element(of: purchase.equalProducts)
        case .downgrade, .redeemOfferAndDowngrade: random.element(of: purchase.lowerProducts)
        case .resubscribe: random.element(of: purchase.renewal?.product.siblings ?? Product.subscriptions)
        default: random.element(of: Product.subscriptions)
        }
    }

    private mutating func offer(for event: LifecycleEvent) -> Offer? {
        switch event {
        case .subscribe: random.chance(0.4) ? Offer.random(.introductory, using: &random) : nil
        case .resubscribe: random.chance(0.3) ? Offer.random(.winBack, using: &random) : nil
        case .redeemOffer, .redeemOfferAndUpgrade, .redeemOfferAndDowngrade:
            Offer.random(random.chance(0.5) ? .promotional : .code, using: &random)
        default: nil
        }
    }
}

extension SeededRandom {
    /// An element by its weight.
    fileprivate mutating func element(of weighted: [(event: LifecycleEvent, weight: Int)]) -> LifecycleEvent {
        var rest = index(below: weighted.reduce(0) { $0 + $1.weight })
        for (event, weight) in weighted {
            rest -= weight
            if rest < 0 { return event }
        }
        return weighted[weighted.count - 1].event
    }
}
