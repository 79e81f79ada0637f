import struct Foundation.Date

/// A grace period with the time in which it gives access where nothing else does.
struct GrantedGrace {
    var grace: GracePeriod
    var interval: Interval
    /// The transaction whose period it follows; nil where none is known.
    var transactionId: String?
    var productId: String
}

extension AccessScheduleBuilder {
    /// G1: the grace periods that Apple granted, past and present.
    func grantedGraces(beside paid: [PaidPeriod]) -> [GrantedGrace] {
        let known = subscription.graces.periods
        // Of a state that was not made of events only the newest renewal info is known.
        let newest = GracePeriod(subscription).flatMap { grace in
            known.contains { $0.endsAt == grace.endsAt } ? nil : grace
        }
        return (known + [newest].compactMap(\.self)).compactMap { granted($0, beside: paid) }
    }

    mutating func add(_ grace: GrantedGrace) {
        let taken = periods.map(\.interval)
        for hole in grace.interval.without(taken) {
            periods.append(
                AccessPeriod(
                    productId: grace.productId, startsAt: hole.from, endsAt: hole.to, reason: .gracePeriod,
                    transactionId: grace.transactionId, notificationUUID: grace.grace.version.notificationUUID))
        }
    }

    /// The access of a grace period; nil where it gives none.
    private func granted(_ grace: GracePeriod, beside paid: [PaidPeriod]) -> GrantedGrace? {
        let due = grace.periodEndsAt
        // G2: what was charged since, and what begins at the end of the period or later, takes its place.
        let (begun, next) = paid.reduce(into: ([PaidPeriod](), [Date]())) { parts, period in
            let beginning = period.facts.beginning
            // Seats may be bought in the last second of the period that ends then.
            let isLater =
                due.map { $0.timeIntervalSince(beginning) < Self.shortestHole && !period.nominallyEnds(at: $0) }
                ?? false
            // A renewal that was refunded before it began, and before Apple named the grace period, takes no place.
            let isUndone =
                !period.isPurchase && period.facts.revokedAt.map { $0 <= min(beginning, grace.signedDate) } ?? false
            if !isUndone, beginning > grace.signedDate || isLater {
                parts.1.append(beginning)
            } else {
                parts.0.append(period)
            }
        }
        let last = begun.filter { !$0.isEmpty }.max { $0.end < $1.end }
        if let last, !isAbout(last, grace) { return nil }
        let isPeriodKnown = due.map { due in begun.contains { $0.nominallyEnds(at: due) } } ?? (last != nil)
        // Signed before the end of a period whose transaction is unknown: that period still runs.
        let named = due ?? last?.end ?? grace.endsAt
        let opening = isPeriodKnown ? named : min(named, grace.signedDate)
        let start = max(last?.end ?? opening, opening)
        let revoked = last.flatMap { revocation(of: $0, in: paid, grace) }
        let end = ([grace.endsAt, closed(grace), revoked].compactMap(\.self) + next).min() ?? grace.endsAt
        guard let product = grace.productId ?? last?.facts.productId ?? subscription.transaction?.productId, start < end
        else { return nil }
        return GrantedGrace(
            grace: grace, interval: Interval(from: start, to: end), transactionId: last?.facts.transactionId,
            productId: product)
    }

    /// True where a grace period is about the end of this period or of an unknown later one: Apple's status is 4, or the product is
    /// another one, or this period is over at the end that Apple names, or, in older payloads, the renewal info was signed in the second
    /// half of the period.
    private func isAbout(_ period: PaidPeriod, _ grace: GracePeriod) -> Bool {
        if statuses(of: grace).contains(where: { $0.status == 4 }) { return true }
        if let product = grace.productId, product != period.facts.productId, grace.periodEndsAt != nil,
            period.facts.signedDate < grace.signedDate
        {
            return true
        }
        if let due = grace.periodEndsAt { return period.end.timeIntervalSince(due) < Self.shortestHole }
        return grace.signedDate.timeIntervalSince(period.start) > period.end.timeIntervalSince(grace.signedDate)
    }

    /// G3: when the revocation of its period, and of no earlier one, ended a grace period. A refund of added seats leaves the period
    /// paid; and Apple's status 1 or 4 since grants the grace period all the same.
    private func revocation(of period: PaidPeriod, in paid: [PaidPeriod], _ grace: GracePeriod) -> Date? {
        let ofPeriod = paid.filter { $0.facts.expiresDate == period.facts.expiresDate }
        let isGranted = statuses(of: grace).contains {
            ($0.status == 1 || $0.status == 4) && period.transaction.version <= $0.version
        }
        guard grace.periodEndsAt.map(period.nominallyEnds) ?? true, !isGranted,
            !ofPeriod.contains(where: { $0.facts.revocationDate == nil })
        else { return nil }
        return ofPeriod.compactMap(\.facts.revokedAt).max()
    }

    /// The status in the event that named a grace period; of the newest one the newest status, too.
    private func statuses(of grace: GracePeriod) -> [(status: Int, version: EventVersion)] {
        var statuses = grace.status.map { [($0, grace.version)] } ?? []
        if subscription.renewal?.gracePeriodExpiresDate == grace.endsAt, let status = subscription.status,
            let version = subscription.statusVersion
        {
            statuses.append((status, version))
        }
        return statuses
    }

    /// G4: by the first denial since the renewal info that names it, also by the newest status and the newest renewal info.
    private func closed(_ grace: GracePeriod) -> Date? {
        var moments = [subscription.graces.closed(grace)].compactMap(\.self)
        if let version = subscription.statusVersion, [2, 5].contains(subscription.status),
            grace.signedDate <= version.signedDate
        {
            moments.append(version.signedDate)
        }
        if let renewal = subscription.renewal, renewal.gracePeriodExpiresDate != grace.endsAt,
            grace.signedDate < renewal.signedDate
        {
            moments.append(renewal.signedDate)
        }
        return moments.min()
    }
}

extension GracePeriod {
    /// Nil where the newest renewal info names no grace period.
    fileprivate init?(_ subscription: Subscription) {
        guard let renewal = subscription.renewal, let end = renewal.gracePeriodExpiresDate,
            let version = subscription.renewalVersion
        else { return nil }
        self.init(
            endsAt: end, periodEndsAt: renewal.renewalDate.flatMap { $0 < end ? $0 : nil },
            productId: renewal.productId, signedDate: renewal.signedDate, version: version, status: nil)
    }
}
