import Contracts

import struct Foundation.Date
import struct Foundation.TimeInterval

/// Two neighbouring steps, to be asked what is missing between them. What neither says is given the benefit of the
/// anomaly.
struct TransitionRules {
    private let earlier: PurchaseEvent
    private let later: PurchaseEvent
    private let eventType: EventType

    init(_ earlier: PurchaseEvent, _ later: PurchaseEvent, _ eventType: EventType) {
        self.earlier = earlier
        self.later = later
        self.eventType = eventType
    }

    func hasSkipped(_ kind: LifecycleGap.Kind) -> Bool {
        switch kind {
        case .beginning: false
        case .period: isPeriodMissing
        case .renewalTurnedOff: eventType == .expiredVoluntarily && wasRenewing && !hasEnded
        case .renewalTurnedOn: eventType == .renewed && earlier.renewal?.autoRenewStatus == false && !hasEnded
        case .billingFailure:
            (eventType == .billingRecovered || eventType == .expiredInBillingRetry) && !wasFailing && !hasEnded
        case .gracePeriod: eventType == .graceEnded && !wasFailing
        case .end: eventType.isReturn && isEndMissing
        case .return: hasEnded && !eventType.isReturn && eventType != .renewalTurnedOn && hasNewTransaction
        case .transaction: false
        }
    }

    private var hasEnded: Bool { earlier.eventType?.isEnd == true || earlier.status == 2 }

    private var wasRenewing: Bool { earlier.renewal?.autoRenewStatus == true }

    private var wasFailing: Bool {
        if let isInBillingRetry = earlier.renewal?.isInBillingRetry { return isInBillingRetry }
        switch earlier.eventType {
        case .billingFailed, .billingFailedWithGrace, .graceEnded: return true
        default: return false
        }
    }

    private var hasNewTransaction: Bool {
        guard let old = earlier.transaction, let new = later.transaction else { return false }
        return old.transactionId != new.transactionId
    }

    private var wasTakenBack: Bool {
        earlier.eventType == .refunded || earlier.eventType == .familyAccessRevoked || earlier.status == 5
    }

    /// Another transaction without an announcement; or a renewal that does not begin where the last period ended; or an
    /// end that moved.
    private var isPeriodMissing: Bool {
        // A refund may hold an older transaction.
        guard !hasEnded, earlier.eventType != .refunded, eventType != .refunded else { return false }
        guard let old = earlier.transaction, let new = later.transaction else { return false }
        guard hasNewTransaction else {
            // Apple announces a transaction twice where an offer and a renewal coincide.
            return eventType != .extended && old.expiresDate != new.expiresDate && !eventType.bringsTransaction
        }
        if !eventType.bringsTransaction { return true }
        guard eventType == .renewed, let end = old.expiresDate, let start = new.purchaseDate else { return false }
        return start.timeIntervalSince(end) > BillingRules.earlyRenewal(in: later.key.environment)
    }

    /// It was bought again after the end of the period that was last seen. Before that end a refund explains it; out of
    /// billing retry no end is told; and auto-renew may be reported as on before the purchase that turned it on.
    private var isEndMissing: Bool {
        guard !hasEnded, !wasTakenBack, !wasFailing, hasNewTransaction else { return false }
        guard let end = earlier.transaction?.expiresDate, let start = later.transaction?.purchaseDate else {
            return false
        }
        if earlier.eventType == .renewalTurnedOn, earlier.version.signedDate >= end { return false }
        return end <= start
    }
}

extension EventType {
    var isStep: Bool {
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
