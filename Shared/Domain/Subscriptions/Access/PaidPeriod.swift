import struct Foundation.Date
import struct Foundation.TimeInterval

/// The time that one transaction of a subscription pays for, without the time that other transactions of the purchase
/// replaced.
package struct PaidPeriod {
    let transaction: TransactionVersion
    /// The first moment of access.
    package var start: Date
    /// The first moment without access. Not after `start` where the transaction gives none.
    package var end: Date
    /// Whether a purchase, and no renewal, began it.
    let isPurchase: Bool

    package var facts: TransactionFacts { transaction.facts }
    var isEmpty: Bool { end <= start }

    /// The time that each transaction pays for, in the order of charges, never overlapping; those that give no time are empty.
    ///
    /// A renewal's `purchaseDate` is where its period begins, and it begins where the one before ends: a renewal charged
    /// early displaces nothing. A purchase (upgrade, crossgrade, resubscription) gives access from the moment of its
    /// charge and ends earlier periods for good, even if it is refunded itself. It also ends a renewal that was
    /// charged before it and would begin within its period.
    ///
    /// [transactionReason](https://developer.apple.com/documentation/appstoreserverapi/transactionreason),
    /// [purchaseDate](https://developer.apple.com/documentation/appstoreserverapi/purchasedate)
    /// - Parameters:
    ///   - renewal: the newest renewal info of the purchase.
    ///   - early: how long before a period Apple may charge for it.
    package static func all(
        _ versions: [TransactionVersion], renewal: RenewalFacts?, early: TimeInterval
    ) -> [PaidPeriod] {
        let ordered = ordered(versions.filter(\.facts.hasPeriod), early: early)
        var periods: [PaidPeriod] = []
        var purchase: PaidPeriod?
        for transaction in ordered {
            var next = PaidPeriod(
                transaction, isPurchase: isPurchase(transaction.facts, after: periods, early: early))
            if let end = next.endOfRenewed(in: periods, early: early) { next.start = end }
            let running = periods.indices.filter { next.start < periods[$0].end }
            if next.isPurchase {
                // A4, and A6 for seats: they replace nothing, nor a renewal of the period that was charged before them.
                if !running.contains(where: { next.addsSeats(to: periods[$0]) }) {
                    for index in running { periods[index].end = next.start }
                    purchase = next
                }
            } else if let purchase, next.wasChargedBefore(purchase, renewal, early: early),
                !ordered.contains(where: { $0.facts.isRenewal && $0.facts.beginning == next.facts.expiresDate })
            {
                next.end = next.start  // A5
            } else if !next.isEmpty {
                // A2: a renewal begins where a period ends: it renews an unknown one, which replaced those that still run.
                for index in running { periods[index].end = next.start }
            }
            if !next.isEmpty {
                // A9: charged before its beginning: the period that it renews still gives access, though its transaction
                // is unknown.
                let opening = next.start.addingTimeInterval(-early)
                if !next.isPurchase, opening <= next.facts.signedDate, next.facts.signedDate < next.start,
                    !periods.contains(where: { $0.nominalEnd >= next.facts.signedDate })
                {
                    next.start = next.facts.signedDate
                }
                next.start = max(next.start, periods.map(\.end).max() ?? next.start)
            }
            periods.append(next)
        }
        return periods
    }

    /// In the order of charges. Seats on a period's last day count as a day older, so that they precede its renewal; seats of the
    /// same period that were bought before precede them all the same.
    private static func ordered(_ versions: [TransactionVersion], early: TimeInterval) -> [TransactionVersion] {
        var ordered = versions.sorted { $0.facts.isEarlierPurchase(than: $1.facts, early: early) }
        for index in ordered.indices {
            let facts = ordered[index].facts
            func isLater(_ version: TransactionVersion) -> Bool {
                version.facts.isOfSamePeriod(as: facts) && facts.beginning < version.facts.beginning
            }
            let known = ordered[...index]
            guard known.contains(where: isLater) else { continue }
            ordered.replaceSubrange(...index, with: known.filter { !isLater($0) } + known.filter(isLater))
        }
        return ordered
    }

    private init(_ transaction: TransactionVersion, isPurchase: Bool) {
        let facts = transaction.facts
        self.transaction = transaction
        self.isPurchase = isPurchase
        start = facts.beginning  // A1
        end = min(facts.expiresDate ?? .forever, facts.revokedAt ?? .forever)
        // A7: replaced by a purchase, perhaps an unknown one, that was made before Apple signed this transaction.
        if facts.isUpgraded { end = min(end, facts.signedDate) }
    }

    private var nominalEnd: Date { facts.expiresDate ?? .forever }

    /// Whether the transaction, revoked or not, ends at a moment; what Apple signs with and without a fraction of a second is one.
    func nominallyEnds(at moment: Date) -> Bool {
        abs(nominalEnd.timeIntervalSince(moment)) < AccessScheduleBuilder.shortestHole
    }

    /// A3: the end of the running period, for a renewal that is dated at its charge on that period's last day: it begins on the
    /// renewal date, as a downgrade does. So it does where it was refunded and Apple signed the running period since, which was
    /// extended then. Nil for others, and in the sandbox, where it is not documented how early Apple charges.
    private func endOfRenewed(in periods: [PaidPeriod], early: TimeInterval) -> Date? {
        guard !isPurchase, early == BillingRules.day else { return nil }
        return periods.last { running in
            let isExtended =
                facts.revokedAt.map { $0 < running.facts.signedDate } ?? false && !running.facts.isUpgraded
                && running.facts.productId == facts.productId
            return start < running.end && running.start < start
                && (running.nominalEnd.timeIntervalSince(start) <= early || isExtended)
        }?.nominalEnd
    }

    /// Older payloads do not say what a transaction is. Then one that begins where another ends is its renewal, and one
    /// that begins within a running period is a purchase, unless it begins within its last day (a minute in the sandbox)
    /// with the same product: that is a renewal.
    private static func isPurchase(
        _ facts: TransactionFacts, after periods: [PaidPeriod], early: TimeInterval
    ) -> Bool {
        if facts.reason == "PURCHASE" { return true }
        if facts.isRenewal || periods.contains(where: { $0.nominalEnd == facts.beginning }) { return false }
        guard let running = periods.last(where: { $0.start <= facts.beginning && facts.beginning < $0.end }) else {
            return true
        }
        return facts.beginning < running.end.addingTimeInterval(-early) || facts.productId != running.facts.productId
    }

    /// Whether a renewal was charged before a purchase that took its place: it begins sooner after the purchase than Apple
    /// charges early. How early that is in the sandbox is not documented; there it begins nearer to the beginning of the
    /// purchase's period than to its end, where a renewal of that purchase would begin. A renewal info that was signed
    /// since the purchase and names the renewal's end says that the renewal came later; so does a renewal of it.
    private func wasChargedBefore(_ purchase: PaidPeriod, _ renewal: RenewalFacts?, early: TimeInterval) -> Bool {
        guard purchase.start < start, start < purchase.nominalEnd else { return false }
        if let renewal, renewal.signedDate > purchase.start, renewal.renewalDate == facts.expiresDate { return false }
        let gap = facts.beginning.timeIntervalSince(purchase.start)
        let isNearer = gap < purchase.nominalEnd.timeIntervalSince(facts.beginning)
        return early < BillingRules.day ? isNearer : gap <= early
    }

    /// Seats that are bought within a period have a transaction of their own, which ends with the period and does not
    /// replace the period's. From then on all transactions of the period have the reason, so the purchase that began it
    /// has it too, and still replaces what ran before.
    ///
    /// [additionalTransactionReason](https://developer.apple.com/documentation/appstoreserverapi/additionaltransactionreason)
    private func addsSeats(to other: PaidPeriod) -> Bool {
        facts.additionalTransactionReason != nil && facts.productId == other.facts.productId
            && (other.facts.additionalTransactionReason != nil || facts.expiresDate == other.facts.expiresDate)
    }
}

