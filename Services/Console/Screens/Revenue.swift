import Contracts
import Foundation
import Operations
import Storage

/// Figures of revenue: six numbers with thirteen months, and a page for each report.
struct RevenueScreen: Sendable {
    struct Numbers: Sendable {
        let figures: [RevenueNumbers.Figure]
        let currency: String?
        /// To which amounts are converted, as it was asked; empty where they are not.
        let reporting: String
        /// The sources of the rates, and what is not in the amounts; nil where nothing is converted.
        let conversion: String?
        let choices: [Scope.Choice]
        let hasChoices: Bool
        let state: String?
        let asOf: Moment?
        /// The page of what changed after it was reported; nil where there is no app.
        let corrections: String?
    }

    struct Tab: Sendable {
        let label: String
        let address: String
        let isCurrent: Bool
    }

    struct Option: Sendable {
        let value: String
        let label: String
        let isCurrent: Bool
    }

    struct Cell: Sendable {
        let text: String
        let isNumber: Bool
        /// The purchases behind it.
        var address: String?
    }

    struct Line: Sendable {
        let cells: [Cell]
        let isOpen: Bool
    }

    struct Page: Sendable {
        let heading: String
        let definition: String
        let report: String
        let tabs: [Tab]
        let choices: [Scope.Choice]
        let hasChoices: Bool
        let dimensions: [Option]
        let intervals: [Option]
        let isConvertible: Bool
        /// To which amounts are converted; empty where each is in its own.
        let currency: String
        /// The currencies that are not converted, and the sources of the rates; nil where nothing is converted.
        let conversion: String?
        let chart: Chart?
        /// What the chart shows of several; nil where there is nothing else.
        let charted: String?
        let columns: [Cell]
        let rows: [Line]
        /// How many rows there are, where the page has not all.
        let allRows: Int?
        let limit: Int
        let state: String?
        let asOf: Moment?
        let csv: String
        /// The page of what changed after it was reported; nil where there is no app.
        let corrections: String?
    }

    private static let shownRows = 1000

    let console: Console

    /// `GET /revenue`
    func index(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let scope = try await scope(request)
        let now = console.clock.now()
        let reporting = request.text("currency")
        let query = FormFields.query([("scope", scope.app.map(Scope.value)), ("currency", reporting)])
        var numbers: RevenueNumbers?
        if let app = scope.app {
            numbers = try await console.database.withConnection {
                try await RevenueNumbers.read(of: app, at: now, query: query, in: reporting, on: $0)
            }
        }
        return console.page(
            "revenue", "Revenue",
            Numbers(
                figures: numbers?.figures ?? [], currency: numbers?.currency, reporting: reporting ?? "",
                conversion: numbers?.conversion, choices: scope.choices,
                hasChoices: !scope.choices.isEmpty, state: Self.state(scope, numbers?.asOf),
                asOf: numbers?.asOf.map { Moment($0, now: now) }, corrections: RevenueCorrections.address(of: scope)),
            request)
    }

