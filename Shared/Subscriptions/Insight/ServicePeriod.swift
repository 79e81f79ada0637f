import struct Foundation.Date
import struct Foundation.TimeInterval

/// An unbroken stretch of service: from the first purchase to the end of the last period without any gap between.
struct ServicePeriod: Sendable, Equatable {
    var start: Date
    var end: Date

    var length: TimeInterval { end.timeIntervalSince(start) }

    /// Stretches in order of time, those that touch or overlap as one.
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

    /// The same, cut into runs wherever a gap is longer than allowed.
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
    /// The time that the transaction gave, up to a revocation or to the purchase that took its place.
    var service: ServicePeriod { ServicePeriod(start: max(start, facts.beginning), end: end) }
}

extension TransactionFacts {
    /// Whether the time was paid for: neither a free trial, nor the family's, nor a period whose price was given back
    /// whole.
    var isPaid: Bool {
        guard !isFamilyShared, offerDiscountType != "FREE_TRIAL", (priceMilliunits ?? 1) > 0 else { return false }
        return revocationDate == nil || revocationType == "REFUND_PRORATED"
    }
}
