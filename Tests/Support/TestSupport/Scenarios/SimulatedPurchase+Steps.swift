import Contracts
import Foundation
import Subscriptions

/// The charges that each step changes, and the notifications that Apple sends about it.
extension SimulatedPurchase {
    /// - Returns: whether the step was possible.
    mutating func happens(_ step: ScenarioStep) -> Bool {
        let choice = step.choice
        switch step.action {
        case .event(let type): return happens(type, choice)
        case .addSeats:
            // Seats are younger than the payloads that do not say what a transaction is.
            guard state == .active, hasBegun, events.count >= oldPayloads else { return false }
            addSeats(choice)
        case .resend:
            guard !events.isEmpty else { return false }
            resend(choice)
        case .signTransaction:
            guard state != .none else { return false }
            sign(transaction: choice % charges.count, choice: choice)
        case .signRenewalInfo:
            guard state != .none, state != .oneTime else { return false }
            sign(transaction: nil, choice: choice)
        }
        return true
    }

    private mutating func happens(_ type: EventType, _ choice: Int) -> Bool {
        switch type {
        case .subscribed, .subscribedByOffer, .migrated:
            guard state == .none else { return false }
            begin(choice)
            buy(Self.products[choice % 3], type, choice)
        case .boughtOnce:
            guard state == .none else { return false }
            begin(choice)
            buyOnce(choice)
        case .resubscribed, .resubscribedByOffer:
            guard state == .ended || state == .revoked || state == .retry else { return false }
            buy(Self.products[choice % 4], type, choice)
        case .upgraded, .upgradedByOffer:
            guard state == .active, !isFamilyShared else { return false }
            let product = Self.products[choice % 4]
            guard charges.allSatisfy({ !$0.entitles(at: now) || $0.facts.productId != product }) else { return false }
            buy(product, type, choice)
        case .renewed: return renew(choice)
        case .billingRecovered: return recover(choice)
        case .billingFailed, .billingFailedWithGrace: return fail(withGrace: type == .billingFailedWithGrace, choice)
        case .graceEnded:
            guard state == .grace, let graceEnd else { return false }
            now = graceEnd
            settle()
            notify(type, choice)
        case .expiredVoluntarily: return expire(type, intent: 1, when: !willRenew, choice)
        case .expiredOverPrice: return expire(type, intent: 3, when: isPricePending, choice)
        case .expiredUnsold: return expire(type, intent: 4, when: willRenew, choice)
        case .expired: return expire(type, intent: 5, when: willRenew, choice)
        case .expiredInBillingRetry:
            guard state == .retry else { return false }
            now = end + 60 * Self.day
            close(intent: 2)
            notify(type, choice)
        case .refunded: return refund(choice)
        case .refundReversed: return reverseRefund(choice)
        case .seatsRefunded:
            guard state == .active else { return false }
            charges[current].facts.revokedSeatQuantity = 1
            notify(type, choice)
        case .refundDeclined, .consumptionRequested:
            guard state != .none else { return false }
            send([(type.rawValue, choice % charges.count)], choice: choice)
        case .familyAccessRevoked: return revokeFamilyAccess(choice)
        case .extended:
            let covering = charges.filter { $0.entitlesUntil > now && $0.refundedAt == nil }
            guard state == .active, hasBegun, covering.count == 1, !isFamilyShared else { return false }
            let longer = (charges[current].end - charges[current].from) * Int64(choice % 90 + 1) / 180
            let end = end
            // Refunded seats of the period end with it too.
            for index in charges.indices where charges[index].end == end {
                if !charges[index].isReplaced { charges[index].entitlesUntil += longer }
                charges[index].end += longer
                charges[index].facts.expiresDate = Date(milliseconds: charges[index].end)
            }
            notify(type, choice)
        default: return choose(type, choice)
        }
        return true
    }

