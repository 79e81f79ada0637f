import Subscriptions

import struct Foundation.Date
import struct Foundation.TimeInterval

/// A time of service without a gap: from the first purchase to the end of the last period.
struct ServicePeriod: Sendable, Equatable {
    var start: Date
    var end: Date

    var length: TimeInterval { end.timeIntervalSince(start) }

    /// The periods in order of time, with those that touch or overlap merged.
    static func merging(_ periods: some Sequence<ServicePeriod>) -> [ServicePeriod] {
        periods.filter { $0.start < $0.end }.sorted { ($0.start, $0.end) < ($1.start, $1.end) }
            .reduce(into: []) { merged, period in
                if let last = merged.last, period.start <= last.end {
                    merged[merged.count - 1].end = max(last.end, period.end)
                } else {
                    merged.append(period)
                }
            }
    }

    /// The periods in runs, split at gaps that are longer than `gap`.
    static func runs(_ periods: [ServicePeriod], gap: TimeInterval) -> [[ServicePeriod]] {
        periods.reduce(into: []) { runs, period in
            if let last = runs.last?.last, period.start.timeIntervalSince(last.end) <= gap {
                runs[runs.count - 1].append(period)
            } else {
                runs.append([period])
            }
        }
    }
}

extension PaidPeriod {
    /// The time of service by the transaction, up to a revocation or to the purchase that replaced it.
    var service: ServicePeriod { ServicePeriod(start: max(start, facts.beginning), end: end) }
}

extension TransactionFacts {
    /// True where the time was paid for: not by a free trial, family sharing, an assigned seat, or a price that was refunded
    /// in full.
    var isPaid: Bool {
        guard !isPaidElsewhere, offerDiscountType != "FREE_TRIAL", (priceMilliunits ?? 1) > 0 else { return false }
        return revocationDate == nil || revocationType == "REFUND_PRORATED"
    }
}
