import Foundation
import Operations
import Storage

/// One figure of one cell of a report, over all of its time.
struct RevenueSeries: Sendable {
    /// What the cell is, such as product and currency; empty where there is only one.
    let cell: String
    /// Whether the report has other cells.
    let isOneOfSeveral: Bool
    let values: [Chart.Value]

    /// The cell that concerns most purchases over the time of the report, the first by name of several; nil for a report without rows.
    init?(_ query: FigureReport.Query, _ report: FigureReport) {
        let cells = Dictionary(grouping: report.rows, by: { $0.cells.map(\.value) })
        func weight(_ rows: [FigureReport.Row]) -> Int64 { rows.reduce(0) { $0 + $1.weight(in: report.name) } }
        let heaviest = cells.max { left, right in
            let (light, heavy) = (weight(left.value), weight(right.value))
            return light == heavy
                ? right.key.lexicographicallyPrecedes(left.key) : light < heavy
        }
        guard let heaviest else { return nil }
        self.init(query, report, where: { $0.cells.map(\.value) == heaviest.key })
    }

    /// The cell of these rows.
    init(_ query: FigureReport.Query, _ report: FigureReport, where isIncluded: (FigureReport.Row) -> Bool) {
        var rows = report.rows.filter(isIncluded)
        cell = (rows.first?.cells ?? []).map(\.value).filter { !$0.isEmpty }.joined(separator: ", ")
        isOneOfSeveral = report.rows.contains { !isIncluded($0) }
        let currency = rows.first?.cells.first { $0.dimension == .currency }?.value ?? ""
        guard report.name != .retention else {
            // One line for one cohort: the first, which has had most time.
            rows = rows.filter { $0.days == rows.first?.days }
            values = rows.map { row in Self.value(row, report.name, "period \(row["step"]?.text ?? "")", currency) }
            return
        }
        let known = Dictionary(rows.map { ($0.days, $0) }, uniquingKeysWith: { first, _ in first })
        values = query.spans.map { span in
            Self.value(known[span], report.name, Self.name(span, query.interval), currency)
        }
    }

    /// `2026-10`, or `2026-10-31`.
    static func name(_ span: Range<Date>, _ interval: FigureReport.Interval) -> String {
        let day = FigureQuestion.text(span.lowerBound)
        return interval == .month ? String(day.prefix(7)) : day
    }

    private static func value(
        _ row: FigureReport.Row?, _ report: FigureReport.Name, _ name: String, _ currency: String
    ) -> Chart.Value {
        // A cell without a row earned nothing, and has nothing that a share could be of.
        let value = row.map { $0.charted(in: report) } ?? (report.chartsAmounts ? .amount(0) : .share(nil))
        return Chart.Value(
            name: name, number: value.number, text: value.text(in: currency), isComplete: row?.isComplete ?? true)
    }
}

extension FigureReport.Name {
    /// Whether its chart is of amounts, not of shares.
    fileprivate var chartsAmounts: Bool { self == .mrr || self == .movements || self == .revenue || self == .proceeds }
}

extension FigureReport.Row {
    subscript(_ name: String) -> FigureReport.Value? { values.first { $0.name == name }?.value }

    func count(_ name: String) -> Int64 { if case .count(let count)? = self[name] { count } else { 0 } }

    func amount(_ name: String) -> Int64 { if case .amount(let amount)? = self[name] { amount } else { 0 } }

    /// How many purchases it concerns.
    fileprivate func weight(in report: FigureReport.Name) -> Int64 {
        switch report {
        case .mrr: count("purchases")
        case .movements: values.reduce(0) { if case .count(let count) = $1.value { $0 + count } else { $0 } }
        case .churn: count("purchasesAtStart")
        case .retention: count("hadTime")
        case .trials: count("begun")
        case .revenue: count("charges")
        // It counts nothing; what was charged decides between cells.
        case .proceeds: amount("charged")
        }
    }

    /// The figure that a report is about.
    fileprivate func charted(in report: FigureReport.Name) -> FigureReport.Value {
        switch report {
        case .mrr: .amount(amount("amount"))
        case .movements: .amount(amount("endAmount") - amount("startAmount"))
        case .churn: self["customerChurn"] ?? .share(nil)
        case .retention: self["retention"] ?? .share(nil)
        case .trials: self["conversion"] ?? .share(nil)
        case .revenue: .amount(amount("charged"))
        case .proceeds: .amount(amount("estimatedProceeds"))
        }
    }
}

extension FigureReport.Value {
    /// For a chart.
    var number: Double? {
        switch self {
        case .count(let number): Double(number)
        case .amount(let amount): Double(amount) / 1000
        case .share(let share): share
        }
    }

    /// The value with its unit, short.
    func text(in currency: String) -> String {
        switch self {
        case .count(let count): Figures.grouped(count)
        case .amount(let amount): Figures.amount(amount, currency)
        case .share: text
        }
    }
}