    /// `GET /revenue/{report}`, and the same with `.csv`.
    func show(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let path = request.parameters["report"] ?? ""
        let isCSV = path.hasSuffix(".csv")
        guard let name = FigureReport.Name(rawValue: isCSV ? String(path.dropLast(4)) : path) else {
            throw Fault.notFound("There is no such report.")
        }
        let scope = try await scope(request)
        let dimension = FigureReport.Dimension(rawValue: request.text("by") ?? "")
        let interval = FigureReport.Interval(rawValue: request.text("interval") ?? "") ?? .month
        let now = console.clock.now()
        let currency = name.isConvertible ? request.text("currency") : nil
        let asked = try scope.app.map { try Self.query(name, $0, interval, dimension, currency, at: now) }
        var answer: FigureReport?
        if let asked {
            answer = try await report(asked)
        }
        // Sums of a part of all purchases would be read as figures.
        if answer?.asOf == nil { answer = nil }
        if isCSV {
            let lines = [answer?.columns ?? []] + (answer?.rows.map(\.texts) ?? [])
            return .download(
                lines.map { $0.map(\.csvField).joined(separator: ",") + "\r\n" }.joined(), type: "text/csv",
                as: "\(name.rawValue).csv")
        }
        let series = asked.flatMap { asked in answer.flatMap { RevenueSeries(asked, $0) } }
        let rows = answer?.rows ?? []
        let columns = answer?.columns ?? []
        let texts = columns.count - (rows.first?.values.count ?? 0)
        let query = FormFields.query([
            ("scope", scope.app.map(Scope.value)), ("by", dimension?.rawValue), ("interval", interval.rawValue),
            // Kept for the other reports, also while a report that has no such amounts is shown.
            ("currency", request.text("currency")),
        ])
        // Rows of the same purchases, as those of a cohort, have one link.
        var linked: Set<String> = []
        return console.page(
            "revenue-report", Self.title(name),
            Page(
                heading: Self.title(name), definition: Self.definition(name), report: name.rawValue,
                tabs: FigureReport.Name.allCases.map {
                    Tab(label: Self.title($0), address: "/revenue/\($0.rawValue)" + query, isCurrent: $0 == name)
                },
                choices: scope.choices, hasChoices: !scope.choices.isEmpty,
                dimensions: [Option(value: "", label: "All together", isCurrent: dimension == nil)]
                    + FigureReport.Dimension.allCases.filter { $0 != .app }.map {
                        Option(value: $0.rawValue, label: "By \($0.rawValue)", isCurrent: $0 == dimension)
                    },
                intervals: [(FigureReport.Interval.month, "Months"), (.day, "Days")].map {
                    Option(value: $0.rawValue, label: $1, isCurrent: $0 == interval)
                },
                isConvertible: name.isConvertible, currency: currency ?? "",
                conversion: answer.flatMap(Self.conversion),
                chart: series.flatMap { Self.chart(name, $0) },
                charted: series.flatMap { $0.isOneOfSeveral ? $0.cell : nil },
                columns: columns.enumerated().map { Cell(text: Self.heading($1), isNumber: $0 >= texts) },
                rows: rows.suffix(Self.shownRows).map { row in
                    let converted = answer?.conversion?.currency
                    return Line(
                        cells: zip(columns, row.texts).enumerated().map { place, cell in
                            let address = RevenuePurchases.address(
                                of: cell.0, in: row, of: name, scope: scope, convertedTo: converted)
                            return Cell(
                                text: cell.1, isNumber: place >= texts,
                                address: address.flatMap { linked.insert($0).inserted ? $0 : nil })
                        },
                        isOpen: !row.isComplete)
                },
                allRows: rows.count > Self.shownRows ? rows.count : nil, limit: Self.shownRows,
                state: Self.state(scope, answer?.asOf) ?? (rows.isEmpty ? "Nothing to show for this time." : nil),
                asOf: answer?.asOf.map { Moment($0, now: now) },
                csv: "/revenue/\(name.rawValue).csv" + query, corrections: RevenueCorrections.address(of: scope)),
            request)
    }

    func scope(_ request: ConsoleRequest) async throws -> Scope {
        try await console.database.withConnection { Scope(try await ConsolePages($0).apps(), request) }
    }

    /// Computed when the connection is back, because other requests wait for it.
    private func report(_ query: FigureReport.Query) async throws -> FigureReport {
        do {
            return try await console.database.withConnection { try await FigureReportStore($0).read(query) }.report()
        } catch let error as FigureReport.TooLarge {
            throw OperationError("\(error)", .invalid("by"))
        }
    }