    /// Events that change no access.
    private mutating func choose(_ type: EventType, _ choice: Int) -> Bool {
        guard state != .none, state != .oneTime else { return false }
        let isActive = state == .active
        switch type {
        case .offerRedeemed, .massExtensionFailed, .metadataUpdated, .priceChanged: break
        case .downgradeChosen where isActive, .downgradeChosenByOffer where isActive:
            renewal.autoRenewProductId = Self.products[choice % 3]
        case .choiceUndone where isActive: renewal.autoRenewProductId = charges[current].facts.productId
        case .renewalTurnedOff where isActive && willRenew: renewal.autoRenewStatus = false
        case .renewalTurnedOn where isActive && !willRenew: renewal.autoRenewStatus = true
        case .priceIncreasePending where isActive && willRenew:
            isPricePending = true
            renewal.priceIncreaseStatus = 0
        // Comes without a request where no consent is needed.
        case .priceIncreaseAccepted where isActive:
            isPricePending = false
            renewal.priceIncreaseStatus = 1
        default: return false
        }
        notify(type, choice)
        return true
    }

    private mutating func notify(
        _ type: EventType, _ choice: Int, and other: EventType? = nil, status: Int? = nil
    ) {
        let about = state == .active || state == .grace ? current : charges.count - 1
        // Apple retries the charge in a grace period, too.
        let isRetryTold = state == .grace && now >= end && choice / 83 % 6 == 0
        send(
            [type, other].compactMap { $0 }.map { ($0.rawValue, about) }, choice: choice,
            status: status ?? (isRetryTold ? 3 : nil))
    }

    // MARK: - Charges

    private mutating func charge(_ product: String, from: Int64, to end: Int64, reason: String, _ choice: Int) {
        let isOffer = choice / 31 % 4 == 0
        charges.append(
            Charge(
                facts: TransactionFacts(
                    transactionId: "20000000000\(10_001 + charges.count)", productId: product,
                    productType: productType, subscriptionGroupIdentifier: "metals",
                    purchaseDate: Date(milliseconds: from), originalPurchaseDate: Date(milliseconds: Self.birth),
                    expiresDate: Date(milliseconds: end), quantity: 1,
                    ownership: isFamilyShared ? "FAMILY_SHARED" : "PURCHASED", offerType: isOffer ? 2 : nil,
                    offerIdentifier: isOffer ? "spring" : nil, signedDate: Date(milliseconds: now), reason: reason),
                from: from, end: end, entitlesUntil: end))
    }

    /// A purchase begins at once and replaces everything before it, begun or not.
    private mutating func buy(_ product: String, _ type: EventType, _ choice: Int) {
        clearGrace()
        for index in charges.indices where charges[index].entitlesUntil > now {
            charges[index].entitlesUntil = max(charges[index].from, now)
            charges[index].facts.isUpgraded = charges[index].refundedAt == nil
        }
        charge(product, from: now, to: now + length(choice / 5), reason: "PURCHASE", choice)
        restart(product)
        notify(type, choice, and: choice / 37 % 3 == 0 ? .renewalTurnedOn : nil)
    }

    private mutating func restart(_ product: String) {
        state = .active
        renewal = RenewalFacts(
            autoRenewStatus: true, autoRenewProductId: product, isInBillingRetry: false,
            signedDate: Date(milliseconds: now))
        isPricePending = false
        graceEnd = nil
    }

    private mutating func buyOnce(_ choice: Int) {
        state = .oneTime
        let kinds: [(String, String, Int64)] = [
            ("Consumable", "coins", 0), ("Non-Consumable", "filter", .max / 2),
            ("Non-Renewing Subscription", "pass", 7 * Self.day),
            ("Non-Renewing Subscription", "season", 100 * Self.day),
        ]
        let (type, product, duration) = kinds[choice / 7 % 4]
        productType = type
        charge(product, from: now, to: now + duration, reason: "PURCHASE", choice)
        charges[0].facts.expiresDate = nil
        notify(.boughtOnce, choice)
    }

