import Contracts

import struct Foundation.Date
import struct Foundation.TimeInterval

/// What a purchase adds to the figures of an app, as known at a moment. A pure function of its transactions and access periods, so that
/// the order and the repetition of notifications change nothing.
package struct PurchaseFigures: Sendable, Equatable {
    /// What a sum counts.
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        /// The movements of monthly revenue, by their day.
        case new, expansion, contraction, churn, reactivation
        /// Purchases that earned at the beginning of a day or of a month, and not at its end; a month by its first day. `step` is
        /// `RevenueLoss.choices`.
        case lostInDay, lostInMonth
        /// Free trials by the day of their beginning; `step` of a paid one is the number of days until the customer paid.
        case trialRunning, trialEnded, trialPaid
        /// Purchases by the day of their first paid period; `step` is the number of its lengths that were paid for so far. A purchase that
        /// was resubscribed is not in `periods`: it has all of its lengths, and those before the first resubscription.
        case periods, resubscribedPeriods, unbrokenPeriods
        /// Charges, by the day of the transaction. Loyal: after a year of paid service, when Apple's commission is lower.
        case charge, loyalCharge
        /// Refunds, by the day of the refund, and by the day of the transaction; `step` is 1 for a loyal charge.
        case refund, refundOfCharge
    }

    /// What is added up.
    package struct Key: Sendable, Hashable {
        /// Days since 1970 in UTC.
        package var day: Int
        package var kind: Kind
        /// What it is depends on the kind; 0 where the kind has none.
        package var step: Int
        package var cell: RevenueCell
    }

    /// The sums of one key.
    package struct Sum: Sendable, Hashable {
        /// Thousandths of a unit of currency.
        package var amount: Int64 = 0
        /// By RevenueCat's factors; of movements only.
        package var revenueCatAmount: Int64 = 0
        /// By how much the number of paying purchases in the cell changed; of movements only.
        package var purchases = 0
        /// Movements of purchases, trials, purchases, transactions.
        package var count = 0
    }

    /// The movements up to the moment, in order of time.
    package private(set) var movements: [RevenueMovement]
    package private(set) var sums: [Key: Sum] = [:]
    /// The first moment after it at which the figures change by the clock alone; nil where they never do.
    package private(set) var changesAt: Date?

    /// - Parameters:
    ///   - transactions: the newest version of each, in any order.
    ///   - access: the access periods of the purchase, in any order.
    ///   - nominalEnds: as of ``RevenuePeriod/all(_:access:in:nominalEnds:)``.
    package init(
        _ transactions: [TransactionFacts], access: [AccessPeriod], in environment: StoreEnvironment,
        nominalEnds: [String: Date] = [:], at now: Date
    ) {
        let periods = RevenuePeriod.all(
            transactions, access: access, in: environment, nominalEnds: nominalEnds)
        let begun = periods.filter { $0.startsAt <= now }
        movements = RevenueMovement.all(of: periods).filter { $0.at <= now }
        for movement in movements { add(movement, amongAll: movements) }
        addLosses(.lostInDay) { $0 }
        addLosses(.lostInMonth) { Self.firstOfMonth($0) }
        for facts in transactions where !facts.isPaidElsewhere {
            addTrial(facts, paid: begun, at: now)
            addCharge(facts, after: periods, in: environment)
        }
        addPeriods(begun.filter { !$0.addsSeats }, in: environment)
        let trialEnds = transactions.filter(\.isFreeTrial).compactMap(\.expiresDate)
        changesAt =
            (periods.flatMap { [$0.startsAt, $0.endsAt].compactMap(\.self) } + trialEnds).filter { $0 > now }.min()
    }

    /// Movements of one moment and kind, as of a change of product, count once: where the purchase earns since, if it does.
    private mutating func add(_ movement: RevenueMovement, amongAll movements: [RevenueMovement]) {
        guard let kind = Kind(rawValue: movement.kind.rawValue) else { return }
        let counted = movements.filter { $0.at == movement.at && $0.kind == movement.kind }
            .max { $0.purchases < $1.purchases }
        add(
            kind, at: movement.at, movement.cell,
            Sum(
                amount: movement.value.amount, revenueCatAmount: movement.value.revenueCatAmount,
                purchases: movement.purchases, count: movement == counted ? 1 : 0))
    }

    private mutating func addLosses(_ kind: Kind, by span: (Int) -> Int) {
        for (day, moved) in Dictionary(grouping: movements, by: { span(Self.day($0.at)) }) {
            for loss in RevenueLoss.all(of: moved) {
                add(kind, on: day, step: Int(loss.choices), loss.cell, Sum(count: 1))
            }
        }
    }

    private mutating func addTrial(_ facts: TransactionFacts, paid: [RevenuePeriod], at now: Date) {
        guard facts.isFreeTrial, let end = facts.expiresDate else { return }
        let begin = facts.beginning
        let cell = RevenueCell(facts, period: facts.offerPeriod.flatMap(BillingPeriod.init))
        if let first = paid.first(where: { $0.startsAt >= begin }) {
            let days = Int(first.startsAt.timeIntervalSince(begin) / BillingRules.day)
            add(.trialPaid, at: begin, step: days, cell, Sum(count: 1))
        } else {
            add(min(end, facts.revokedAt ?? end) > now ? .trialRunning : .trialEnded, at: begin, cell, Sum(count: 1))
        }
    }

    private mutating func addCharge(
        _ facts: TransactionFacts, after periods: [RevenuePeriod], in environment: StoreEnvironment
    ) {
        guard let price = facts.priceMilliunits, price > 0, facts.currency != nil else { return }
        let length = periods.first { $0.transactionId == facts.transactionId }?.cell.period
        let cell = RevenueCell(facts, period: length.flatMap(BillingPeriod.init))
        let paid = Self.paidService(periods, until: facts.beginning, in: environment)
        let isLoyal = paid >= BillingRules.reducedCommissionDays * BillingRules.day
        add(isLoyal ? .loyalCharge : .charge, at: facts.beginning, cell, Sum(amount: price, count: 1))
        let (step, refunds) = (isLoyal ? 1 : 0, facts.refunds)
        guard !refunds.isEmpty else { return }
        for refund in refunds { add(.refund, at: refund.date, step: step, cell, Sum(amount: refund.amount, count: 1)) }
        let refunded = refunds.reduce(0) { $0 + $1.amount }
        add(.refundOfCharge, at: facts.beginning, step: step, cell, Sum(amount: refunded, count: 1))
    }

    /// Seconds of paid service before a moment, since the last gap that breaks it.
    private static func paidService(
        _ periods: [RevenuePeriod], until moment: Date, in environment: StoreEnvironment
    ) -> TimeInterval {
        var (paid, covered) = (0.0, Date.distantPast)
        for period in periods where period.startsAt < moment {
            if period.startsAt.timeIntervalSince(covered) > BillingRules.loyaltyGap(in: environment) { paid = 0 }
            let end = min(period.endsAt ?? moment, moment)
            paid += max(0, end.timeIntervalSince(max(period.startsAt, covered)))
            covered = max(covered, end)
        }
        return moment.timeIntervalSince(covered) > BillingRules.loyaltyGap(in: environment) ? 0 : paid
    }

    /// How many lengths of the first period are paid for, by time and not by payments: a payment may be for another length, and a period that
    /// replaced another one within its time counts with it.
    private mutating func addPeriods(_ periods: [RevenuePeriod], in environment: StoreEnvironment) {
        guard let first = periods.first, let length = BillingPeriod(first.cell.period)?.length(in: environment) else {
            return
        }
        var (all, unbroken, isUnbroken) = (0.0, 0.0, true)
        var (covered, before) = (first.startsAt, first)
        for period in periods {
            let gap = period.startsAt.timeIntervalSince(covered)
            if gap >= AccessScheduleBuilder.shortestHole, period.isPurchase || gap > before.billingRetry {
                isUnbroken = false
            }
            let end = period.endsAt ?? .forever
            all += max(0, end.timeIntervalSince(max(period.startsAt, covered)))
            if isUnbroken { unbroken = all }
            (covered, before) = (max(covered, end), period)
        }
        // A month may be some days shorter than the average.
        func count(_ paid: Double) -> Int {
            Int(((paid + min(length / 10, 3 * BillingRules.day)) / length).rounded(.down).clamped(to: 1...1200))
        }
        add(
            isUnbroken ? .periods : .resubscribedPeriods, at: first.startsAt, step: count(all), first.cell,
            Sum(count: 1))
        guard !isUnbroken else { return }
        add(.unbrokenPeriods, at: first.startsAt, step: count(unbroken), first.cell, Sum(count: 1))
    }

    private mutating func add(_ kind: Kind, at moment: Date, step: Int = 0, _ cell: RevenueCell, _ sum: Sum) {
        add(kind, on: Self.day(moment), step: step, cell, sum)
    }

    /// Apple may sign any date; a day of Postgres has limits.
    private static func day(_ moment: Date) -> Int {
        Int((moment.timeIntervalSince1970 / BillingRules.day).rounded(.down).clamped(to: -700_000...2_000_000))
    }

    /// In the Gregorian calendar, of days since 1970. Years begin in March, so that the leap day is their last.
    private static func firstOfMonth(_ day: Int) -> Int {
        // The day within 400 years, which begin on 1 March of year 0.
        let place = ((day + 719_468) % 146_097 + 146_097) % 146_097
        let year = (place - place / 1460 + place / 36_524 - place / 146_096) / 365
        let inYear = place - (365 * year + year / 4 - year / 100)
        let month = (5 * inYear + 2) / 153
        return day - (inYear - (153 * month + 2) / 5)
    }

    private mutating func add(_ kind: Kind, on day: Int, step: Int, _ cell: RevenueCell, _ sum: Sum) {
        var total = sums[Key(day: day, kind: kind, step: step, cell: cell)] ?? Sum()
        total.amount += sum.amount
        total.revenueCatAmount += sum.revenueCatAmount
        total.purchases += sum.purchases
        total.count += sum.count
        sums[Key(day: day, kind: kind, step: step, cell: cell)] = total
    }
}

