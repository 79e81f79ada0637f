import struct Foundation.Date
import struct Foundation.TimeInterval

/// What the newest status claims about access from its `signedDate` on. The builder compares it once with what the transactions
/// explain.
enum StatusClaim {
    /// Status 1: access to a product until Apple's renewal date; nil where no renewal date is known, or where it is over.
    case access(product: String, until: Date?)
    /// Status 4: no access by what was paid for; a grace period gives it.
    case grace
    /// Status 2, 3 or 5: no access.
    case noAccess

    /// Nil where there is no status.
    init?(_ subscription: Subscription, paid: [PaidPeriod], early: TimeInterval) {
        guard let statusVersion = subscription.statusVersion else { return nil }
        switch subscription.status {
        case 1:
            let product = subscription.renewal?.productId ?? subscription.transaction?.productId
            // Known transactions give their own periods; beyond them Apple's renewal date counts.
            guard let renewal = subscription.renewal, var end = renewal.renewalDate else {
                self = .access(product: product ?? "", until: nil)
                return
            }
            // S4: a charge after the status and the renewal info ends the time that they cover.
            for period in paid where period.facts.beginning > statusVersion.signedDate {
                let charge =
                    period.isPurchase ? period.facts.beginning : period.facts.beginning.addingTimeInterval(-early)
                if renewal.signedDate < charge { end = min(end, period.facts.beginning) }
            }
            // A purchase counts before another event of the same moment.
            let ofMoment = paid.filter { $0.isPurchase && $0.facts.beginning == statusVersion.signedDate }
            if renewal.signedDate <= statusVersion.signedDate,
                !ofMoment.contains(where: { $0.facts.transactionId == subscription.statusTransactionId }),
                ofMoment.contains(where: { !$0.nominallyEnds(at: end) })
            {
                end = min(end, statusVersion.signedDate)
            }
            self = .access(product: product ?? "", until: product != nil && statusVersion.signedDate < end ? end : nil)
        case 4: self = .grace
        case 2, 3, 5: self = .noAccess
        default: return nil
        }
    }
}

extension AccessScheduleBuilder {
    /// Compares what the status claims with what the transactions explain: access beyond them is given by status (S3), and where
    /// the two differ recovery asks Apple (S1, S2, S7 to S9).
    mutating func compare(_ claim: StatusClaim, with paid: [PaidPeriod], _ graces: [GrantedGrace]) {
        guard let statusVersion = subscription.statusVersion else { return }
        let signed = statusVersion.signedDate
        let given = timeGiven(by: periods, graces, at: signed)
        switch claim {
        case .access(_, until: nil):
            // S7: only Apple knows what gives the access, and until when. A known period of another product does not.
            let ofOthers = paid.filter { isOfOtherProduct($0) }.map(\.facts.transactionId)
            let explained =
                timeGiven(by: periods.filter { !ofOthers.contains($0.transactionId ?? "") }, graces, at: signed)
                + revoked(in: paid, since: statusVersion, by: nil)
            if !explained.contains(where: { $0.contains(signed, within: Self.shortestHole) }) {
                unexplainedStatus = statusVersion.notificationUUID
            }
        case .access(let product, let end?):
            endOutdated(in: paid, by: statusVersion, product)
            let explained =
                periods.map(\.interval)
                + revoked(in: paid, since: statusVersion, by: subscription.renewal?.renewalDate)
            for hole in Interval(from: signed, to: end).without(explained) where hole.length >= Self.shortestHole {
                periods.append(
                    AccessPeriod(
                        productId: product, startsAt: hole.from, endsAt: hole.to, reason: .status, transactionId: nil,
                        notificationUUID: statusVersion.notificationUUID))
                unexplainedStatus = statusVersion.notificationUUID
            }
            if isPerhapsReversed(paid, by: statusVersion, given) { unexplainedStatus = statusVersion.notificationUUID }
        case .grace:
            // S9: Apple may name a grace period before the end of its own period.
            let others = paid.filter { period in
                !period.isEmpty && !(subscription.renewal?.renewalDate.map(period.nominallyEnds) ?? false)
            }
            askIfContradicted(by: others.map { Interval(from: $0.start, to: $0.end) }, paid, statusVersion)
        case .noAccess: askIfContradicted(by: given, paid, statusVersion)
        }
    }

    /// S1, S2, S9: access at the moment of a status that knows of none; what Apple signed again since is newer than the status.
    private mutating func askIfContradicted(
        by given: [Interval], _ paid: [PaidPeriod], _ statusVersion: EventVersion
    ) {
        let signed = statusVersion.signedDate
        let isConfirmed = paid.contains {
            !$0.isEmpty && $0.start <= signed && signed < $0.end && statusVersion < $0.transaction.version
        }
        let isContradicted = given.contains {
            $0.from <= signed && $0.to.timeIntervalSince(signed) >= Self.shortestHole
        }
        if isContradicted, !isConfirmed { unexplainedStatus = statusVersion.notificationUUID }
    }

