import struct Foundation.Date
import struct Foundation.TimeInterval

/// Time between two paid periods of a subscription in which nothing was paid: Apple's `recentSubscriptionStartDate` ignores up to 60 days of it.
///
/// [recentSubscriptionStartDate](https://developer.apple.com/documentation/appstoreserverapi/recentsubscriptionstartdate)
public struct UnpaidSpan: Sendable, Equatable {
    /// When the paid time ended.
    public let start: Date
    /// When the customer paid again.
    public let end: Date

    /// The spans between the paid periods of one purchase, in order; a refund leaves its period paid here, for it was service.
    /// - Parameters:
    ///   - transactions: all of the purchase, in any order.
    ///   - early: how long before a period Apple may charge for it, see ``BillingRules/earlyRenewal(in:)``.
    package static func spans(
        between transactions: [TransactionVersion], renewal: RenewalFacts?, early: TimeInterval
    ) -> [UnpaidSpan] {
        let periods = PaidPeriod.all(transactions, renewal: renewal, early: early)
            .filter { $0.start < $0.end }.sorted { $0.start < $1.start }
        var spans: [UnpaidSpan] = []
        var end: Date?
        for period in periods {
            if let end, end < period.start { spans.append(UnpaidSpan(start: end, end: period.start)) }
            end = max(end ?? period.end, period.end)
        }
        return spans
    }
}
