import Contracts
import Operations
import Storage

import struct Foundation.UUID

/// Why customers leave, how long they have paid, and what is coming: the insight views, per app and environment.
struct InsightScreen: Sendable {
    struct Tab: Sendable {
        let label: String
        let address: String
        let isCurrent: Bool
    }

    struct Cell: Sendable {
        let text: String
        let address: String?
    }

    struct Line: Sendable {
        let cells: [Cell]
    }

    struct Page: Sendable {
        let heading: String
        let definition: String
        let tabs: [Tab]
        let choices: [Scope.Choice]
        let hasChoices: Bool
        let report: String
        let columns: [String]
        let rows: [Line]
        let isEmpty: Bool
        let isCut: Bool
        let limit: Int
        let csv: String
        /// When the figures were computed; nil while they are.
        let computed: Moment?
        let isWaiting: Bool
    }

    private static let exported = 10_000

    let console: Console

    /// `GET /insight`
    func index(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        try await page(.cancellations, request)
    }

    /// `GET /insight/{report}`, and the same with `.csv`.
    func show(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let name = request.parameters["report"] ?? ""
        let isCSV = name.hasSuffix(".csv")
        guard let report = InsightStore.Report(rawValue: isCSV ? String(name.dropLast(4)) : name) else {
            throw Fault.notFound("There is no such report.")
        }
        return try await isCSV ? csv(report, request) : page(report, request)
    }

    private func page(_ report: InsightStore.Report, _ request: ConsoleRequest) async throws -> ConsoleResponse {
        let scope = try await scope(request)
        let answer = try await answer(report, scope)
        let table = answer?.table ?? .empty(report)
        let query = FormFields.query([("scope", scope.app.map(Scope.value))])
        let shownColumns = table.columns.indices.filter { table.columns[$0] != "notification" }
        return console.page(
            "insight", Self.title(report),
            Page(
                heading: Self.title(report), definition: Self.definition(report),
                tabs: InsightStore.Report.allCases.map {
                    Tab(
                        label: Self.title($0), address: "/insight/\($0.rawValue)" + query, isCurrent: $0 == report)
                },
                choices: scope.choices, hasChoices: !scope.choices.isEmpty, report: report.rawValue,
                columns: shownColumns.map { table.columns[$0] },
                rows: table.rows.map { row in
                    Line(cells: shownColumns.map { Self.cell($0, row, table, scope, request.masking) })
                },
                isEmpty: answer != nil && table.rows.isEmpty, isCut: table.isCut, limit: InsightReports.rows,
                csv: "/insight/\(report.rawValue).csv" + query,
                computed: answer.map { Moment($0.at, now: console.clock.now()) }, isWaiting: answer == nil),
            request)
    }

    private func csv(_ report: InsightStore.Report, _ request: ConsoleRequest) async throws -> ConsoleResponse {
        let scope = try await scope(request)
        let table =
            if let app = scope.app {
                try await console.insight.file(InsightReports.Key(report: report, app: app), limit: Self.exported)
            } else { InsightStore.Table.empty(report) }
        let masking = request.masking
        let lines =
            [table.columns]
            + table.rows.map { row in
                row.indices.map { index in
                    index == table.purchase ? masking.id(row[index] ?? "") : row[index] ?? ""
                }
            }
        let text = lines.map { $0.map(\.csvField).joined(separator: ",") + "\r\n" }.joined()
        return .download(text, type: "text/csv", as: "\(report.rawValue).csv")
    }

    private func scope(_ request: ConsoleRequest) async throws -> Scope {
        try await console.database.withConnection { Scope(try await ConsolePages($0).apps(), request) }
    }

    private func answer(_ report: InsightStore.Report, _ scope: Scope) async throws -> InsightReports.Answer? {
        guard let app = scope.app else {
            return InsightReports.Answer(table: .empty(report), at: console.clock.now())
        }
        return try await console.insight.answer(InsightReports.Key(report: report, app: app))
    }

    private static func cell(
        _ index: Int, _ row: [String?], _ table: InsightStore.Table, _ scope: Scope, _ masking: Masking
    ) -> Cell {
        guard index == table.purchase, let id = row[index], let app = scope.app else {
            return Cell(text: row[index] ?? "–", address: nil)
        }
        let told = table.columns.firstIndex(of: "notification").flatMap { row[$0] }.flatMap { UUID(uuidString: $0) }
        return Cell(
            text: masking.id(id),
            address: masking.purchase(SubscriptionKeyText(environment: app.environment.rawValue, id: id), told: told))
    }

    private static func title(_ report: InsightStore.Report) -> String {
        switch report {
        case .cancellations: "Cancellations"
        case .ends: "Why subscriptions ended"
        case .priceConsents: "Price consents"
        case .loyalty: "Loyalty and 85/15"
        case .winBack: "Win back"
        case .renewals: "Next ten days"
        }
    }

    private static func definition(_ report: InsightStore.Report) -> String {
        switch report {
        case .cancellations:
            "How often customers switched auto-renew off in the last 30 days, by when in the period they did. What Apple switches off "
                + "after a refund is not counted."
        case .ends: "Every EXPIRED notification of the last 30 days, by its subtype."
        case .priceConsents:
            "The newest answer of the customers whom a price increase of the last 90 days asked for consent last. A renewal or an end "
                + "closes the matter."
        case .loyalty:
            "Of subscriptions that run, those that end first: since when the service is unbroken, how many days of it were paid, and when "
                + "a paid year is complete, after which Apple takes 15 % instead of 30 %. Gaps of up to 60 days break nothing."
        case .winBack:
            "Auto-renew is off and the period still runs: the customers to win back, the first to leave first."
        case .renewals:
            "Renewals due within ten days, those that something may stop first. Of the thousand that are due next of each state."
        }
    }
}
