import Foundation

/// How long one purchase of a non-renewing product gives access. Apple sends no duration, so an operator configures it.
///
/// Written as Apple writes
/// [offerPeriod](https://developer.apple.com/documentation/appstoreserverapi/offerperiod): a duration of ISO 8601 in one
/// unit, such as `P30D`, `P1M` or `PT12H`. Months and years are those of the Gregorian calendar in UTC: a month from 31
/// January ends on the last of February.
public struct ProductDuration: Sendable, Hashable, CustomStringConvertible {
    private var count: Int
    private var unit: Unit

    private enum Unit: String, CaseIterable {
        case hour = "H"
        case day = "D"
        case week = "W"
        case month = "M"
        case year = "Y"

        /// A hundred years: a longer duration is a mistake.
        var limit: Int {
            switch self {
            case .hour: 876_000
            case .day: 36_500
            case .week: 5200
            case .month: 1200
            case .year: 100
            }
        }
    }

    /// Nil where the text is not one positive number with one unit, or longer than a hundred years.
    public init?(_ iso8601: String) {
        let isTime = iso8601.hasPrefix("PT")
        guard iso8601.hasPrefix("P"), let letter = iso8601.last, let unit = Unit(rawValue: String(letter)),
            isTime == (unit == .hour)
        else { return nil }
        let digits = iso8601.dropFirst(isTime ? 2 : 1).dropLast()
        guard digits.allSatisfy({ $0.isASCII && $0.isNumber }), let count = Int(digits), 1...unit.limit ~= count else {
            return nil
        }
        (self.count, self.unit) = (count, unit)
    }

    /// A duration of days.
    public static func days(_ count: Int) -> ProductDuration { ProductDuration(count: count, unit: .day) }

    private init(count: Int, unit: Unit) { (self.count, self.unit) = (count, unit) }

    /// The ISO 8601 text, such as `P30D`.
    public var description: String { (unit == .hour ? "PT" : "P") + "\(count)\(unit.rawValue)" }

    /// The first moment without access after a purchase at `start`.
    public func end(from start: Date) -> Date {
        switch unit {
        case .hour: start.addingTimeInterval(Double(count) * 3600)
        case .day: start.addingTimeInterval(Double(count) * BillingRules.day)
        case .week: start.addingTimeInterval(Double(count) * 7 * BillingRules.day)
        case .month: Self.calendar.date(byAdding: .month, value: count, to: start) ?? .forever
        case .year: Self.calendar.date(byAdding: .year, value: count, to: start) ?? .forever
        }
    }

    private static let calendar: Calendar = {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        return calendar
    }()
}
