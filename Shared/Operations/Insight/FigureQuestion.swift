import Contracts
import Foundation
import Storage

/// What a person or a backend asks of the figures of revenue, as text.
package struct FigureQuestion: Sendable {
    /// Thirteen months, so that a month is seen beside the same one a year before.
    private static let months = 13
    /// Rows of a report are kept to what people and programs read at once.
    private static let longestDays = 400
    private static let longestMonths = 120

    package let query: FigureReport.Query

    /// - Parameters:
    ///   - from: first day, such as `2026-01-31`; nil: twelve months before the month of `to`.
    ///   - to: the day after the last; nil: tomorrow.
    ///   - dimensions: up to two, separated by commas.
    ///   - currency: ISO 4217 code to which amounts are converted; nil: each is in its own.
    /// - Throws: `OperationError` with what is wrong.
    package init(
        _ name: FigureReport.Name, in environment: StoreEnvironment, of bundleIds: [String]?, from: String? = nil,
        to: String? = nil, interval: FigureReport.Interval = .month, by dimensions: String? = nil,
        currency: String? = nil, at now: Date
    ) throws(OperationError) {
        let today = Self.calendar.startOfDay(for: now)
        let end =
            try to.map { (text) throws(OperationError) in try Self.day(text, "to") } ?? today.addingTimeInterval(86_400)
        let last = end.addingTimeInterval(-86_400)
        let month = Self.calendar.dateInterval(of: .month, for: last)?.start ?? last
        let first =
            try from.map { (text) throws(OperationError) in try Self.day(text, "from") }
            ?? Self.calendar.date(byAdding: .month, value: 1 - Self.months, to: month) ?? month
        guard first < end else {
            throw OperationError("from \(Self.text(first)) is not before to \(Self.text(end))", .invalid("from"))
        }
        let days = Int(end.timeIntervalSince(first) / 86_400)
        guard days <= (interval == .day ? Self.longestDays : Self.longestMonths * 31) else {
            let limit =
                interval == .day
                ? "\(Self.longestDays) days, or \(Self.longestMonths) months by month" : "\(Self.longestMonths) months"
            throw OperationError("\(days) days are too many: ask for at most \(limit)", .invalid("from"))
        }
        var chosen: Set<FigureReport.Dimension> = []
        for text in (dimensions ?? "").split(separator: ",") {
            guard let dimension = FigureReport.Dimension(rawValue: String(text)) else {
                throw OperationError(
                    "“\(text.prefix(50))” is no dimension: give "
                        + FigureReport.Dimension.allCases.map(\.rawValue).joined(separator: ", "), .invalid("by"))
            }
            chosen.insert(dimension)
        }
        guard chosen.count <= 2 else {
            throw OperationError("\(chosen.count) dimensions are too many: give at most two", .invalid("by"))
        }
        if let currency {
            guard name.isConvertible else {
                throw OperationError(
                    "\(name.rawValue) has no amounts that can be added in one currency: leave the currency out",
                    .invalid("currency"))
            }
            try CurrencyCode.check(currency, "currency")
        }
        query = FigureReport.Query(
            name, in: environment, of: bundleIds, days: first..<end, by: interval, dimensions: chosen,
            reportingCurrency: currency)
    }

    /// The first moment of a day in UTC.
    /// - Parameter name: of the value, for the error.
    static func day(_ text: String, _ name: String) throws(OperationError) -> Date {
        guard let date = try? Date.ISO8601FormatStyle().year().month().day().parse(text), self.text(date) == text else {
            throw OperationError("\(name) “\(text.prefix(50))” is no day such as 2026-01-31", .invalid(name))
        }
        return date
    }

    /// A day as `2026-01-31`.
    package static func text(_ day: Date) -> String { day.formatted(Date.ISO8601FormatStyle().year().month().day()) }

    private static let calendar: Calendar = {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        return calendar
    }()
}

extension FigureReport {
    /// The names of the columns of a table of it.
    package var columns: [String] {
        ["from", "to", "complete"]
            + (rows.first.map { $0.cells.map(\.dimension.rawValue) + $0.values.map(\.name) } ?? [])
    }
}

extension FigureReport.Row {
    /// The cells of a table, under the columns of the report; amounts in units of currency.
    package var texts: [String] {
        [FigureQuestion.text(days.lowerBound), FigureQuestion.text(days.upperBound), isComplete ? "yes" : "no"]
            + cells.map(\.value) + values.map(\.value.text)
    }
}

extension FigureReport.Value {
    /// As people read it: 12.990, 31.4 %, – where there is nothing to divide by.
    package var text: String {
        switch self {
        case .count(let count): "\(count)"
        case .amount(let amount):
            (amount < 0 ? "-" : "") + "\(amount.magnitude / 1000)."
                + String("\(amount.magnitude % 1000 + 1000)".dropFirst())
        case .share(let share?): "\((share * 1000).rounded() / 10) %"
        case .share(nil): "–"
        }
    }
}
