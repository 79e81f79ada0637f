import Contracts

import struct Foundation.TimeInterval

/// The nominal length of what one payment covers, such as a week or three months.
package struct BillingPeriod: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// Exactly one of the two is not zero.
    private let months: Int64
    private let days: Int64

    private init(months: Int64) { (self.months, days) = (months, 0) }
    private init(days: Int64) { (months, self.days) = (0, days) }

    /// A period as Apple writes
    /// [offerPeriod](https://developer.apple.com/documentation/appstoreserverapi/offerperiod), such as `P3M`. Nil for other texts and
    /// for more than ten years.
    package init?(_ iso8601: String) {
        guard iso8601.hasPrefix("P"), let unit = iso8601.last, let count = Int64(iso8601.dropFirst().dropLast()),
            count > 0
        else { return nil }
        switch unit {
        case "D" where count <= 3650: self.init(days: count)
        case "W" where count <= 520: self.init(days: count * 7)
        case "M" where count <= 120: self.init(months: count)
        case "Y" where count <= 10: self.init(months: count * 12)
        default: return nil
        }
    }

    /// The longest of Apple's periods that fits into a length. An extension makes a period longer, never shorter; a shorter one than
    /// a week is one of three days. Outside of production Apple counts in minutes, here with a month of five.
    /// - Parameter seconds: from purchase to expiry.
    init(fitting seconds: TimeInterval, in environment: StoreEnvironment) {
        let lengths = environment == .production ? Self.calendarDays : Self.sandboxMinutes
        let unit: TimeInterval = environment == .production ? BillingRules.day : 60
        // A month from 31 January has 28 days; summer time and fractions of a second take no more than the tolerance.
        let tolerance = environment == .production ? BillingRules.day : 30
        self = lengths.first { Double($0.length) * unit - tolerance <= seconds }?.period ?? .threeDays
    }

    private static let threeDays = BillingPeriod(days: 3)
    private static let calendarDays: [(length: Int, period: BillingPeriod)] = [
        (365, BillingPeriod(months: 12)), (181, BillingPeriod(months: 6)), (89, BillingPeriod(months: 3)),
        (59, BillingPeriod(months: 2)), (28, BillingPeriod(months: 1)), (7, BillingPeriod(days: 7)),
    ]
    private static let sandboxMinutes: [(length: Int, period: BillingPeriod)] = [
        (60, BillingPeriod(months: 12)), (30, BillingPeriod(months: 6)), (15, BillingPeriod(months: 3)),
        (10, BillingPeriod(months: 2)), (5, BillingPeriod(months: 1)), (3, BillingPeriod(days: 7)),
    ]

    /// One month.
    static let month = BillingPeriod(months: 1)

    /// The ISO 8601 text, such as `P1W`, in the largest unit that counts it whole.
    package var description: String {
        if months > 0 { return months % 12 == 0 ? "P\(months / 12)Y" : "P\(months)M" }
        return days % 7 == 0 ? "P\(days / 7)W" : "P\(days)D"
    }

    /// The share of a price that counts for one month, rounded once, halves up. A month has 365.25 / 12 days, so a week's price counts
    /// 365.25 / 84 times.
    /// - Parameter price: thousandths of a unit of currency. Zero for negative prices, and for one that does not fit.
    package func monthly(_ price: Int64) -> MonthlyValue {
        let exact: (Int64, Int64) = months > 0 ? (1, months) : (1461, 48 * days)
        // RevenueCat counts a week four times and three days ten times.
        let whole: (Int64, Int64) = months > 0 ? (1, months) : days == 3 ? (10, 1) : (28, days)
        return MonthlyValue(
            amount: Self.rounded(price, times: exact), revenueCatAmount: Self.rounded(price, times: whole))
    }

    private static func rounded(_ price: Int64, times factor: (Int64, Int64)) -> Int64 {
        let (product, overflows) = price.multipliedReportingOverflow(by: factor.0)
        guard price > 0, !overflows, product <= Int64.max - factor.1 else { return 0 }
        return (product + factor.1 / 2) / factor.1
    }

    /// Orders by length.
    package static func < (left: Self, right: Self) -> Bool { left.hours < right.hours }

    /// The average length, seconds. Outside of production Apple counts a month in five minutes and a week in three.
    package func length(in environment: StoreEnvironment) -> TimeInterval {
        environment == .production ? Double(hours) * 3600 : Double(months * 300) + Double(days * 180) / 7
    }

    /// The longest that so many of it in a row may last, seconds: a month has up to 31 days and a year up to 366.
    package func longest(_ count: Int64, in environment: StoreEnvironment) -> TimeInterval {
        guard environment == .production else { return Double(count) * length(in: environment) }
        let months = months * count
        return Double(months / 12 * 366 + months % 12 * 31 + days * count) * BillingRules.day
    }

    private var hours: Int64 { months * 1461 / 2 + days * 24 }
}

/// What running paid periods earn a month, in thousandths of a unit of one currency.
package struct MonthlyValue: Sendable, Hashable, AdditiveArithmetic {
    /// By exact months.
    package var amount: Int64
    /// With RevenueCat's factors: a week counts four times, three days ten times.
    package var revenueCatAmount: Int64

    package init(amount: Int64, revenueCatAmount: Int64) {
        (self.amount, self.revenueCatAmount) = (amount, revenueCatAmount)
    }

    package static let zero = MonthlyValue(amount: 0, revenueCatAmount: 0)

    package static func + (left: Self, right: Self) -> Self {
        MonthlyValue(
            amount: left.amount + right.amount, revenueCatAmount: left.revenueCatAmount + right.revenueCatAmount)
    }

    package static func - (left: Self, right: Self) -> Self {
        MonthlyValue(
            amount: left.amount - right.amount, revenueCatAmount: left.revenueCatAmount - right.revenueCatAmount)
    }
}
