import Foundation
import Subscriptions

@testable import TestSupport

/// The product that may be used at one moment, computed from every received fact: slow and obvious, and independent of
/// `AccessSchedule`.
///
/// Written from Apple's documentation of `status`, `renewalDate`, `purchaseDate`,
/// `isUpgraded`, `revocationDate` and `additionalTransactionReason`.
struct AccessReference {
    let events: [PurchaseEvent]
    /// The newest version of each; kept, because every question reads them many times.
    let transactions: [TransactionFacts]
    /// By transaction id; kept, because each follows from those of earlier purchases.
    private var starts: [String: Date] = [:]
    let durations = SimulatedPurchase.passes

    init(events: [PurchaseEvent]) {
        self.events = events
        transactions = Self.transactions(in: events)
            .sorted { ($0.purchaseDate ?? .distantPast) < ($1.purchaseDate ?? .distantPast) }
        for one in transactions { starts[one.transactionId] = begin(of: one) }
    }

    /// The answers that the received facts allow: mostly one; nil is no access.
    func answers(at moment: Date) -> Set<String?> { certainAnswers(at: moment).union(sandboxAnswers(at: moment)) }

    /// How early Apple charges in the sandbox is not documented: a renewal that begins within the period of a purchase was
    /// charged before the purchase, which then counts, or renews what replaced it.
    func sandboxAnswers(at moment: Date) -> Set<String?> {
        unclearSandboxAnswers(at: moment, exceptEnding: renewal?.renewalDate)
    }

    /// - Parameter named: the renewal that ends then came later, as Apple says.
    func unclearSandboxAnswers(at moment: Date, exceptEnding named: Date? = nil) -> Set<String?> {
        guard events.first?.key.environment == .sandbox else { return [] }
        let begun = transactions.filter { ($0.purchaseDate ?? moment) <= moment }
        let isUnclear = begun.contains { renewal in
            isRenewal(renewal) && (named == nil || renewal.expiresDate != named)
                && begun.contains { purchase in
                    guard let begin = renewal.purchaseDate, let from = purchase.purchaseDate,
                        let end = purchase.expiresDate
                    else { return false }
                    return !isRenewal(purchase) && from < begin && begin < end
                }
        }
        guard isUnclear else { return [] }
        return Set(begun.filter { $0.expiresDate.map { moment < $0 } ?? false }.map(\.productId) + [nil])
    }

    func certainAnswers(at moment: Date) -> Set<String?> {
        let product = paid(at: moment)?.productId
        if product == nil, let next = renewalOfUnknownPeriod(after: moment) {
            // What it renews runs, unless a status ended that.
            guard let value = status?.status, value != 1, value != 4 else { return [next.productId] }
            return [nil, next.productId]
        }
        guard let status else { return [product ?? graceProduct(at: moment)] }
        switch status.status {
        case 1: return whileActive(status, at: moment)
        case 3, 4:
            if let product { return [product] }
            // A refund of another period leaves the grace period.
            return [
                isRevoked(since: status, endingAt: renewal?.renewalDate, at: moment) ? nil : graceProduct(at: moment)
            ]
        case 2, 5:
            // A renewal info signed later may show a recovery that no notification reported.
            if let renewal, renewal.signedDate > status.version.signedDate, let grace = renewal.gracePeriodExpiresDate,
                grace > moment
            {
                return [product, renewal.productId]
            }
            return [product]
        default: return [product]
        }
    }

    var earlyCharge: TimeInterval { events.first?.key.environment == .production ? 86_400 : 60 }

    // MARK: - The newest of each

    var status: PurchaseEvent? { events.filter { $0.status != nil }.max { $0.version < $1.version } }

    var renewal: RenewalFacts? {
        events.filter { $0.renewal != nil }.max { left, right in
            guard let a = left.renewal?.signedDate, let b = right.renewal?.signedDate, a != b else {
                return left.version < right.version
            }
            return a < b
        }?.renewal
    }

