import Contracts

import struct Foundation.Date
import struct Foundation.TimeInterval

/// Decides which lifecycle events are missing between two neighbouring ones. Where neither event holds the fields that a
/// rule needs, no gap is reported.
struct TransitionRules {
    private let earlier: PurchaseEvent
    private let later: PurchaseEvent
    private let eventType: EventType

    init(_ earlier: PurchaseEvent, _ later: PurchaseEvent, _ eventType: EventType) {
        self.earlier = earlier
        self.later = later
        self.eventType = eventType
    }

    func isMissing(_ kind: LifecycleGap.Kind) -> Bool {
        switch kind {
        case .beginning: false
        case .period: isPeriodMissing
        case .renewalTurnedOff: eventType == .expiredVoluntarily && wasRenewing && !hasEnded
        // A switch of auto-renew within the first minute belongs to the purchase.
        case .renewalTurnedOn:
            eventType == .renewed && earlier.renewal?.autoRenewStatus == false && !hasEnded && !earlier.isWithPurchase
        case .billingFailure:
            (eventType == .billingRecovered || eventType == .expiredInBillingRetry) && !wasFailing && !hasEnded
        case .gracePeriod: eventType == .graceEnded && !wasFailing
        case .end: eventType.isReturn && isEndMissing
        case .return: hasEnded && !eventType.isReturn && eventType != .renewalTurnedOn && hasLaterTransaction
        case .transaction: false
        }
    }

    private var hasEnded: Bool {
        earlier.eventType?.isEnd == true || (earlier.status == 2 && !earlier.isPaidAhead)
    }

    private var wasRenewing: Bool { earlier.renewal?.autoRenewStatus == true }

    private var wasFailing: Bool {
        // Apple may send the failure before it sets the flag.
        switch earlier.eventType {
        case .billingFailed, .billingFailedWithGrace, .graceEnded: true
        default:
            earlier.status == 3 || earlier.status == 4 || earlier.renewal?.isFailingToRenew == true
        }
    }

    private var hasNewTransaction: Bool {
        guard let old = earlier.transaction, let new = later.transaction else { return false }
        return old.transactionId != new.transactionId
    }

    private var hasLaterTransaction: Bool {
        guard hasNewTransaction, let old = earlier.transaction?.purchaseDate, let new = later.transaction?.purchaseDate
        else { return hasNewTransaction }
        return old <= new
    }

    private var wasRevoked: Bool {
        earlier.transaction?.revocationDate != nil || earlier.status == 5 || earlier.eventType == .refunded
            || earlier.eventType == .familyAccessRevoked
    }

    /// Another transaction without its notification; or a renewal that does not begin where the last period ended; or an
    /// end that moved.
    private var isPeriodMissing: Bool {
        guard !hasEnded, let old = earlier.transaction, let new = later.transaction else { return false }
        // A refunded or revoked transaction may be an older one.
        guard old.revocationDate == nil, new.revocationDate == nil else { return false }
        guard hasNewTransaction else {
            // Apple announces a transaction twice where an offer and a renewal coincide.
            return eventType != .extended && old.expiresDate != new.expiresDate && !eventType.bringsTransaction
        }
        // An older transaction again: a renewal that was charged early was refunded.
        if !eventType.bringsTransaction { return !isOfSamePeriod(old, new) && hasLaterTransaction }
        guard eventType == .renewed, let end = old.expiresDate, let start = new.purchaseDate else { return false }
        return start.timeIntervalSince(end) > BillingRules.earlyRenewal(in: later.key.environment)
    }

    /// An extension moves the ends of all transactions of the period.
    private func isOfSamePeriod(_ old: TransactionFacts, _ new: TransactionFacts) -> Bool {
        guard eventType == .extended, let end = old.expiresDate, let start = new.purchaseDate else {
            return old.isOfSamePeriod(as: new)
        }
        return new.additionalTransactionReason != nil && start < end
    }

    /// The customer bought again after the end of the last known period, without an expiry. Before that end a refund
    /// explains it; Apple sends no expiry where the customer buys again during billing retry.
    private var isEndMissing: Bool {
        guard !hasEnded, !wasRevoked, !wasFailing, hasNewTransaction else { return false }
        guard let end = earlier.transaction?.expiresDate, let start = later.transaction?.purchaseDate else {
            return false
        }
        return end <= start
    }
}

extension EventType {
    /// Whether events of this type can change the lifecycle; see ``PurchaseEvent/isLifecycleEvent`` for single events.
    var isLifecycleEvent: Bool {
        switch self {
        case .subscribed, .resubscribed, .subscribedByOffer, .resubscribedByOffer, .offerRedeemed, .upgradedByOffer,
            .downgradeChosenByOffer, .upgraded, .downgradeChosen, .choiceUndone, .renewalTurnedOff, .renewalTurnedOn,
            .renewed, .billingRecovered, .billingFailed, .billingFailedWithGrace, .graceEnded, .expired,
            .expiredVoluntarily, .expiredInBillingRetry, .expiredOverPrice, .expiredUnsold, .familyAccessRevoked,
            .extended, .boughtOnce, .migrated:
            true
        case .priceIncreasePending, .priceIncreaseAccepted, .refunded, .seatsRefunded, .refundDeclined, .refundReversed,
            .consumptionRequested, .massExtensionDone, .massExtensionFailed, .tokenUnreported, .tokenCreated,
            .tokenReminder, .consentRescinded, .metadataUpdated, .priceChanged, .seatsUnclaimed, .tested:
            false
        }
    }
}
