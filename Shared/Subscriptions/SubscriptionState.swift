import struct Foundation.Date
import struct Foundation.TimeInterval

/// Where a purchase stands at a moment. Never stored: an end takes effect without any message.
public enum SubscriptionState: String, Sendable, Hashable, CaseIterable {
    /// The period runs.
    case active
    /// The charge failed, access goes on.
    case gracePeriod
    /// The charge failed, no access, Apple tries for 60 days.
    case billingRetry
    /// The period ended, it was to renew, and nobody told what came of it. Something was missed, or is about to arrive.
    case overdue
    /// It ended.
    case expired
    /// Refunded, or family sharing ended.
    case revoked
    /// Replaced by a purchase that is not known yet.
    case upgraded
    /// Bought once and kept.
    case owned
    /// Bought once and used up.
    case consumed
    /// No transaction is known, or none of a kind or with dates that would tell.
    case unknown
}

extension Subscription {
    /// Where the purchase stands.
    /// - Parameter now: the clock.
    public func state(at now: Date) -> SubscriptionState {
        guard let transaction else { return .unknown }
        if isRevoked { return .revoked }
        switch transaction.kind {
        case .consumable: return .consumed
        case .nonConsumable: return .owned
        case .nonRenewing:
            guard let end = transaction.expiresDate else { return .active }
            return transaction.hasPeriod && now < end ? .active : .expired
        case .autoRenewable: return renewablePhase(of: transaction, at: now)
        case nil: return .unknown
        }
    }

    private func renewablePhase(of transaction: TransactionFacts, at now: Date) -> SubscriptionState {
        if transaction.isUpgraded { return .upgraded }
        guard let end = transaction.expiresDate else { return .unknown }
        if !transaction.hasPeriod || (status == 2 && isStatusOfTransaction) { return .expired }
        if now < end { return .active }
        let told = statusSinceRenewal
        if told == 2 { return .expired }
        if let renewal = renewalOfEndedPeriod, renewal.isInBillingRetry != false {
            if let grace = renewal.gracePeriodExpiresDate, now < grace, told != 3 { return .gracePeriod }
            if renewal.isInBillingRetry == true {
                return now < end.addingTimeInterval(BillingRules.billingRetry) ? .billingRetry : .expired
            }
        }
        return renewalOfProduct?.autoRenewStatus == false ? .expired : .overdue
    }

    /// By its date, or by the status that came with this very version of the transaction: a status that came with
    /// another one may be about an older period.
    var isRevoked: Bool { transaction?.revocationDate != nil || (status == 5 && isStatusOfTransaction) }

    private var isStatusOfTransaction: Bool { statusVersion != nil && statusVersion == transactionVersion }

    /// Apple's status unless the renewal info is newer.
    private var statusSinceRenewal: Int? {
        guard let statusVersion, renewalVersion.map({ statusVersion >= $0 }) ?? true else { return nil }
        return status
    }

    /// The renewal info, unless it is about another product.
    private var renewalOfProduct: RenewalFacts? {
        guard let product = renewal?.productId, product != transaction?.productId else { return renewal }
        return nil
    }

    /// The renewal info, where it was signed when the end of the current period was due already: an older one speaks of
    /// the period before.
    private var renewalOfEndedPeriod: RenewalFacts? {
        guard let renewal = renewalOfProduct, let end = transaction?.expiresDate else { return nil }
        let due = end.addingTimeInterval(-BillingRules.earlyRenewal(in: key.environment))
        return renewal.signedDate >= due ? renewal : nil
    }
}
