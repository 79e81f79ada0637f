import struct Foundation.Date
import struct Foundation.TimeInterval
import struct Foundation.UUID

/// Decides access: what the transactions paid for, corrected by the newest status that Apple sent. The numbers are those of the
/// rules in the documentation of the module.
///
/// [status](https://developer.apple.com/documentation/appstoreservernotifications/status) is "current as of signedDate";
/// [renewalDate](https://developer.apple.com/documentation/appstoreserverapi/renewaldate) is the end of the newest period.
struct AccessScheduleBuilder {
    var periods: [AccessPeriod] = []
    var unexplainedStatus: UUID?

    let subscription: Subscription
    let versions: [TransactionVersion]
    private let durations: [String: ProductDuration]
    private let migratedAt: Date?
    let early: TimeInterval

    /// A hole shorter than this is no missing transaction: Apple signs one moment with and without a fraction.
    static let shortestHole: TimeInterval = 1

    init(_ purchase: PurchaseSnapshot, durations: [String: ProductDuration]) {
        subscription = purchase.subscription
        versions = purchase.versions
        self.durations = durations
        migratedAt = purchase.migratedAt
        early = BillingRules.earlyRenewal(in: subscription.key.environment)
    }

    /// The order is a rule (O1): what was paid for, then what ended it, then what Apple's status claims beyond it, then grace
    /// periods, which give access only where nothing else does; a migration ends all of them.
    mutating func build() {
        let subscriptionVersions = versions.filter(\.facts.isSubscription)
        addOneTimePurchases()
        guard !subscriptionVersions.isEmpty || versions.isEmpty else { return }
        let paid = revokedByStatus(
            endedWithSharing(
                openedByStatus(PaidPeriod.all(subscriptionVersions, renewal: subscription.renewal, early: early))))
        for period in paid where !period.isEmpty {
            periods.append(
                AccessPeriod(
                    productId: period.facts.productId, startsAt: period.start, endsAt: period.end,
                    reason: .transaction, transactionId: period.facts.transactionId,
                    notificationUUID: nil))
        }
        let graces = grantedGraces(beside: paid)
        if let claim = StatusClaim(subscription, paid: paid, early: early) { compare(claim, with: paid, graces) }
        for grace in graces { add(grace) }
        if let migratedAt { endWithMigration(at: migratedAt) }
        periods.sort { $0.startsAt < $1.startsAt }
    }

    // MARK: Migration

    /// A12: another purchase took the place of this one, as a purchase takes the place of earlier periods. What was charged on this
    /// one since is paid for all the same.
    private mutating func endWithMigration(at migratedAt: Date) {
        let paidSince = Set(
            versions.map(\.facts).filter {
                $0.beginning.addingTimeInterval($0.isRenewal ? -early : 0) >= migratedAt
            }.map(\.transactionId))
        for index in periods.indices where !paidSince.contains(periods[index].transactionId ?? "") {
            if let statusVersion = subscription.statusVersion, statusVersion.signedDate > migratedAt,
                periods[index].reason == .status
            {
                continue
            }
            periods[index].endsAt = min(periods[index].endsAt ?? migratedAt, max(migratedAt, periods[index].startsAt))
        }
        periods.removeAll { $0.endsAt == $0.startsAt }
    }

    // MARK: One-time purchases

    /// Apple gives each one-time purchase an id of its own. Where several transactions name one, their periods follow each
    /// other.
    private mutating func addOneTimePurchases() {
        var covered = Date.distantPast
        for version in versions.sorted(by: { $0.facts.isEarlierPurchase(than: $1.facts, early: early) }) {
            let facts = version.facts
            guard let (end, reason) = oneTimeEnd(facts) else { continue }
            let ends = [end, facts.revokedAt, revokedByStatus(version)].compactMap(\.self).min()
            let starts = max(facts.beginning, covered)
            guard starts < ends ?? .forever else { continue }
            periods.append(
                AccessPeriod(
                    productId: facts.productId, startsAt: starts, endsAt: ends, reason: reason,
                    transactionId: facts.transactionId, notificationUUID: nil))
            covered = ends ?? .forever
        }
    }

