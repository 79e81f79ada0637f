import Contracts
import Foundation
import Subscriptions

/// A report over the figures of revenue: rows of spans of time, in the cells that were asked for.
package struct FigureReport: Sendable, Equatable {
    /// What it shows. Documentation/Insight.md defines each.
    package enum Name: String, Sendable, CaseIterable {
        case mrr, movements, churn, retention, trials, revenue, proceeds

        /// Whether amounts are in it, which are never added over currencies.
        var hasAmounts: Bool { self != .retention && self != .trials }

        /// Whether its rows need what was added up since the beginning.
        var isLevel: Bool { self == .mrr || self == .movements || self == .churn }

        /// True where its amounts can be converted to one currency.
        package var isConvertible: Bool { hasAmounts }

        /// The kinds that purchases add to it, apart from losses, which are those of movements.
        package var kinds: [PurchaseFigures.Kind] {
            switch self {
            case .mrr, .movements, .churn: [.new, .expansion, .contraction, .churn, .reactivation]
            case .retention: [.periods, .resubscribedPeriods, .unbrokenPeriods]
            case .trials: [.trialRunning, .trialEnded, .trialPaid]
            case .revenue, .proceeds: [.charge, .loyalCharge, .refund, .refundOfCharge]
            }
        }
    }

    /// By what rows are told apart.
    package enum Dimension: String, Sendable, CaseIterable {
        case app, product, storefront, currency, period, offer
    }

    /// The length of a row's time, in UTC.
    package enum Interval: String, Sendable, CaseIterable {
        case day, month

        private static let calendar: Calendar = {
            var calendar = Calendar(identifier: .gregorian)
            calendar.timeZone = .gmt
            return calendar
        }()

        /// The first moment of the interval that a moment is in.
        func start(of moment: Date) -> Date {
            Self.calendar.dateInterval(of: self == .day ? .day : .month, for: moment)?.start ?? moment
        }

        /// The first moment after the interval that a moment is in.
        func end(of start: Date) -> Date {
            let day = start.addingTimeInterval(86_400)
            return self == .day ? day : Self.calendar.dateInterval(of: .month, for: start)?.end ?? day
        }
    }

    /// What is asked.
    package struct Query: Sendable, Hashable {
        package var name: Name
        package var environment: StoreEnvironment
        /// Nil means all apps.
        package var bundleIds: [String]?
        /// First days of the first row and after the last row.
        package var days: Range<Date>
        package var interval: Interval
        package var dimensions: Set<Dimension>
        /// To which amounts are converted, of a report that is convertible; nil: each is in its own.
        package var reportingCurrency: String?

        package init(
            _ name: Name, in environment: StoreEnvironment, of bundleIds: [String]?, days: Range<Date>,
            by interval: Interval = .month, dimensions: Set<Dimension> = [], reportingCurrency: String? = nil
        ) {
            self.name = name
            self.environment = environment
            self.bundleIds = bundleIds
            self.days = days
            self.interval = interval
            self.reportingCurrency = name.isConvertible ? reportingCurrency : nil
            self.dimensions = name.hasAmounts ? dimensions.union([.currency]) : dimensions
            if name == .retention { self.dimensions.insert(.period) }
        }

        /// True where charges are read with the rates and taxes of their days.
        var isOfDailyCharges: Bool { name == .proceeds || name == .revenue && reportingCurrency != nil }

        /// True where its rows are converted once they are computed. Churn is computed from converted amounts.
        var isConvertedByRow: Bool { reportingCurrency != nil && (name == .mrr || name == .movements) }

        /// What is added up for it.
        var kinds: [String] {
            let lost: [PurchaseFigures.Kind] = [interval == .day ? .lostInDay : .lostInMonth]
            return (name == .churn ? name.kinds + lost : name.kinds).map(\.rawValue)
        }

        /// The times of its rows that begin or end within an interval, where more of it is known.
        /// - Parameter known: as of when the figures are.
        func cutSpans(at known: Date?) -> [Range<Date>] {
            spans.filter { span in
                span.lowerBound != interval.start(of: span.lowerBound)
                    || span.upperBound != interval.end(of: span.lowerBound)
                        && known.map { span.upperBound <= $0 } ?? true
            }
        }

        /// The times of its rows, in order: from the first day to the last, cut where an interval ends.
        package var spans: [Range<Date>] {
            var spans: [Range<Date>] = []
            var start = days.lowerBound
            while start < days.upperBound {
                let next = min(interval.end(of: start), days.upperBound)
                spans.append(start..<next)
                start = next
            }
            return spans
        }
    }

    /// The report has more rows, or is computed from more sums, than a program or a person can use.
    package struct TooLarge: Error, Equatable, CustomStringConvertible {
        package var limit: Int

        package var description: String {
            "the report is made of more than \(limit) sums: ask for a shorter time, by month, or by fewer dimensions"
        }
    }

    /// One figure.
    package enum Value: Sendable, Equatable {
        case count(Int64)
        /// Thousandths of a unit of the row's currency.
        case amount(Int64)
        /// From 0 to 1, or beyond; nil where there is nothing to divide by.
        case share(Double?)
    }

    package struct Row: Sendable, Equatable {
        /// The first day, and the first one after it.
        package var days: Range<Date>
        /// Whether every day of it is over and complete by coverage.
        package var isComplete: Bool
        /// In the order of `Dimension`; those that were asked for.
        package var cells: [(dimension: Dimension, value: String)]
        /// The same names in each row of a report.
        package var values: [(name: String, value: Value)]

        package static func == (left: Self, right: Self) -> Bool {
            left.days == right.days && left.isComplete == right.isComplete
                && left.cells.elementsEqual(right.cells) { $0 == $1 }
                && left.values.elementsEqual(right.values) { $0 == $1 }
        }
    }

    /// To which currency amounts were converted, and by which rates.
    package struct Conversion: Sendable, Equatable {
        /// ISO 4217 code.
        package var currency: String
        /// The rates of the report's time, by currency and source.
        package var rates: [Rates]

        /// The rates of one currency from one source.
        package struct Rates: Sendable, Equatable {
            /// ISO 4217 code.
            package var currency: String
            package var source: String
            /// The first and the last day that has a rate.
            package var days: ClosedRange<Date>
        }
    }

    package var name: Name
    /// As of when the figures are; nil while they are computed for the first time.
    package var asOf: Date?
    package var rows: [Row]
    /// Nil where each amount is in its own currency.
    package var conversion: Conversion?

    /// The currencies in whose rows amounts stay because they have no rate, in order.
    package var unconvertedCurrencies: [String] {
        guard let conversion else { return [] }
        return Set(rows.compactMap(\.currency)).subtracting([conversion.currency]).sorted()
    }
}

extension FigureReport.Row {
    /// Nil where rows are not told apart by it.
    var currency: String? { cells.first { $0.dimension == .currency }?.value }
}