extension TransactionFacts {
    /// Where the period begins; the moment of signing where Apple names no date.
    package var beginning: Date { purchaseDate ?? signedDate }

    /// Apple says so, or, in older payloads, it was signed before it began: a purchase is dated at its charge.
    var isRenewal: Bool { reason == "RENEWAL" || (reason == nil && signedDate < beginning) }

    /// Whether both represent one period, because seats were added to it.
    func isOfSamePeriod(as other: TransactionFacts) -> Bool {
        productId == other.productId && expiresDate == other.expiresDate
            && (additionalTransactionReason != nil || other.additionalTransactionReason != nil)
    }

    /// When the revocation took effect: not after Apple signed it, even if its date is later.
    var revokedAt: Date? { revocationDate.map { min($0, signedDate) } }

    /// When the family or the buyer of seats stopped sharing. Nil where the buyer got a refund of this transaction: its
    /// period was over when it was revoked, or it has the reason of that refund, which is 0 where sharing ended.
    ///
    /// [revocationType](https://developer.apple.com/documentation/appstoreservernotifications/revocationtype),
    /// [revocationReason](https://developer.apple.com/documentation/appstoreserverapi/revocationreason)
    var sharingEndedAt: Date? {
        guard revocationType == "FAMILY_REVOKE" || revocationType == "ASSIGNMENT_REVOKE", revocationReason ?? 0 == 0,
            let revokedAt, revokedAt < expiresDate ?? .forever
        else { return nil }
        return revokedAt
    }
}
