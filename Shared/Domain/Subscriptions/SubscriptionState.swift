import struct Foundation.Date
import struct Foundation.TimeInterval

/// The state of a purchase at a moment: Apple's five statuses, and states that Apple has no status for. Never stored,
/// because an end takes effect by the clock alone.
///
/// [status](https://developer.apple.com/documentation/appstoreserverapi/status)
public enum SubscriptionState: String, Sendable, Hashable, CaseIterable {
    /// A period that gives access contains the moment.
    case active
    /// The charge failed; access continues during Apple's grace period.
    case gracePeriod
    /// The charge failed; no access while Apple retries the charge for up to 60 days, 90 within a commitment.
    case billingRetry
    /// The period ended, a renewal was due, and no notification of its outcome has arrived.
    case overdue
    /// Its first known period begins later.
    case notBegun
    /// The subscription ended.
    case expired
    /// Refunded, or family sharing ended.
    case revoked
    /// Replaced by a purchase whose transaction is unknown.
    case upgraded
    /// A non-consumable that was bought.
    case owned
    /// A consumable; it gives no access after the purchase.
    case consumed
    /// No transaction is known, or its product type is unknown, or it has no dates.
    case unknown
}

extension Subscription {
    /// The state by the newest facts alone, without earlier transactions.
    public func state(at moment: Date) -> SubscriptionState { PurchaseSnapshot(subscription: self).state(at: moment) }

    /// The state at a moment for which the access period is known.
    /// - Parameter reason: the reason of the period that contains the moment; nil where none does.
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
        if isRevoked { return stateBeforeRevokedPeriod(at: moment) ?? .revoked }
        let isAhead = moment < transaction.beginning
        switch transaction.kind {
        case .consumable: return .consumed
        case .nonRenewing: return isAhead ? .notBegun : .expired
        case .nonConsumable: return isAhead ? .notBegun : .unknown
        case .autoRenewable: break
        case nil: if transaction.expiresDate == nil { return .unknown }
        }
        if transaction.isUpgraded { return .upgraded }
        guard let end = transaction.expiresDate else { return .unknown }
        if !transaction.hasPeriod { return .expired }
        // A status from before the current transaction is not about it.
        if let status = statusSinceRenewal, isStatusOfTransaction || moment >= end {
            if status == 2 { return .expired }
            if status == 3 { return retryState(after: end, at: moment) }
        }
        if isAhead { return .notBegun }
        if let renewal = renewalOfEndedPeriod, renewal.isInBillingRetry == true {
            return retryState(after: end, at: moment)
        }
        return renewalOfProduct?.autoRenewStatus == false ? .expired : .overdue
    }

    /// The state of a renewal that was refunded before it began: what Apple's status says since of the period before. Nil where the
    /// status is about the refund.
    private func stateBeforeRevokedPeriod(at moment: Date) -> SubscriptionState? {
        guard let transaction, let revokedAt = transaction.revokedAt, revokedAt <= transaction.beginning,
            let statusVersion, statusVersion.signedDate >= revokedAt
        else { return nil }
        switch status {
        case 2: return .expired
        case 3: return retryState(after: transaction.beginning, at: moment)
        default: return nil
        }
    }

    private func retryState(after end: Date, at moment: Date) -> SubscriptionState {
        moment < end.addingTimeInterval(BillingRules.billingRetry(of: transaction?.billingPlanType))
            ? .billingRetry : .expired
    }

    private var stateByStatus: SubscriptionState? {
        switch status {
        case 2: .expired
        case 3: .billingRetry
        case 5: .revoked
        default: nil
        }
    }

    /// By the revocation date, or by the status in the event that held this version of the transaction: a status from
    /// another event may be about an older period.
    private var isRevoked: Bool {
        (transaction?.revocationDate != nil && !isRefundOfAddedSeats) || (status == 5 && isStatusOfTransaction)
    }

    /// Whether only added seats were refunded: Apple's status since is none of a revoked subscription.
    private var isRefundOfAddedSeats: Bool {
        guard let transaction, transaction.additionalTransactionReason != nil, let revokedAt = transaction.revokedAt,
            let statusVersion
        else { return false }
        return status != 5 && statusVersion.signedDate >= revokedAt
    }

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

    /// The renewal info, if Apple signed it after the renewal of the current period could be charged: an older one is
    /// about the period before.
    private var renewalOfEndedPeriod: RenewalFacts? {
        guard let renewal = renewalOfProduct, let end = transaction?.expiresDate else { return nil }
        let due = end.addingTimeInterval(-BillingRules.earlyRenewal(in: key.environment))
        return renewal.signedDate >= due ? renewal : nil
    }
}