    /// Adds a charge for the running period; every transaction of the period has a reason from then on.
    private mutating func addSeats(_ choice: Int) {
        let base = charges[current]
        charge(base.facts.productId, from: now, to: base.end, reason: "PURCHASE", choice)
        for index in charges.indices where charges[index].entitlesUntil == base.end {
            charges[index].facts.additionalTransactionReason = "SEAT_ADDITION"
        }
        notify(.metadataUpdated, choice)
    }

    /// Up to a day before the end, or a little after it; dated at its beginning either way.
    private mutating func renew(_ choice: Int) -> Bool {
        guard state == .active || (state == .retry && now < end + earlyCharge), willRenew, hasBegun else {
            return false
        }
        let product = renewal.autoRenewProductId ?? charges[current].facts.productId
        let isLate = choice / 41 % 4 == 0
        now = max(now, isLate ? end + earlyCharge / 9 : end - earlyCharge * Int64(choice / 43 % 1001) / 1000)
        let end = end
        charge(product, from: end, to: end + length(choice / 5), reason: "RENEWAL", choice)
        guard charges[current].end > now else {
            charges.removeLast()
            return false
        }
        // Dated at its charge; it begins on the renewal date all the same. Only payloads with a reason show that.
        if environment == .production, now < end, events.count >= oldPayloads, choice / 101 % 3 == 0 {
            charges[charges.count - 1].facts.purchaseDate = Date(milliseconds: now)
        }
        restart(product)
        notify(.renewed, choice)
        return true
    }

    private mutating func recover(_ choice: Int) -> Bool {
        guard state == .grace || state == .retry else { return false }
        let product = renewal.autoRenewProductId ?? charges[current].facts.productId
        // Within grace the days of service go on without a gap; after a lapse they begin with the charge.
        let from = state == .grace ? end : now
        guard from + length(choice / 5) > now else { return false }
        clearGrace()
        charge(product, from: from, to: from + length(choice / 5), reason: "RENEWAL", choice)
        restart(product)
        notify(.billingRecovered, choice)
        return true
    }

    private mutating func fail(withGrace: Bool, _ choice: Int) -> Bool {
        guard state == .active, willRenew, hasBegun else { return false }
        // Sent when the first attempt fails, which may be before the end; the status is still 1 then.
        let isEarly = choice / 47 % 2 == 0
        now = max(now, isEarly ? end - earlyCharge * Int64(choice / 53 % 1000) / 1000 : end)
        renewal.isInBillingRetry = now >= end && choice / 59 % 3 > 0
        renewal.expirationIntent = 2
        state = now < end ? .active : .retry
        if withGrace {
            let days: Int64 = [3, 16, 28][choice / 61 % 3]
            graceEnd = end + (environment == .production ? days * Self.day : days * 20_000)
            renewal.gracePeriodExpiresDate = graceEnd.map { Date(milliseconds: $0) }
            graces.append(Grace(productId: charges[current].facts.productId, from: end, to: graceEnd ?? end))
            state = .grace
        }
        // The status may run ahead of the end.
        notify(
            withGrace ? .billingFailedWithGrace : .billingFailed, choice,
            status: now < end && choice / 79 % 4 == 0 ? 3 : nil)
        return true
    }

    private mutating func expire(_ type: EventType, intent: Int, when possible: Bool, _ choice: Int) -> Bool {
        guard state == .active || state == .ended, possible else { return false }
        let isEarly = choice / 89 % 5 == 0
        now = max(now, isEarly ? end - earlyCharge * Int64(choice / 103 % 1000) / 1000 : end)
        close(intent: intent)
        notify(type, choice, status: now < end ? 2 : nil)
        return true
    }

    private mutating func close(intent: Int) {
        clearGrace()
        renewal.autoRenewStatus = false
        renewal.isInBillingRetry = false
        renewal.expirationIntent = intent
        state = .ended
    }
}