    private static func transactions(in events: [PurchaseEvent]) -> [TransactionFacts] {
        Dictionary(grouping: events.filter { $0.transaction != nil }) { $0.transaction?.transactionId ?? "" }
            .values.compactMap { versions in
                versions.max { left, right in
                    guard let a = left.transaction?.signedDate, let b = right.transaction?.signedDate, a != b else {
                        return left.version < right.version
                    }
                    return a < b
                }?.transaction
            }
    }

    // MARK: - What transactions paid for

    /// The transaction that entitles at a moment: begun, not over, and not yet refunded, replaced or ended by a status.
    func paid(at moment: Date) -> TransactionFacts? {
        transactions.filter { one in
            guard let from = start(of: one), from <= moment, end(of: one).map({ moment < $0 }) ?? true,
                one.productType != "Consumable"
            else { return false }
            let revoked = one.revocationDate.map { min($0, one.signedDate) <= moment } ?? false
            let isUpgraded = one.isUpgraded && one.signedDate <= moment
            return !revoked && !isUpgraded && !isEnded(one, at: moment) && !isUnshared(one, at: moment)
                && !transactions.contains { replaces($0, one) && (start(of: $0) ?? from) <= moment }
        }.max { ($0.purchaseDate ?? .distantPast) < ($1.purchaseDate ?? .distantPast) }
    }

    /// A renewal begins on the renewal date: one that is dated within the last day of a period was charged then.
    func start(of one: TransactionFacts) -> Date? { starts[one.transactionId] }

    private func begin(of one: TransactionFacts) -> Date? {
        guard let from = one.purchaseDate, isDatedAtCharge(one) else { return one.purchaseDate }
        return renewed(by: one, from).compactMap(\.expiresDate).max() ?? from
    }

    func isDatedAtCharge(_ one: TransactionFacts) -> Bool {
        guard let from = one.purchaseDate, events.first?.key.environment == .production else { return false }
        return isRenewal(one) && !renewed(by: one, from).isEmpty
    }

    func renewed(by one: TransactionFacts, _ from: Date) -> [TransactionFacts] {
        transactions.filter { other in
            guard let start = other.purchaseDate, let end = other.expiresDate, other.transactionId != one.transactionId,
                start < from, from < end
            else { return false }
            let isReplaced = transactions.contains { purchase in
                guard let date = purchase.purchaseDate, purchase.additionalTransactionReason == nil else {
                    return false
                }
                return !isRenewal(purchase) && start < date && date <= from
                    && purchase.transactionId != one.transactionId
            }
            // Signed since the refund of its renewal, it was extended.
            let isExtended =
                one.revocationDate.map { min($0, one.signedDate) < other.signedDate } ?? false && !other.isUpgraded
                && other.productId == one.productId
            return !isReplaced && (end <= from.addingTimeInterval(earlyCharge) || isExtended)
                // Of a renewal that was charged before a purchase nothing is left to renew.
                && !transactions.contains { chargedBefore(other, $0) }
                && other.revocationDate.map { min($0, other.signedDate) > from } ?? true
                && !(other.isUpgraded && other.signedDate <= from)
        }
    }

    /// Sharing that ended ends each shared period, also one that has not begun, unless Apple signed it again since.
    func isUnshared(_ one: TransactionFacts, at moment: Date) -> Bool {
        transactions.contains { other in
            guard ["FAMILY_REVOKE", "ASSIGNMENT_REVOKE"].contains(other.revocationType), let end = other.revocationDate,
                end < other.expiresDate ?? .distantFuture  // Otherwise a refund of an old period.
            else { return false }
            return one.signedDate <= end && end <= moment
        }
    }

    /// A renewal that was charged early, where the period that it renews is unknown.
    func renewalOfUnknownPeriod(after moment: Date) -> TransactionFacts? {
        transactions.first { next in
            guard let from = next.purchaseDate, next.signedDate <= moment, moment < from, next.revocationDate == nil,
                isRenewal(next), !next.isUpgraded
            else { return false }
            return !transactions.contains { one in
                one.transactionId != next.transactionId && (one.purchaseDate ?? from) <= moment
                    && (one.expiresDate ?? .distantPast) >= next.signedDate
            }
        }
    }