extension TransactionFacts {
    /// What Apple paid back to the customer, thousandths of a unit of currency; nil where it paid nothing: sharing that ended is no
    /// refund. Items of Advanced Commerce may be refunded while the transaction goes on, without a revocation date.
    var refundedMilliunits: Int64? {
        guard revocationDate != nil || revocationPercentage != nil, let price = priceMilliunits, price > 0,
            revocationType != "FAMILY_REVOKE", revocationType != "ASSIGNMENT_REVOKE"
        else { return nil }
        if revocationType == nil, !itemRefunds.isEmpty, revocationDate == nil || isRefundedInPart {
            return itemRefunds.reduce(0) { $0 + min(max($1.amount, 0), price - $0) }
        }
        guard isRefundedInPart, let share = revocationPercentage, (0...100_000).contains(share) else { return price }
        let (whole, rest) = price.quotientAndRemainder(dividingBy: 100_000)
        return whole * share + (rest * share + 50_000) / 100_000
    }

    /// The parts of ``refundedMilliunits`` with their dates: those of items, and the rest when Apple revoked the transaction. A rest without a
    /// revocation has no date and is in none.
    var refunds: [ItemRefund] {
        guard var rest = refundedMilliunits else { return [] }
        var refunds: [ItemRefund] = []
        for item in itemRefunds.sorted(by: { $0.date < $1.date }) where item.amount > 0 && rest > 0 {
            refunds.append(ItemRefund(date: item.date, amount: min(item.amount, rest)))
            rest -= min(item.amount, rest)
        }
        if rest > 0, let revocationDate { refunds.append(ItemRefund(date: revocationDate, amount: rest)) }
        return refunds
    }

    /// Whether Apple says that it refunded a share of the price. Of Advanced Commerce it signs no type.
    var isRefundedInPart: Bool {
        revocationType == "REFUND_PRORATED" || revocationType == nil && (revocationPercentage ?? 100_000) < 100_000
    }
}

extension Comparable {
    fileprivate func clamped(to limits: ClosedRange<Self>) -> Self {
        min(max(self, limits.lowerBound), limits.upperBound)
    }
}
