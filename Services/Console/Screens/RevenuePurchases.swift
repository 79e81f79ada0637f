import Contracts
import Operations
import Storage

import struct Foundation.Date

/// The purchases behind a row of a report, by what moved monthly revenue in its time.
struct RevenuePurchases: Sendable {
    struct Line: Sendable {
        let at: Moment
        let purchase: String
        let address: String?
        let kind: String
        let product: String
        let amount: String
    }

    struct Page: Sendable {
        /// Which row.
        let row: String
        let rows: [Line]
        let isCut: Bool
        let limit: Int
    }

    private static let limit = 500
    private static let dimensions: [FigureReport.Dimension] = [.product, .storefront, .currency, .period, .offer]

    let console: Console

    /// The page about a row; nil for a report whose rows are no monthly revenue.
    /// - Parameter currency: to which rows were converted; their purchases were paid in any.
    static func address(
        _ row: FigureReport.Row, of report: FigureReport.Name, in scope: Scope, convertedTo currency: String?
    ) -> String? {
        guard [.mrr, .movements, .churn].contains(report) else { return nil }
        let cells = row.cells.filter { $0.dimension != .currency || $0.value != currency }
        return "/revenue/purchases"
            + FormFields.query(
                [
                    ("scope", scope.app.map(Scope.value)), ("from", FigureQuestion.text(row.days.lowerBound)),
                    ("to", FigureQuestion.text(row.days.upperBound)),
                ] + cells.map { ($0.dimension.rawValue, $0.value) })
    }

    /// `GET /revenue/purchases?from=2026-01-01&to=2026-02-01`, with the cells of the row.
    func show(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let now = console.clock.now()
        let (scope, masking) = (try await RevenueScreen(console: console).scope(request), request.masking)
        guard let app = scope.app else { throw Fault.notFound("No app has sent a notification yet.") }
        let days = try FigureQuestion(
            .movements, in: app.environment, of: [app.bundleId], from: request.text("from"), to: request.text("to"),
            at: now
        ).query.days
        let cells = Dictionary(
            Self.dimensions.compactMap { dimension in request.query[dimension.rawValue].map { (dimension, $0) } },
            uniquingKeysWith: { first, _ in first })
        let found = try await console.database.withConnection {
            try await FigureReportStore($0).movements(
                in: app.environment, of: app.bundleId, during: days, cells: cells, limit: Self.limit + 1)
        }
        let named = Self.dimensions.compactMap { cells[$0] }.filter { !$0.isEmpty }
        return console.page(
            "revenue-purchases", "Movements of monthly revenue",
            Page(
                row: ([
                    "\(app.bundleId), \(app.environment.rawValue)",
                    "from \(FigureQuestion.text(days.lowerBound)) to before \(FigureQuestion.text(days.upperBound))",
                ] + named).joined(separator: ", "),
                rows: found.prefix(Self.limit).map { line($0, masking, at: now) },
                isCut: found.count > Self.limit, limit: Self.limit),
            request)
    }

    private func line(_ found: FigureReportStore.PurchaseMovement, _ masking: Masking, at now: Date) -> Line {
        let (key, movement) = (found.key, found.movement)
        let id = key.originalTransactionId
        return Line(
            at: Moment(movement.at, now: now), purchase: masking.id(id),
            address: masking.purchase(
                SubscriptionKeyText(environment: key.environment.rawValue, id: id), told: nil),
            kind: movement.kind.rawValue, product: movement.cell.productId,
            amount: FigureReport.Value.amount(movement.value.amount).text + " \(movement.cell.currency)")
    }
}
