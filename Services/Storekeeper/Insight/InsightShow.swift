import ArgumentParser
import Commands
import Contracts
import Foundation
import Operations
import Storage

/// `storekeeper insight show`: a report.
struct InsightShow: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show a report of revenue.",
        discussion: """
            Reports: mrr (monthly revenue at the end of each month), movements (why it changed), churn, retention, trials, \
            revenue (charges and refunds), proceeds (an estimate of what Apple pays). Documentation/Insight.md defines each. \
            Amounts are of one currency each, with three decimals; --currency converts them by the loaded rates. Column complete: every day of the row is over and complete by coverage.

            Examples:
              storekeeper insight show mrr --app com.example.app
              storekeeper insight show movements --from 2026-01-01 --to 2026-04-01 --by product
              storekeeper insight show revenue --by storefront --csv
              storekeeper insight show proceeds --currency USD
            """)

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    @Argument(help: "\(FigureReport.Name.allCases.map(\.rawValue).joined(separator: ", ")).")
    var report: FigureReport.Name

    @OptionGroup var scope: InsightDaysOptions

    @Option(help: "Time of a row: day or month.")
    var interval = FigureReport.Interval.month

    @Option(
        help:
            "Up to two, separated by commas: \(FigureReport.Dimension.allCases.map(\.rawValue).joined(separator: ", "))."
    )
    var by: String?

    @Option(help: "Currency to which amounts are converted, such as USD (default: each in its own).")
    var currency: String?

    @Flag(help: "Print comma-separated values.")
    var csv = false

    func run(in context: CommandContext) async throws {
        let question: FigureQuestion
        do {
            question = try FigureQuestion(
                report, in: scope.environment, of: scope.bundleIds, from: scope.from, to: scope.to, interval: interval,
                by: by,
                currency: currency, at: context.now())
        } catch { throw ValidationError("\(error)") }
        let connection = try database.connection(for: "insight", in: context)
        if let app = scope.app { try await KnownAppsWarning(connection: connection).warn(about: app, in: context) }
        let answer: FigureReport
        do {
            answer = try await FigureReportStore(connection).report(question.query)
        } catch let error as FigureReport.TooLarge {
            throw CommandError("\(error)")
        }
        for currency in answer.unconvertedCurrencies {
            context.warn("No rate of \(currency.escaped): its amounts are in rows of their own.")
        }
        if let conversion = answer.conversion, conversion.rates.isEmpty, !answer.unconvertedCurrencies.isEmpty {
            context.warn(
                "No rate in \(conversion.currency) is loaded for this time: load some with "
                    + "storekeeper insight rates load.")
        }
        guard !csv else {
            // Sums of a part of all purchases would be read as figures, and no column says as of when they are.
            guard answer.asOf != nil else {
                throw CommandError(
                    "the figures are not complete yet: the scheduler computes every purchase once after an upgrade; try again later"
                )
            }
            return ([answer.columns] + answer.rows.map(\.texts)).forEach { line in
                context.print(line.map(\.csvField).joined(separator: ","))
            }
        }
        guard !output.json else { return try output.print(json: Printed(answer), in: context) }
        guard let asOf = answer.asOf else {
            return context.print("The figures are not complete yet: the scheduler computes every purchase once.")
        }
        guard !answer.rows.isEmpty else { return context.print("Nothing to show.") }
        let names = answer.rows[0].cells.count + 3
        TextTable(
            columns: answer.columns.enumerated().map {
                $0.offset < names ? .init(stringLiteral: $0.element) : .number($0.element)
            },
            rows: answer.rows.map(\.texts)
        ).lines(in: context.style).forEach(context.print)
        context.print("As of \(asOf.text).")
        let sources = Set((answer.conversion?.rates ?? []).map(\.source)).sorted()
        if !sources.isEmpty { context.print("Rates: \(sources.joined(separator: ", ").escaped).") }
    }

    private struct Printed: Encodable {
        var report: String
        var asOf: Date?
        var rows: [[String: String]]
        /// To which amounts were converted.
        var currency: String?
        var rates: [String]?
        var unconverted: [String]?

        init(_ answer: FigureReport) {
            report = answer.name.rawValue
            asOf = answer.asOf
            if let conversion = answer.conversion {
                currency = conversion.currency
                rates = Set(conversion.rates.map(\.source)).sorted()
                unconverted = answer.unconvertedCurrencies
            }
            rows = answer.rows.map { row in
                Dictionary(zip(answer.columns, row.texts), uniquingKeysWith: { first, _ in first })
            }
        }
    }
}

extension FigureReport.Name: ExpressibleByArgument {}
extension FigureReport.Interval: ExpressibleByArgument {}