    private static func query(
        _ name: FigureReport.Name, _ app: CoverageStore.App, _ interval: FigureReport.Interval,
        _ dimension: FigureReport.Dimension?, _ currency: String?, at now: Date
    ) throws -> FigureReport.Query {
        let from = interval == .day ? FigureQuestion.text(now.addingTimeInterval(-30 * 86_400)) : nil
        return try FigureQuestion(
            name, in: app.environment, of: [app.bundleId], from: from, interval: interval, by: dimension?.rawValue,
            currency: currency, at: now
        ).query
    }

    // MARK: Words

    /// Why there are no figures; nil where there are.
    private static func state(_ scope: Scope, _ asOf: Date?) -> String? {
        guard scope.app != nil else { return "No app has sent a notification yet." }
        guard asOf == nil else { return nil }
        return "The figures are not complete yet: the scheduler computes every purchase once after an upgrade."
    }

    private static func conversion(_ report: FigureReport) -> String? {
        report.conversion.map { sentence($0, without: report.unconvertedCurrencies) }
    }

    /// A sentence that names the sources of the rates, and the currencies that are not converted.
    static func sentence(_ conversion: FigureReport.Conversion, without currencies: [String]) -> String {
        let sources = Set(conversion.rates.map(\.source)).sorted().joined(separator: ", ")
        let rates =
            sources.isEmpty
            ? "There are no rates in \(conversion.currency) for this time."
            : "In \(conversion.currency) by rates of \(sources)."
        let left = currencies.map { $0.isEmpty ? "unknown" : $0 }.joined(separator: ", ")
        guard !left.isEmpty else { return rates }
        let load = sources.isEmpty ? " Load rates with storekeeper insight rates load." : ""
        return rates + " Without a rate, and not added to it: \(left).\(load)"
    }

    private static func chart(_ name: FigureReport.Name, _ series: RevenueSeries) -> Chart? {
        let figure =
            switch name {
            case .mrr: "Monthly revenue"
            case .movements: "Net movement of monthly revenue"
            case .churn: "Share of customers who left"
            case .retention: "Share of the first cohort that reached each period"
            case .trials: "Share of trials that were paid"
            case .revenue: "Charged"
            case .proceeds: "Estimated proceeds"
            }
        return Chart(figure + (series.cell.isEmpty ? "" : ", \(series.cell)"), series.values)
    }

    /// The name of a column as words: `startAmount` is `Start amount`.
    private static func heading(_ column: String) -> String {
        switch column {
        case "to": return "Before"
        case "revenueCatAmount": return "Amount by RevenueCat’s factors"
        default: break
        }
        let words = column.map { $0.isUppercase ? " \($0.lowercased())" : "\($0)" }.joined()
        return words.prefix(1).uppercased() + words.dropFirst()
    }

    private static func title(_ name: FigureReport.Name) -> String {
        switch name {
        case .mrr: "Monthly revenue"
        case .movements: "Why it changed"
        case .churn: "Who leaves"
        case .retention: "Who stays"
        case .trials: "Trials"
        case .revenue: "Charges and refunds"
        case .proceeds: "Proceeds, estimated"
        }
    }

    private static func definition(_ name: FigureReport.Name) -> String {
        switch name {
        case .mrr:
            "At the end of each row the price of each paid period that runs, divided by its months. Beside it the same with RevenueCat's "
                + "factors."
        case .movements:
            "New, expansion, contraction, churn and reactivation. The amount at the start and all movements are the amount at the end, "
                + "exactly."
        case .churn:
            "Purchases that paid at the start of the row and not at its end, as a share of those at the start; the same of revenue, and net "
                + "of expansion and reactivation."
        case .retention:
            "Of those who first paid in a month, the share that reached each paid period, of those whose time for it has come."
        case .trials: "Free trials by the day on which they began, and how many of those that are over were ever paid."
        case .revenue: "Charged by the day of the transaction, refunded by the day of the refund."
        case .proceeds:
            "An estimate of what Apple pays: charged less refunded, less tax by the loaded shares of storefronts, less a commission of 30 or 15 %. "
                + "Storefronts without a share are counted as if without tax, and listed."
        }
    }
}