    /// The time that periods and grace periods give. A grace period that Apple named after a status is newer than it.
    private func timeGiven(by periods: [AccessPeriod], _ graces: [GrantedGrace], at signed: Date) -> [Interval] {
        periods.map(\.interval)
            + graces.filter { $0.grace.signedDate <= signed }.map(\.interval)
    }

    /// True where Apple has named another product than the period's since it signed its transaction, and before the period's end.
    private func isOfOtherProduct(_ period: PaidPeriod) -> Bool {
        guard let renewal = subscription.renewal, let product = renewal.productId else { return false }
        return period.facts.productId != product && period.facts.signedDate < renewal.signedDate
            && renewal.signedDate < period.facts.expiresDate ?? .forever
    }

    /// S6: the time that a revocation took out of a claim: of transactions that were revoked after the status, and of one that ends at
    /// the renewal date, which is of the newest transaction, revoked or not. When Apple signed the transaction again says nothing:
    /// Apple knew of an older revocation when it signed the status. Before a transaction's beginning another period ran. Of the
    /// transactions with seats another one of the period may be paid.
    private func revoked(in paid: [PaidPeriod], since statusVersion: EventVersion, by renewalDate: Date?) -> [Interval]
    {
        paid.compactMap { period in
            guard let revokedAt = period.facts.revokedAt,
                revokedAt > statusVersion.signedDate || period.explains(renewalDate)
                    // Of two events of one moment the revocation counts.
                    || revokedAt == statusVersion.signedDate && period.transaction.version != statusVersion
                        && period.facts.additionalTransactionReason == nil
            else { return nil }
            let interval = Interval(
                from: max(revokedAt, period.facts.beginning), to: period.facts.expiresDate ?? .forever)
            return interval.from < interval.to ? interval : nil
        }
    }

    /// S8: Apple calls the purchase active after it revoked the period of that moment, of which no other transaction gives access,
    /// or the one that begins later and ends at the renewal date: the reversal of that refund may be missing. What holds the revoked
    /// transaction itself says that it is still revoked.
    private func isPerhapsReversed(_ paid: [PaidPeriod], by statusVersion: EventVersion, _ given: [Interval]) -> Bool {
        let signed = statusVersion.signedDate
        let isGiven = given.contains { $0.contains(signed, within: Self.shortestHole) }
        return paid.contains { period in
            guard let revokedAt = period.facts.revokedAt, let end = period.facts.expiresDate, revokedAt < signed,
                period.transaction.version < statusVersion, signed < end
            else { return false }
            return period.facts.beginning <= signed ? !isGiven : period.explains(subscription.renewal?.renewalDate)
        }
    }

    /// S5: an unknown purchase replaced the known transaction that gives access at the moment of the status, and those that begin
    /// before the renewal date, where Apple names another product then and no known transaction explains it.
    private mutating func endOutdated(in paid: [PaidPeriod], by statusVersion: EventVersion, _ product: String) {
        guard let renewal = subscription.renewal, let end = renewal.renewalDate else { return }
        let signed = statusVersion.signedDate
        let owner = paid.first { $0.start <= signed && signed < $0.end }
        let outdated = paid.filter { $0.start < end && signed < $0.end && isOfOtherProduct($0) }
        let isExplained = paid.contains {
            // In an envelope that was sent again it may be older than the renewal info.
            isStatusTransaction($0.transaction) && !$0.facts.isUpgraded
                && (signed < renewal.signedDate || subscription.renewalVersion == statusVersion
                    || renewal.signedDate.timeIntervalSince($0.facts.signedDate) < BillingRules.oneAnswer)
                && owner.map(\.facts.expiresDate) == $0.facts.expiresDate
                // Charged early, and even where a later purchase took its place.
                || $0.facts.revocationDate == nil && max($0.start, $0.facts.beginning) > signed
                    && $0.facts.productId == product
                // S6: never in favour of a revoked one.
                || $0.facts.revocationDate != nil && $0.explains(renewal.renewalDate)
        }
        guard !isExplained else { return }
        let ids = Set(outdated.map(\.facts.transactionId))
        for index in periods.indices where ids.contains(periods[index].transactionId ?? "") {
            periods[index].endsAt = max(signed, periods[index].startsAt)
        }
        periods.removeAll { $0.startsAt == $0.endsAt }
    }
}

extension PaidPeriod {
    /// Whether a renewal date is the end of this transaction. Of a period with seats each transaction has the same end.
    fileprivate func explains(_ renewalDate: Date?) -> Bool {
        facts.additionalTransactionReason == nil && renewalDate.map(nominallyEnds) ?? false
    }
}

extension Interval {
    fileprivate func contains(_ moment: Date, within tolerance: TimeInterval) -> Bool {
        from <= moment && moment.timeIntervalSince(to) < tolerance
    }
}
