import struct Foundation.Date
import struct Foundation.TimeInterval
import struct Foundation.UUID

/// Decides access: what the transactions paid for, corrected by the newest status that Apple sent.
///
/// [status](https://developer.apple.com/documentation/appstoreservernotifications/status) is "current as of signedDate";
/// [renewalDate](https://developer.apple.com/documentation/appstoreserverapi/renewaldate) is the end of the newest period.
struct AccessScheduleBuilder {
    private(set) var periods: [AccessPeriod] = []
    private(set) var unexplainedStatus: UUID?

    private let subscription: Subscription
    private let versions: [TransactionVersion]
    private let durations: [String: ProductDuration]
    private let early: TimeInterval

    /// A hole shorter than this is no missing transaction: Apple signs one moment with and without a fraction.
    private static let shortestHole: TimeInterval = 1

    init(_ purchase: PurchaseSnapshot, durations: [String: ProductDuration]) {
        subscription = purchase.subscription
        versions = purchase.versions
        self.durations = durations
        early = BillingRules.earlyRenewal(in: subscription.key.environment)
    }

    mutating func build() {
        let subscriptionVersions = versions.filter(\.facts.isSubscription)
        addOneTimePurchases()
        guard !subscriptionVersions.isEmpty || versions.isEmpty else { return }
        let paid = endedByStatus(
            endedWithSharing(PaidPeriod.all(subscriptionVersions, renewal: subscription.renewal, early: early)))
        for period in paid where !period.isEmpty {
            periods.append(
                AccessPeriod(
                    productId: period.facts.productId, startsAt: period.start, endsAt: period.end,
                    reason: .transaction, transactionId: period.facts.transactionId,
                    notificationUUID: nil))
        }
        addStatus(beside: paid)
        addGracePeriod(beside: paid)
        periods.sort { $0.startsAt < $1.startsAt }
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
                (duration.end(from: facts.beginning), .nonRenewing)
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

    // MARK: Shared purchases

    /// The end of family sharing, or of an assigned seat, takes everything that Apple had signed before, and not only the
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

    // MARK: Status 2, 3 and 5

    /// Expired, in billing retry or revoked: the transaction of the status, and others of the same period, give no access
    /// from then on, unless the period has not begun. Other paid transactions keep their access.
    private func endedByStatus(_ paid: [PaidPeriod]) -> [PaidPeriod] {
        guard let status = subscription.status, [2, 3, 5].contains(status),
            let statusVersion = subscription.statusVersion
        else { return paid }
        return paid.map { period in
            let isMeant =
                subscription.statusTransactionId == nil
                ? period.transaction.version <= statusVersion : isOfStatusPeriod(period.transaction)
            guard isMeant, period.start <= statusVersion.signedDate else { return period }
            var ended = period
            ended.end = min(ended.end, statusVersion.signedDate)
            return ended
        }
    }

    /// Whether the newest status is about this transaction, and no newer version of it is known.
    private func isStatusTransaction(_ version: TransactionVersion) -> Bool {
        guard let statusVersion = subscription.statusVersion else { return false }
        return version.facts.transactionId == subscription.statusTransactionId && version.version <= statusVersion
    }

    private func isOfStatusPeriod(_ version: TransactionVersion) -> Bool {
        if isStatusTransaction(version) { return true }
        guard let statusVersion = subscription.statusVersion, version.version <= statusVersion else { return false }
        return statusTransaction.map { $0.isOfSamePeriod(as: version.facts) } ?? false
    }

    // MARK: Status 1

    private mutating func addStatus(beside paid: [PaidPeriod]) {
        guard subscription.status == 1, let statusVersion = subscription.statusVersion, let product = statusProduct
        else {
            return
        }
        // Known transactions give their own periods; beyond them Apple's renewal date counts.
        guard let renewal = subscription.renewal, var end = renewal.renewalDate else { return }
        // A charge after the status and the renewal info ends the time that they cover.
        for period in paid where period.facts.beginning > statusVersion.signedDate {
            let charge = period.isPurchase ? period.facts.beginning : period.facts.beginning.addingTimeInterval(-early)
            if renewal.signedDate < charge { end = min(end, period.facts.beginning) }
        }
        let open = Interval(from: statusVersion.signedDate, to: end)
        guard open.to.timeIntervalSince(open.from) > 0 else { return }
        // An unknown purchase replaced the known period.
        if let other = outdated(in: paid, by: statusVersion, product) {
            for index in periods.indices where periods[index].transactionId == other {
                periods[index].endsAt = statusVersion.signedDate
            }
            periods.removeAll { $0.startsAt == $0.endsAt }
        }
        // What was revoked since is not paid; before its beginning another period ran.
        let revokedSince = paid.filter { $0.facts.revocationDate != nil && $0.transaction.version > statusVersion }
            .map { Interval(from: max($0.facts.revokedAt ?? end, $0.facts.beginning), to: $0.facts.expiresDate ?? end) }
        let taken = periods.map { Interval(from: $0.startsAt, to: $0.endsAt ?? .forever) } + revokedSince
        for hole in open.without(taken) where hole.length >= Self.shortestHole {
            periods.append(
                AccessPeriod(
                    productId: product, startsAt: hole.from, endsAt: hole.to, reason: .status, transactionId: nil,
                    notificationUUID: statusVersion.notificationUUID))
            unexplainedStatus = statusVersion.notificationUUID
        }
    }

    private var statusTransaction: TransactionFacts? {
        versions.first { $0.facts.transactionId == subscription.statusTransactionId }?.facts
    }

    private var statusProduct: String? {
        subscription.renewal?.productId ?? subscription.transaction?.productId
    }

    /// The known transaction that gives access at the moment of the status, although Apple names another product then:
    /// a purchase in between is unknown. Nil where a transaction explains the product.
    private func outdated(in paid: [PaidPeriod], by statusVersion: EventVersion, _ product: String) -> String? {
        guard let renewal = subscription.renewal, renewal.productId != nil else { return nil }
        let owner = paid.first { $0.start <= statusVersion.signedDate && statusVersion.signedDate < $0.end }
        guard let owner, owner.facts.productId != product,
            !paid.contains(where: {
                isStatusTransaction($0.transaction) && $0.facts.expiresDate == owner.facts.expiresDate
            }),
            owner.facts.signedDate < renewal.signedDate,
            !paid.contains(where: {
                !$0.isEmpty && $0.start > statusVersion.signedDate && $0.facts.productId == product
            })
        else { return nil }
        return owner.facts.transactionId
    }

    // MARK: Grace period

    private mutating func addGracePeriod(beside paid: [PaidPeriod]) {
        guard let renewal = subscription.renewal, let end = renewal.gracePeriodExpiresDate,
            let renewalVersion = subscription.renewalVersion, isGraceOpen(renewal)
        else { return }
        // What begins later replaces the grace period.
        let begun = paid.filter { $0.facts.beginning <= renewal.signedDate }
        let last = begun.filter { !$0.isEmpty }.max { $0.end < $1.end }
        // A refund of added seats leaves the period paid.
        let isPaid = paid.contains { $0.facts.revocationDate == nil && $0.facts.expiresDate == last?.facts.expiresDate }
        if let last, !isAbout(last, isPaid: isPaid, renewal) { return }
        let due = renewal.renewalDate.flatMap { $0 < end ? $0 : nil }
        // Signed before the end of a period whose transaction is unknown: that period still runs.
        let starts = last.map { max($0.end, due ?? $0.end) } ?? min(due ?? end, renewal.signedDate)
        let next = paid.map(\.facts.beginning).filter { $0 > renewal.signedDate }.min() ?? end
        let grace = Interval(from: starts, to: min(next, end))
        let taken = periods.map { Interval(from: $0.startsAt, to: $0.endsAt ?? .forever) }
        guard let product = renewal.productId ?? last?.facts.productId ?? statusProduct else { return }
        for hole in grace.without(taken) {
            periods.append(
                AccessPeriod(
                    productId: product, startsAt: hole.from, endsAt: hole.to, reason: .gracePeriod,
                    transactionId: last?.facts.transactionId, notificationUUID: renewalVersion.notificationUUID))
        }
    }

    /// Whether a renewal info with a grace period is about the end of this period: the newest status is 4, or its renewal
    /// date is that end, or, in older payloads, it was signed in the second half of the period. A period that was revoked
    /// has none, unless Apple's status is 1 or 4 since.
    private func isAbout(_ period: PaidPeriod, isPaid: Bool, _ renewal: RenewalFacts) -> Bool {
        guard isPaid else {
            guard let statusVersion = subscription.statusVersion, [1, 4].contains(subscription.status) else {
                return false
            }
            return period.transaction.version <= statusVersion
        }
        if subscription.status == 4 { return true }
        if let date = renewal.renewalDate, let end = period.facts.expiresDate {
            return end.timeIntervalSince(date) < Self.shortestHole
        }
        return renewal.signedDate.timeIntervalSince(period.start) > period.end.timeIntervalSince(renewal.signedDate)
    }

    /// A status without access closes a grace period that Apple signed before it.
    private func isGraceOpen(_ renewal: RenewalFacts) -> Bool {
        guard let statusVersion = subscription.statusVersion, [2, 3, 5].contains(subscription.status) else {
            return true
        }
        return statusVersion.signedDate < renewal.signedDate
    }
}

extension TransactionFacts {
    /// Whether Apple's status and renewal info decide about it: an auto-renewable subscription, or an unknown product type
    /// with an end.
    fileprivate var isSubscription: Bool { kind == .autoRenewable || (kind == nil && expiresDate != nil) }
}
