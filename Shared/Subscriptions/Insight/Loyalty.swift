import Contracts

import struct Foundation.Date

/// How long a customer has been with a subscription group, by Apple's rules for `recentSubscriptionStartDate` and for
/// the 85/15 commission.
///
/// Gaps of up to 60 days (10 minutes outside of production) do not break the service; time in grace or billing retry is
/// a gap until the charge goes through. Extensions count as if they were paid for, because the transaction does not
/// tell them from what was bought.
public struct Loyalty: Sendable, Equatable {
    /// Start of the service without too long a gap, before or at the clock; nil where there was none.
    public let recentStart: Date?
    /// Seconds of paid service since ``recentStart``, up to the clock, without the gaps.
    public let paidSeconds: Double
    /// When a year of paid service was, or will be with what is paid for, complete; from then on the developer keeps
    /// 85 %. Nil where what is paid for is less.
    public let reducedCommissionStart: Date?

    /// - Parameters:
    ///   - purchases: of one customer in one subscription group, in any order. Time that an upgrade cut off does not count.
    ///   - environment: theirs.
    ///   - now: the clock. Service that has not begun does not count.
    public init(_ purchases: [PurchaseSnapshot], environment: StoreEnvironment, at now: Date) {
        let gap = BillingRules.loyaltyGap(in: environment)
        let early = BillingRules.earlyRenewal(in: environment)
        let all = purchases.flatMap {
            PaidPeriod.all(
                $0.versions.filter { $0.facts.kind == .autoRenewable }, renewal: $0.subscription.renewal, early: early)
        }
        let begun = all.map(\.service).filter { $0.start < $0.end && $0.start <= now }
        let run = ServicePeriod.runs(ServicePeriod.merging(begun), gap: gap).last
        // Where earlier transactions are unknown Apple's date reaches further back than they do.
        let told = purchases.compactMap { $0.subscription.renewal?.recentSubscriptionStartDate }.filter { $0 <= now }
        recentStart = ([run?.first?.start].compactMap(\.self) + told).min()
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

    /// Days of paid service, whole ones.
    public var paidDays: Int { Int(min(paidSeconds / BillingRules.day, 1e9)) }

    private static func moment(after seconds: Double, in paid: [ServicePeriod]) -> Date? {
        var left = seconds
        for period in paid {
            if period.length >= left { return period.start.addingTimeInterval(left) }
            left -= period.length
        }
        return nil
    }
}