    /// Nil where there is none.
    func end(of one: TransactionFacts) -> Date? {
        if one.productType == "Non-Renewing Subscription" {
            return durations[one.productId].flatMap { days in
                one.purchaseDate?.addingTimeInterval(Double(days) * 86_400)
            }
        }
        return one.expiresDate
    }

    /// A later purchase replaces a period, even one that was charged early and has not begun, and even if the purchase is
    /// refunded afterwards. Seats that were added stand beside the period.
    func replaces(_ purchase: TransactionFacts, _ one: TransactionFacts) -> Bool {
        guard purchase.transactionId != one.transactionId, let from = purchase.purchaseDate,
            let start = one.purchaseDate
        else { return false }
        // All transactions of one period have the reason; one of them may be known from before the addition, or extended.
        let (reason, other) = (purchase.additionalTransactionReason, one.additionalTransactionReason)
        if purchase.productId == one.productId, reason != nil || other != nil,
            purchase.expiresDate == one.expiresDate || (reason != nil && other != nil)
        {
            return false
        }
        if chargedBefore(purchase, one) { return false }
        let addsSeats = transactions.contains {
            $0.transactionId != purchase.transactionId && $0.productId == purchase.productId
                && $0.expiresDate == purchase.expiresDate && ($0.purchaseDate ?? from) < from
        }
        if reason != nil, addsSeats { return false }
        if isDatedAtCharge(purchase), renewed(by: purchase, from).contains(one) { return false }
        // Refunded before it began.
        if isRenewal(purchase), let revoked = purchase.revocationDate, revoked <= from { return false }
        // Two renewals of one period: the first was refunded before it began.
        if start == from, isRenewal(one) == isRenewal(purchase) { return one.transactionId < purchase.transactionId }
        return start < from || chargedBefore(one, purchase)
    }

    /// A renewal begins where a period ends, never within one: if it would, it was charged early and before the purchase.
    func chargedBefore(_ renewal: TransactionFacts, _ purchase: TransactionFacts) -> Bool {
        start(of: renewal).map { chargedBefore(renewal, from: $0, purchase) } ?? false
    }

    private func chargedBefore(_ renewal: TransactionFacts, from begin: Date, _ purchase: TransactionFacts) -> Bool {
        guard let from = purchase.purchaseDate, let end = purchase.expiresDate else { return false }
        return isRenewal(renewal) && !isRenewal(purchase) && from <= begin && begin < end
            && begin <= from.addingTimeInterval(earlyCharge)
    }

    /// Old payloads do not say; but what was signed before it began was a renewal, and what begins where another ends.
    func isRenewal(_ one: TransactionFacts) -> Bool {
        one.reason == "RENEWAL"
            || one.reason == nil && transactions.contains { $0.expiresDate == one.purchaseDate }
            || events.contains {
                $0.transaction?.transactionId == one.transactionId
                    && ($0.transaction?.reason == "RENEWAL"
                        || $0.transaction.map { $0.signedDate < one.purchaseDate ?? $0.signedDate } ?? false)
            }
    }

    /// Status 5 ends its own transaction, or the current one where it has none. Other paid transactions keep their access.
    /// Facts that Apple signed later are newer than the status.
    func isEnded(_ one: TransactionFacts, at moment: Date) -> Bool {
        guard let status, status.status == 5, status.version.signedDate <= moment,
            one.signedDate <= status.version.signedDate
        else { return false }
        guard let subject = status.transaction else {
            return one.purchaseDate.map { $0 <= status.version.signedDate } ?? true
        }
        return subject.transactionId == one.transactionId
            && one.purchaseDate.map { $0 <= status.version.signedDate } ?? true
    }

    // MARK: - What Apple says without a transaction

