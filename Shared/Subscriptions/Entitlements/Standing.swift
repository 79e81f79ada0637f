import struct Foundation.Date

extension Holding {
    /// What the purchase gives by itself, before others of the customer are looked at.
    func ruling(levels: GroupLevels, at now: Date) -> Ruling {
        let phase = subscription.phase(at: now)
        let transaction = subscription.transaction
        switch (phase, transaction?.kind) {
        case (.active, .nonRenewing): return ruling(.nonRenewing, levels, until: transaction?.expiresDate)
        case (.expired, .nonRenewing): return ruling(.nonRenewingEnded, levels)
        case (.active, _): return ruling(.active, levels, until: transaction?.expiresDate)
        case (.gracePeriod, _): return ruling(.gracePeriod, levels, until: subscription.renewal?.gracePeriodExpiresDate)
        case (.owned, _): return ruling(.owned, levels)
        default:
            if let earlier = standing(at: now) {
                return ruling(.active, levels, by: earlier, until: earlier.expiresDate)
            }
            return ruling(phase.refusal, levels)
        }
    }

    /// An earlier period that still runs although the current transaction gives nothing: the next one was charged for
    /// early and refunded. A period that a purchase cut short, well before its end, does not stand; Apple signs its
    /// `isUpgraded` anew but tells nobody.
    private func standing(at now: Date) -> TransactionFacts? {
        guard let current = subscription.transaction, current.kind == .autoRenewable else { return nil }
        let early = Commerce.earlyRenewal(in: subscription.key.environment)
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

    private func ruling(
        _ verdict: Verdict, _ levels: GroupLevels, by transaction: TransactionFacts? = nil, until: Date? = nil
    ) -> Ruling {
        let decisive = transaction ?? subscription.transaction
        return Ruling(
            key: subscription.key, bundleId: subscription.bundleId, transaction: decisive,
            level: decisive.flatMap { levels[$0.productId] }, until: until, verdict: verdict)
    }
}

extension Phase {
    /// Why a purchase in this phase gives nothing.
    fileprivate var refusal: Verdict {
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
