import Foundation
import Subscriptions

/// What the received facts say about moments before the newest event.
extension AccessReference {
    /// The answers for a moment before the newest event. From the newest status on the present counts as well; before it, what
    /// transactions paid for and the grace periods that Apple had granted.
    func pastAnswers(at moment: Date) -> Set<String?> {
        // What the renewal info of that time said is not known any more.
        var answers = unclearSandboxAnswers(at: moment)
        if let status, status.version.signedDate <= moment { answers.formUnion(certainAnswers(at: moment)) }
        let product = paid(at: moment)?.productId
        if product == nil, let next = renewalOfUnknownPeriod(after: moment) { answers.insert(next.productId) }
        return answers.union(product.map { [$0] } ?? graces(at: moment))
    }

    func graces(at moment: Date) -> Set<String?> {
        let told = Dictionary(grouping: events.filter { $0.renewal?.gracePeriodExpiresDate != nil }) {
            $0.renewal?.gracePeriodExpiresDate ?? .distantPast
        }
        var answers: Set<String?> = []
        for (end, mentions) in told where moment < end {
            let newest = mentions.max { left, right in
                guard let a = left.renewal?.signedDate, let b = right.renewal?.signedDate, a != b else {
                    return left.version < right.version
                }
                return a < b
            }
            guard let newest, let signed = newest.renewal?.signedDate else { continue }
            answers.formUnion(
                answersInGrace(until: end, newest, signed, due: due(in: mentions, before: end), at: moment))
        }
        return answers.isEmpty ? [nil] : answers
    }

    /// The end of the period whose renewal failed. A notification about a refund may hold an older transaction.
    func due(in mentions: [PurchaseEvent], before end: Date) -> Date? {
        mentions.compactMap { event in
            if let date = event.renewal?.renewalDate { return date < end ? date : nil }
            let isAboutRefund = [
                "REFUND", "REFUND_REVERSED", "REFUND_DECLINED", "CONSUMPTION_REQUEST", "REVOKE",
            ].contains(event.notificationType)
            return isAboutRefund ? nil : event.transaction?.expiresDate
        }.max()
    }

    func answersInGrace(
        until end: Date, _ newest: PurchaseEvent, _ signed: Date, due: Date?, at moment: Date
    ) -> Set<String?> {
        // Refunded before it began and before Apple named the grace period.
        func isUndone(_ one: TransactionFacts) -> Bool {
            guard isRenewal(one), let from = one.purchaseDate, let revoked = one.revocationDate else { return false }
            return min(revoked, one.signedDate) <= min(from, signed)
        }
        func isSinceDue(_ one: TransactionFacts) -> Bool {
            guard let from = one.purchaseDate, !isUndone(one) else { return false }
            return from > signed || due.map { from >= $0 } ?? false
        }
        let before = transactions.filter { !isSinceDue($0) && !isUndone($0) }
        let last = before.max { ($0.purchaseDate ?? .distantPast) < ($1.purchaseDate ?? .distantPast) }
        // An upgrade ended it at the latest when Apple signed that.
        let over = last.flatMap {
            $0.isUpgraded ? [$0.expiresDate, $0.signedDate].compactMap(\.self).min() : $0.expiresDate
        }
        let from = due ?? over ?? signed
        // Signed before the end of an unknown period, it says that this period runs.
        let isKnown =
            due.map { due in
                before.contains { $0.expiresDate.map { abs($0.timeIntervalSince(due)) < 1 } ?? false }
            } ?? !before.isEmpty
        guard (isKnown ? from : min(from, signed)) <= moment else { return [nil] }
        if transactions.contains(where: { isSinceDue($0) && ($0.purchaseDate ?? moment) <= moment }) { return [nil] }
        // Denied: the period is over, and there is no grace period.
        let denials = events.filter { event in
            let isDenied = event.status == 2 || event.status == 5
            let hasNone = event.renewal.map { $0.gracePeriodExpiresDate == nil } ?? false
            guard isDenied || hasNone, let over = event.renewal?.renewalDate ?? event.transaction?.expiresDate
            else { return false }
            let at = isDenied ? event.version.signedDate : event.renewal?.signedDate ?? event.version.signedDate
            let isOfPeriod =
                event.renewal?.renewalDate != nil && event.transaction?.additionalTransactionReason == nil
                || ["REFUND", "REVOKE"].contains(event.notificationType)
            let isOutlived = event.transaction?.revocationDate.map { date in
                event.renewal.map { $0.gracePeriodExpiresDate != nil && date <= $0.signedDate } ?? false
            }
            let revoked = event.transaction.flatMap {
                isOfPeriod && $0.expiresDate == over && isOutlived != true ? $0.revocationDate : nil
            }
            let since = min(at, revoked ?? at)
            // No grace period is longer than 28 days: what is about a period that ended earlier is about no grace period now.
            // Of two renewal infos of one moment the one with the grace period counts.
            return (isDenied ? signed <= since : signed < since) && since <= moment
                && since.timeIntervalSince(over) < 28 * 86_400
                && (over <= since || revoked != nil || event.status == 5)
        }
        if !denials.isEmpty { return [nil] }
        let ended = paid(at: from.addingTimeInterval(-0.001))
        var answers: Set<String?> = [newest.renewal?.productId ?? ended?.productId ?? last?.productId]
        // Another renewal info without it, or a revocation, may have closed it.
        if events.contains(where: { event in
            guard let other = event.renewal, other.gracePeriodExpiresDate != end else { return false }
            return signed <= other.signedDate && other.signedDate <= moment
        })
            || transactions.contains(where: { one in
                one.revocationDate.map { $0 <= moment } ?? false && one.expiresDate == last?.expiresDate
            })
        {
            answers.insert(nil)
        }
        return answers
    }
}
