import Contracts
import Foundation
import Operations
import Postgres
import Storage

/// Six numbers of an app, with thirteen months each.
struct RevenueNumbers: Sendable {
    struct Figure: Sendable {
        let label: String
        let value: String
        let note: String
        let address: String
        let sparkline: Sparkline?
    }

    let figures: [Figure]
    /// In which the amounts are: that of most purchases that pay now, else of most charges; nil where nothing was paid, or where
    /// amounts are converted.
    let currency: String?
    /// The sources of the rates, and what is not in the amounts; nil where nothing is converted.
    let conversion: String?
    /// Nil while the figures are computed for the first time.
    let asOf: Date?

    private static let reports: [FigureReport.Name] = [.mrr, .movements, .churn, .trials, .revenue]

    /// Reads the reports one after another on one connection.
    /// - Parameter reporting: the currency to which amounts are converted; nil: those of one currency are shown.
    static func read(
        of app: CoverageStore.App, at now: Date, query: String, in reporting: String?,
        on connection: PostgresConnection
    ) async throws -> RevenueNumbers {
        var answers: [FigureReport.Name: Answer] = [:]
        for name in reports {
            // Of churn only purchases are shown, which add up over currencies.
            let isConverted = name.isConvertible && name != .churn
            var asked = try FigureQuestion(
                name, in: app.environment, of: [app.bundleId], currency: isConverted ? reporting : nil, at: now
            ).query
            if name == .churn { asked.dimensions = [] }
            answers[name] = Answer(query: asked, report: try await FigureReportStore(connection).report(asked))
        }
        let grace = try await FigureReportStore(connection).grace(in: app.environment, of: app.bundleId, at: now)
        return RevenueNumbers(answers, grace, query, in: reporting)
    }

    private struct Answer {
        let query: FigureReport.Query
        let report: FigureReport
    }

    private init(
        _ answers: [FigureReport.Name: Answer], _ grace: [FigureReportStore.Grace], _ query: String,
        in reporting: String?
    ) {
        asOf = answers[.mrr]?.report.asOf
        // Sums of a part of all purchases would be read as figures.
        let known = asOf != nil ? answers : [:]
        let unit =
            reporting ?? Self.currency(known[.mrr], by: "purchases") ?? Self.currency(known[.revenue], by: "charges")
        currency = reporting == nil ? unit : nil
        let left = Set(known.values.flatMap(\.report.unconvertedCurrencies)).sorted()
        conversion = known[.mrr]?.report.conversion.map { RevenueScreen.sentence($0, without: left) }
        func figure(
            _ label: String, _ name: FigureReport.Name, _ note: String, isLevel: Bool = false, beside: String = "",
            _ value: ([FigureReport.Row]) -> FigureReport.Value
        ) -> Figure {
            let spans = known[name]?.query.spans ?? []
            let rows = Dictionary(grouping: known[name]?.report.rows ?? [], by: \.days)
            let values = spans.map { value(rows[$0] ?? []) }
            func text(_ index: Int) -> String { values[index].text(in: unit ?? "") }
            func month(_ index: Int) -> String { RevenueSeries.name(spans[index], .month) }
            let last = values.count - 1
            let numbers = values.compactMap(\.number)
            return Figure(
                label: label, value: last < 0 ? "–" : text(last),
                note: last < 1
                    ? note
                    : isLevel
                        ? "\(note); \(text(last - 1)) at the end of \(month(last - 1))\(beside)"
                        : "\(note) \(month(last)) so far; \(text(last - 1)) \(note) \(month(last - 1))",
                address: "/revenue/\(name.rawValue)" + query,
                sparkline: Sparkline(numbers, "\(label) by month") { number in
                    switch values.last {
                    case .amount: Figures.amount(Int64((number * 1000).rounded()), unit ?? "")
                    case .share: FigureReport.Value.share(number).text
                    default: Figures.grouped(Int64(number))
                    }
                })
        }
        func total(_ rows: [FigureReport.Row], _ name: String) -> Int64 { rows.reduce(0) { $0 + $1.count(name) } }
        func amount(_ rows: [FigureReport.Row], _ name: String) -> Int64 {
            rows.first { $0.currency == unit }?.amount(name) ?? 0
        }
        figures = [
            figure("Paying purchases", .mrr, "now", isLevel: true) { .count(total($0, "purchases")) },
            figure("Monthly revenue", .mrr, "now", isLevel: true, beside: Self.text(grace)) {
                .amount(amount($0, "amount"))
            },
            figure("Net movement", .movements, "in") { .amount(amount($0, "endAmount") - amount($0, "startAmount")) },
            figure("Customers who left", .churn, "in") { $0.first?["customerChurn"] ?? .share(nil) },
            figure("Trials that were paid", .trials, "begun in") { $0.first?["conversion"] ?? .share(nil) },
            figure("Refunded", .revenue, "in") { .amount(amount($0, "refunded")) },
        ]
    }

    /// What waits for a charge that failed, each in its own currency; empty where nothing does.
    private static func text(_ grace: [FigureReportStore.Grace]) -> String {
        guard !grace.isEmpty else { return "" }
        let amounts = grace.map { Figures.amount($0.amount, $0.currency) }.joined(separator: ", ")
        let purchases = Int(clamping: grace.reduce(0) { $0 + $1.purchases })
        return "; not counted: \(amounts) of \(purchases.counted("purchase")) in a grace period now"
    }

    /// The currency of the newest row that has most.
    private static func currency(_ answer: Answer?, by name: String) -> String? {
        guard let rows = answer?.report.rows, let newest = rows.last?.days else { return nil }
        return rows.filter { $0.days == newest && $0.count(name) > 0 }
            .max { ($0.count(name), $1.currency) < ($1.count(name), $0.currency) }?.currency
    }
}

extension FigureReport.Row {
    fileprivate var currency: String { cells.first { $0.dimension == .currency }?.value ?? "" }
}
