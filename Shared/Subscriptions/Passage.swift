import Contracts

import struct Foundation.Date
import struct Foundation.TimeInterval

/// Two neighbouring steps, to be asked what is missing between them. What neither says is given the benefit of the
/// doubt.
struct Passage {
    private let earlier: News
    private let later: News
    private let happening: Happening

    init(_ earlier: News, _ later: News, _ happening: Happening) {
        self.earlier = earlier
        self.later = later
        self.happening = happening
    }

    func hasSkipped(_ kind: SkippedStep.Kind) -> Bool {
        switch kind {
        case .beginning: false
        case .period: isPeriodMissing
        case .renewalTurnedOff: happening == .expiredVoluntarily && wasRenewing && !hasEnded
        case .renewalTurnedOn: happening == .renewed && earlier.renewal?.autoRenewStatus == false && !hasEnded
        case .billingFailure:
            (happening == .billingRecovered || happening == .expiredInBillingRetry) && !wasFailing && !hasEnded
        case .gracePeriod: happening == .graceEnded && !wasFailing
        case .end: happening.isReturn && isEndMissing
        case .return: hasEnded && !happening.isReturn && hasNewTransaction
        }
    }

    private var hasEnded: Bool { earlier.happening?.isEnd == true || earlier.status == 2 }

    private var wasRenewing: Bool { earlier.renewal?.autoRenewStatus == true }

    private var wasFailing: Bool {
        if let isInBillingRetry = earlier.renewal?.isInBillingRetry { return isInBillingRetry }
        switch earlier.happening {
        case .billingFailed, .billingFailedWithGrace, .graceEnded: return true
        default: return false
        }
    }

    private var hasNewTransaction: Bool {
        guard let old = earlier.transaction, let new = later.transaction else { return false }
        return old.transactionId != new.transactionId
    }

    private var wasTakenBack: Bool {
        earlier.happening == .refunded || earlier.happening == .familyAccessRevoked || earlier.status == 5
    }

    /// Another transaction without an announcement; or a renewal that does not begin where the last period ended; or an
    /// end that moved.
    private var isPeriodMissing: Bool {
        // A refund may hold an older transaction.
        guard !hasEnded, earlier.happening != .refunded, happening != .refunded else { return false }
        guard let old = earlier.transaction, let new = later.transaction else { return false }
        guard hasNewTransaction else {
            // Apple announces a transaction twice where an offer and a renewal coincide.
            return happening != .extended && old.expiresDate != new.expiresDate && !happening.bringsTransaction
        }
        if !happening.bringsTransaction { return true }
        guard happening == .renewed, let end = old.expiresDate, let start = new.purchaseDate else { return false }
        return start.timeIntervalSince(end) > Commerce.earlyRenewal(in: later.key.environment)
    }

    /// It was bought again after the end of the period that was last seen. Before that end a refund explains it.
    private var isEndMissing: Bool {
        guard !hasEnded, !wasTakenBack, hasNewTransaction else { return false }
        guard let end = earlier.transaction?.expiresDate, let start = later.transaction?.purchaseDate else {
            return false
        }
        return end <= start
    }
}

extension Happening {
    var isStep: Bool {
        switch self {
        case .subscribed, .resubscribed, .subscribedByOffer, .resubscribedByOffer, .offerRedeemed, .upgradedByOffer,
            .downgradeChosenByOffer, .upgraded, .downgradeChosen, .choiceUndone, .renewalTurnedOff, .renewalTurnedOn,
            .renewed, .billingRecovered, .billingFailed, .billingFailedWithGrace, .graceEnded, .expired,
            .expiredVoluntarily, .expiredInBillingRetry, .expiredOverPrice, .expiredUnsold, .familyAccessRevoked,
            .extended, .boughtOnce, .migrated:
            true
        case .priceIncreasePending, .priceIncreaseAccepted, .refunded, .refundDeclined, .refundReversed,
            .consumptionRequested, .massExtensionDone, .massExtensionFailed, .tokenUnreported, .tokenCreated,
            .tokenReminder, .consentRescinded, .metadataUpdated, .priceChanged, .seatsUnclaimed, .tested:
            false
        }
    }
}
