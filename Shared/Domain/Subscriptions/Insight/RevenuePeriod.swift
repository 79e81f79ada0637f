import Contracts

import struct Foundation.Date

/// A time in which a purchase earns what one transaction paid for it.
package struct RevenuePeriod: Sendable, Hashable {
    /// The transaction that paid.
    package var transactionId: String
    /// The first moment that counts.
    package var startsAt: Date
    /// The first moment that does not; nil only where access has no end.
    package var endsAt: Date?
    /// Where its value counts.
    package var cell: RevenueCell
    /// Never zero.
    package var value: MonthlyValue
    /// Whether it pays for seats that were added to another period.
    package var addsSeats: Bool
    /// Whether the customer bought it, and no renewal did. False where Apple does not say.
    package var isPurchase: Bool
    /// How long Apple tries to charge the renewal after it. Seconds.
    package var billingRetry: Double

    /// Whether it counts at a moment.
    package func contains(_ moment: Date) -> Bool { startsAt <= moment && (endsAt.map { moment < $0 } ?? true) }

    /// The periods of a purchase that earn something, in order of time.
    ///
    /// What counts is what was paid for an auto-renewable subscription, while it gives access by a transaction: not free trials, family
    /// sharing, assigned seats, grace periods, or prices that Apple did not sign. Seats that were added count from then on, at the price of their own
    /// transaction and by the length of the period that they were added to, while a period with the same end gives access.
    /// - Parameters:
    ///   - transactions: the newest version of each, in any order, any of them repeatedly.
    ///   - access: the access periods of the purchase, in any order.
    ///   - nominalEnds: by the ids of transactions that Apple extended, the earliest end that it signed of each.
    package static func all(
        _ transactions: [TransactionFacts], access: [AccessPeriod], in environment: StoreEnvironment,
        nominalEnds: [String: Date] = [:]
    ) -> [RevenuePeriod] {
        let facts = Dictionary(transactions.map { ($0.transactionId, $0) }, uniquingKeysWith: { first, _ in first })
        let lengths = NominalLengths(Array(facts.values), in: environment, nominalEnds: nominalEnds)
        var periods: [RevenuePeriod] = []
        for period in access where period.reason == .transaction {
            guard let paid = period.transactionId.flatMap({ facts[$0] }) else { continue }
            let length = lengths.length(of: paid)
            periods.append(
                contentsOf: [RevenuePeriod(paid, period.startsAt, period.endsAt, length)].compactMap(\.self))
            for seats in facts.values
            where seats.transactionId != paid.transactionId && seats.isOfSamePeriod(as: paid)
                && seats.additionalTransactionReason != nil && seats.beginning >= paid.beginning
            {
                let start = max(seats.beginning, period.startsAt)
                let ends = [period.endsAt, seats.expiresDate, seats.revokedAt].compactMap(\.self).min()
                guard start < ends ?? .forever else { continue }
                periods.append(
                    contentsOf: [RevenuePeriod(seats, start, ends, length, addsSeats: true)].compactMap(\.self))
            }
        }
        periods.sort { ($0.startsAt, $0.transactionId) < ($1.startsAt, $1.transactionId) }
        return closingHoles(periods)
    }

    private init?(
        _ facts: TransactionFacts, _ startsAt: Date, _ endsAt: Date?, _ length: BillingPeriod, addsSeats: Bool = false
    ) {
        guard !facts.isPaidElsewhere, !facts.isFreeTrial, let price = facts.priceMilliunits, facts.currency != nil
        else { return nil }
        let value = length.monthly(price)
        guard value != .zero else { return nil }
        transactionId = facts.transactionId
        (self.startsAt, self.endsAt) = (startsAt, endsAt)
        cell = RevenueCell(facts, period: length)
        self.value = value
        self.addsSeats = addsSeats
        isPurchase = facts.reason == "PURCHASE"
        billingRetry = BillingRules.billingRetry(of: facts.billingPlanType)
    }

    /// Apple signs one moment with and without a fraction of a second, which is no end of a subscription.
    private static func closingHoles(_ periods: [RevenuePeriod]) -> [RevenuePeriod] {
        periods.map { period in
            guard let end = period.endsAt,
                let next = periods.first(where: { end < $0.startsAt })?.startsAt,
                next.timeIntervalSince(end) < AccessScheduleBuilder.shortestHole,
                !periods.contains(where: { $0.startsAt == end })
            else { return period }
            var closed = period
            closed.endsAt = next
            return closed
        }
    }
}

/// What the payments of one purchase cover.
private struct NominalLengths {
    /// By product, of the transactions without an offer.
    private let products: [String: BillingPeriod]
    private let environment: StoreEnvironment
    private let nominalEnds: [String: Date]

    /// A period that Apple extended before the first time that it signed it is longer than nominal, so the shortest of a product counts; one
    /// of added seats is shorter, and does not.
    init(_ transactions: [TransactionFacts], in environment: StoreEnvironment, nominalEnds: [String: Date]) {
        self.environment = environment
        self.nominalEnds = nominalEnds
        var products: [String: BillingPeriod] = [:]
        for facts in transactions where facts.offerType == nil && facts.ownLength == nil && facts.hasPeriod {
            guard let seconds = Self.seconds(facts, nominalEnds),
                !transactions.contains(where: {
                    $0.transactionId != facts.transactionId && facts.isOfSamePeriod(as: $0)
                        && $0.beginning < facts.beginning
                })
            else { continue }
            let length = BillingPeriod(fitting: seconds, in: environment)
            products[facts.productId] = min(products[facts.productId] ?? length, length)
        }
        self.products = products
    }

    func length(of facts: TransactionFacts) -> BillingPeriod {
        if let own = facts.ownLength { return own }
        if facts.offerType == nil || facts.offerDiscountType == "PAY_AS_YOU_GO", let length = products[facts.productId]
        {
            return length
        }
        return BillingPeriod(fitting: Self.seconds(facts, nominalEnds) ?? 0, in: environment)
    }

    /// From the beginning to the end before extensions. Nil without an end.
    private static func seconds(_ facts: TransactionFacts, _ nominalEnds: [String: Date]) -> Double? {
        guard let end = facts.expiresDate else { return nil }
        let nominal = nominalEnds[facts.transactionId].map { min($0, end) } ?? end
        // An end that is not after the beginning says nothing about the length.
        return (nominal > facts.beginning ? nominal : end).timeIntervalSince(facts.beginning)
    }
}

extension TransactionFacts {
    /// What the payment covers where the product does not decide it: an offer that is paid at once, or a commitment of twelve months that
    /// is paid by the month.
    fileprivate var ownLength: BillingPeriod? {
        if offerDiscountType == "PAY_UP_FRONT" || offerDiscountType == "ONE_TIME",
            let period = offerPeriod.flatMap(BillingPeriod.init)
        {
            return period
        }
        return billingPlanType == "MONTHLY" ? .month : nil
    }

    /// Whether an offer made it free.
    package var isFreeTrial: Bool { offerDiscountType == "FREE_TRIAL" || (offerType != nil && priceMilliunits == 0) }
}
