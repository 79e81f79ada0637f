import Contracts
import Subscriptions

import struct Foundation.Date

/// How long a customer has been with a subscription group, by Apple's rules for `recentSubscriptionStartDate` and for
/// the 85/15 commission.
///
/// Gaps of up to 60 days (10 minutes outside of production) do not break the service; time in grace or billing retry is
/// a gap until the charge succeeds. Extensions count as paid, because a transaction does not show whether its end was
/// extended.
///
/// [recentSubscriptionStartDate](https://developer.apple.com/documentation/appstoreserverapi/recentsubscriptionstartdate)
package struct Loyalty: Sendable, Equatable {
    /// Start of the service without too long a gap, not after `now`; nil where there was no service.
    package let recentStart: Date?
    /// Seconds of paid service from ``recentStart`` to `now`, without the gaps.
    package let paidSeconds: Double
    /// When a year of paid service was, or by the paid periods will be, complete; from then on the developer keeps 85 %.
    /// Nil where less than a year is paid.
    package let reducedCommissionStart: Date?

    /// - Parameters:
    ///   - purchases: of one customer in one subscription group, in any order. Time that an upgrade cut off does not count.
    ///   - environment: the environment of the purchases.
    ///   - now: the moment to answer for. Service that has not begun does not count.
    package init(_ purchases: [PurchaseSnapshot], environment: StoreEnvironment, at now: Date) {
        let gap = BillingRules.loyaltyGap(in: environment)
        let early = BillingRules.earlyRenewal(in: environment)
        let all = purchases.flatMap {
            PaidPeriod.all(
                $0.versions.filter { $0.facts.kind == .autoRenewable }, renewal: $0.subscription.renewal, early: early)
        }
        let begun = all.map(\.service).filter { $0.start < $0.end && $0.start <= now }
        let run = ServicePeriod.runs(ServicePeriod.merging(begun), gap: gap).last
        // Where earlier transactions are unknown Apple's date reaches further back than they do.
        let signedStarts = purchases.compactMap { $0.subscription.renewal?.recentSubscriptionStartDate }
            .filter { $0 <= now }
        recentStart = ([run?.first?.start].compactMap(\.self) + signedStarts).min()
        guard let recentStart else {
            paidSeconds = 0
            reducedCommissionStart = nil
            return
        }
        let periods = all.filter(\.facts.isPaid).map(\.service).filter { $0.start >= recentStart }
        let runs = ServicePeriod.runs(ServicePeriod.merging(periods), gap: gap)
        let paid = runs.last { $0.first.map { $0.start <= now } ?? false } ?? []
        paidSeconds = paid.reduce(0) { $0 + max(0, min($1.end, now).timeIntervalSince($1.start)) }
        reducedCommissionStart = Self.moment(after: BillingRules.reducedCommissionDays * BillingRules.day, in: paid)
    }

    /// Whole days of paid service.
    package var paidDays: Int { Int(min(paidSeconds / BillingRules.day, 1e9)) }

    private static func moment(after seconds: Double, in paid: [ServicePeriod]) -> Date? {
        var left = seconds
        for period in paid {
            if period.length >= left { return period.start.addingTimeInterval(left) }
            left -= period.length
        }
        return nil
    }
}