    private func oneTimeEnd(_ facts: TransactionFacts) -> (Date?, AccessPeriod.Reason)? {
        switch facts.kind {
        case .nonConsumable: (nil, .nonConsumable)
        case .nonRenewing:
            if let end = facts.expiresDate {
                (end, .nonRenewing)
            } else if let duration = durations[facts.productId] {
                (duration.end(from: facts.beginning), .nonRenewing)  // A10
            } else {
                (nil, .durationUnknown)
            }
        case .autoRenewable, .consumable, nil: nil
        }
    }

    private func revokedByStatus(_ version: TransactionVersion) -> Date? {
        guard subscription.status == 5, isStatusTransaction(version), let statusVersion = subscription.statusVersion
        else { return nil }
        return statusVersion.signedDate
    }

    // MARK: Unknown periods

    /// A9: a renewal that Apple signed before it begins gives no access from then on where Apple's status since says that the unknown
    /// period before it does not run.
    private func openedByStatus(_ paid: [PaidPeriod]) -> [PaidPeriod] {
        guard [2, 3, 5].contains(subscription.status), let denied = subscription.statusVersion?.signedDate
        else { return paid }
        return paid.map { period in
            var opened = period
            if period.facts.signedDate <= denied, denied < period.facts.beginning {
                opened.start = min(max(period.start, period.facts.beginning), period.end)
            }
            return opened
        }
    }

    // MARK: Shared purchases

    /// A11: the end of family sharing, or of an assigned seat, takes everything that Apple had signed before, and not only the
    /// period of the transaction that says so: either may be a renewal that has not begun.
    private func endedWithSharing(_ paid: [PaidPeriod]) -> [PaidPeriod] {
        let ends = versions.compactMap(\.facts.sharingEndedAt)
        return paid.map { period in
            var ended = period
            for end in ends where period.facts.signedDate <= end {
                ended.end = min(ended.end, end)
            }
            return ended
        }
    }

    // MARK: Status 5

    /// S1: the transaction of the status gives no access from then on, unless its period has not begun. Other paid transactions
    /// keep their access: seats of the same period go on where it ends. S2: status 2 and 3 end nothing that was paid for.
    private func revokedByStatus(_ paid: [PaidPeriod]) -> [PaidPeriod] {
        guard subscription.status == 5, let statusVersion = subscription.statusVersion else { return paid }
        var paid = paid
        for index in paid.indices {
            let transaction = paid[index].transaction
            let isMeant =
                subscription.statusTransactionId == nil
                ? transaction.version <= statusVersion : isStatusTransaction(transaction)
            // Seats are behind the period to which they were added, and have begun.
            let begins = paid[index].isPurchase ? transaction.facts.beginning : paid[index].start
            guard isMeant, begins <= statusVersion.signedDate else { continue }
            let wasEmpty = paid[index].isEmpty
            paid[index].end = min(paid[index].end, statusVersion.signedDate)
            if wasEmpty { continue }
            // The seats behind it begin when it has ended, which is now earlier.
            var covered = paid[index].end
            for seats in paid.indices[(index + 1)...] where transaction.facts.isOfSamePeriod(as: paid[seats].facts) {
                paid[seats].start = min(paid[seats].start, max(paid[seats].facts.beginning, covered))
                covered = max(covered, paid[seats].end)
            }
        }
        return paid
    }

    /// Whether the newest status is about this transaction, and no newer version of it is known.
    func isStatusTransaction(_ version: TransactionVersion) -> Bool {
        guard let statusVersion = subscription.statusVersion else { return false }
        return version.facts.transactionId == subscription.statusTransactionId && version.version <= statusVersion
    }
}

extension TransactionFacts {
    /// A8: whether Apple's status and renewal info decide about it: an auto-renewable subscription, or an unknown product type
    /// with an end.
    fileprivate var isSubscription: Bool { kind == .autoRenewable || (kind == nil && expiresDate != nil) }
}
