import struct Foundation.Date

extension PurchaseSnapshot {
    /// What the purchase gives by itself, before others of the customer are looked at.
    func decision(levels: ServiceLevels, at now: Date) -> EntitlementDecision {
        let state = subscription.state(at: now)
        let transaction = subscription.transaction
        switch (state, transaction?.kind) {
        case (.active, .nonRenewing): return decision(.nonRenewing, levels, until: transaction?.expiresDate)
        case (.expired, .nonRenewing): return decision(.nonRenewingEnded, levels)
        case (.active, _): return decision(.active, levels, until: transaction?.expiresDate)
        case (.gracePeriod, _):
            return decision(.gracePeriod, levels, until: subscription.renewal?.gracePeriodExpiresDate)
        case (.owned, _): return decision(.owned, levels)
        default:
            if let earlier = standing(at: now) {
                return decision(.active, levels, by: earlier, until: earlier.expiresDate)
            }
            return decision(state.refusal, levels)
        }
    }

    /// An earlier period that still runs although the current transaction gives nothing: the next one was charged for
    /// early and refunded. A period that a purchase cut short, well before its end, does not stand; Apple signs its
    /// `isUpgraded` anew but tells nobody.
    private func standing(at now: Date) -> TransactionFacts? {
        guard let current = subscription.transaction, current.kind == .autoRenewable else { return nil }
        let early = BillingRules.earlyRenewal(in: subscription.key.environment)
        return transactions.filter { candidate in
            guard candidate.transactionId != current.transactionId, candidate.kind == .autoRenewable,
                candidate.revocationDate == nil, !candidate.isUpgraded, candidate.hasPeriod,
                let end = candidate.expiresDate, now < end
            else { return false }
            return ([current] + transactions).allSatisfy { other in
                guard candidate.isEarlierPurchase(than: other) else { return true }
                return other.purchaseDate.map { $0 >= end.addingTimeInterval(-early) } ?? false
            }
        }.max { $0.isEarlierPurchase(than: $1) }
    }

    private func decision(
        _ status: EntitlementStatus, _ levels: ServiceLevels, by transaction: TransactionFacts? = nil,
        until: Date? = nil
    ) -> EntitlementDecision {
        let decisive = transaction ?? subscription.transaction
        return EntitlementDecision(
            key: subscription.key, bundleId: subscription.bundleId, transaction: decisive,
            level: decisive.flatMap { levels[$0.productId] }, until: until, status: status)
    }
}

extension SubscriptionState {
    /// Why a purchase in this state gives nothing.
    fileprivate var refusal: EntitlementStatus {
        switch self {
        case .expired: .expired
        case .billingRetry: .billingRetry
        case .overdue: .overdue
        case .revoked: .revoked
        case .upgraded: .upgraded
        case .consumed: .consumed
        // The first three give something and are ruled on before.
        case .active, .gracePeriod, .owned, .unknown: .unknown
        }
    }
}
