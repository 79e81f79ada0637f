import struct Foundation.Date
import struct Foundation.TimeInterval

/// The state of a purchase at a moment: Apple's five statuses, and what Apple has no status for. Never stored: an end
/// takes effect without any message.
///
/// [status](https://developer.apple.com/documentation/appstoreserverapi/status)
public enum SubscriptionState: String, Sendable, Hashable, CaseIterable {
    /// A period that gives access runs.
    case active
    /// The charge failed, access goes on.
    case gracePeriod
    /// The charge failed, no access, Apple tries for 60 days.
    case billingRetry
    /// The period ended, a renewal was due, and no notification of its outcome has arrived.
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
    /// The state by what the newest facts alone tell; earlier transactions are not looked at.
    public func state(at moment: Date) -> SubscriptionState { PurchaseSnapshot(subscription: self).state(at: moment) }

    /// The state at a moment, where it is decided already which access period runs then.
    /// - Parameter reason: of that period; nil where none runs.
    public func state(at moment: Date, access reason: AccessPeriod.Reason?) -> SubscriptionState {
        switch reason {
        case .transaction, .status, .nonRenewing, .durationUnknown: .active
        case .gracePeriod: .gracePeriod
        case .nonConsumable: .owned
        case nil: stateWithoutAccess(at: moment)
        }
    }

    /// Why the purchase gives no access at a moment at which no access period runs.
    func stateWithoutAccess(at moment: Date) -> SubscriptionState {
        guard let transaction else { return stateByStatus ?? .unknown }
        if isRevoked { return .revoked }
        switch transaction.kind {
        case .consumable: return .consumed
        case .nonRenewing: return .expired
        case .nonConsumable: return .unknown
        case .autoRenewable: break
        case nil: if transaction.expiresDate == nil { return .unknown }
        }
        if transaction.isUpgraded { return .upgraded }
        guard let end = transaction.expiresDate else { return .unknown }
        if !transaction.hasPeriod { return .expired }
        // No status that was told before the current transaction began speaks of it.
        if let told = statusSinceRenewal, isStatusOfTransaction || moment >= end {
            if told == 2 { return .expired }
            if told == 3 { return retryState(after: end, at: moment) }
        }
        if let renewal = renewalOfEndedPeriod, renewal.isInBillingRetry == true {
            return retryState(after: end, at: moment)
        }
        return renewalOfProduct?.autoRenewStatus == false ? .expired : .overdue
    }

    private func retryState(after end: Date, at moment: Date) -> SubscriptionState {
        moment < end.addingTimeInterval(BillingRules.billingRetry) ? .billingRetry : .expired
    }

    private var stateByStatus: SubscriptionState? {
        switch status {
        case 2: .expired
        case 3: .billingRetry
        case 5: .revoked
        default: nil
        }
    }

    /// By its date, or by the status that was told with this very version of the transaction: a status that came with
    /// another one may be about an older period.
    private var isRevoked: Bool { transaction?.revocationDate != nil || (status == 5 && isStatusOfTransaction) }

    private var isStatusOfTransaction: Bool { statusVersion != nil && statusVersion == transactionVersion }

    /// Apple's status unless the renewal info is newer.
    private var statusSinceRenewal: Int? {
        guard let statusVersion, renewal.map({ statusVersion.signedDate >= $0.signedDate }) ?? true else { return nil }
        return status
    }

    /// The renewal info, unless it is about another product.
    private var renewalOfProduct: RenewalFacts? {
        guard let product = renewal?.productId, product != transaction?.productId else { return renewal }
        return nil
    }

    /// The renewal info, where it was signed when the end of the current period was due already: an older one is about
    /// the period before.
    private var renewalOfEndedPeriod: RenewalFacts? {
        guard let renewal = renewalOfProduct, let end = transaction?.expiresDate else { return nil }
        let due = end.addingTimeInterval(-BillingRules.earlyRenewal(in: key.environment))
        return renewal.signedDate >= due ? renewal : nil
    }
}