    func whileActive(_ status: PurchaseEvent, at moment: Date) -> Set<String?> {
        let signed = status.version.signedDate
        let paid = paid(at: moment)
        let named = renewal?.productId ?? status.transaction?.productId
        if let paid {
            guard let renewal, let named, named != paid.productId, let date = renewal.renewalDate,
                let end = paid.expiresDate, paid.signedDate < renewal.signedDate,
                !transactions.contains(where: { $0.expiresDate == date && $0.productId == named })
            else { return [paid.productId] }
            // A renewal info by itself is no status.
            if renewal.signedDate > signed { return [paid.productId, moment < date ? named : nil] }
            // Another product with another end: an upgrade that is unknown, or a renewal that was charged early.
            if date > end, end.timeIntervalSince(signed) <= earlyCharge { return [paid.productId, named] }
            return [moment < date ? named : nil]
        }
        let wasReplaced = transactions.contains { one in
            // Signed before the status, it was charged before it, and Apple's renewal date takes it into account.
            guard let from = one.purchaseDate, one.transactionId != status.transaction?.transactionId,
                one.signedDate > signed
            else { return false }
            return from > signed && from <= moment && from > renewal?.signedDate ?? .distantPast
        }
        if isRevoked(since: status, at: moment) || isRefunded(renewal?.renewalDate, at: moment) || wasReplaced {
            return [nil]
        }
        // Less than a second before a refunded period is no missing transaction.
        if isRefunded(renewal?.renewalDate, at: moment.addingTimeInterval(1)) { return [named, nil] }
        let ends = [renewal?.renewalDate, status.transaction.flatMap(endIfUnbroken)].compactMap(\.self)
        if let end = ends.max(), moment < end {
            // Less than a second is no missing transaction.
            return end.timeIntervalSince(moment) < 1 ? [named, nil] : [named]
        }
        return [graceProduct(at: moment)]
    }

    func endIfUnbroken(_ subject: TransactionFacts) -> Date? {
        guard let one = transactions.first(where: { $0.transactionId == subject.transactionId }),
            one.revocationDate == nil, !one.isUpgraded, !transactions.contains(where: { replaces($0, one) })
        else { return nil }
        return one.expiresDate
    }

    /// The newest transaction is refunded, and the renewal date is its end.
    func isRefunded(_ date: Date?, at moment: Date) -> Bool {
        transactions.contains { one in
            one.revocationDate != nil && one.expiresDate != nil && one.expiresDate == date
                && one.additionalTransactionReason == nil && (one.purchaseDate ?? moment) <= moment
        }
    }

    /// - Parameter end: of the period that is meant; nil means any.
    func isRevoked(since status: PurchaseEvent, endingAt end: Date? = nil, at moment: Date) -> Bool {
        transactions.contains { one in
            guard let revoked = one.revocationDate, revoked > status.version.signedDate,
                end == nil ? one.expiresDate.map({ moment < $0 }) ?? true : one.expiresDate == end
            else { return false }
            return (one.purchaseDate ?? .distantPast) <= moment
        }
    }

    func graceProduct(at moment: Date) -> String? {
        guard let renewal, let grace = renewal.gracePeriodExpiresDate, moment < grace else { return nil }
        let last = transactions.filter { one in !transactions.contains { replaces($0, one) } }
            .max { ($0.purchaseDate ?? .distantPast) < ($1.purchaseDate ?? .distantPast) }
        let isPaid = transactions.contains { $0.revocationDate == nil && $0.expiresDate == last?.expiresDate }
        let due = due(in: events.filter { $0.renewal?.gracePeriodExpiresDate == grace }, before: grace)
        if status == nil, last != nil, !isPaid, due == nil || due == last?.expiresDate { return nil }
        // Charged since, though it is dated at the end of the period.
        if let due,
            transactions.contains(where: { ($0.purchaseDate ?? .distantPast) == due && $0.revocationDate == nil })
        {
            return nil
        }
        return renewal.productId ?? last?.productId
    }
}
