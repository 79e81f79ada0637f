import Contracts
import Operations
import Storage
import Subscriptions

import struct Foundation.Date

/// The purchases behind a row of a report, by what moved monthly revenue in its time, what was charged or refunded in it, which trials or
/// which cohort began.
struct RevenuePurchases: Sendable {
    struct Line: Sendable {
        /// Nil where the day alone is known.
        let at: Moment?
        /// Nil where the moment is known.
        let day: String?
        let purchase: String
        let address: String?
        let kind: String
        let product: String
        let amount: String
    }

    struct Page: Sendable {
        let heading: String
        /// Which row.
        let row: String
        /// Said where there are none.
        let none: String
        let rows: [Line]
        let isCut: Bool
        let limit: Int
    }

    /// The lists, as the address names them; it names no list for movements.
    private enum List: String {
        case movements, charges = "revenue", refunds, trials, cohort = "retention"

        /// The list behind a column of a report; nil where there is none.
        init?(behind column: String, of report: FigureReport.Name) {
            switch (report, column) {
            case (.mrr, "from"), (.movements, "from"), (.churn, "from"): self = .movements
            case (.revenue, "from"), (.proceeds, "from"): self = .charges
            case (.revenue, "refunded"), (.proceeds, "refunded"): self = .refunds
            case (.trials, "from"): self = .trials
            case (.retention, "from"): self = .cohort
            default: return nil
            }
        }

        /// True where transactions are read, which alone do not say their period and offer as reports do.
        var isOfTransactions: Bool { self == .refunds || self == .trials }

        var heading: String {
            switch self {
            case .movements: "Movements of monthly revenue"
            case .charges: "Charges"
            case .refunds: "Refunds"
            case .trials: "Free trials"
            case .cohort: "Purchases that were first paid for"
            }
        }

        /// Said where there are none.
        var none: String {
            switch self {
            case .movements: "Nothing moved in this time."
            case .charges: "Nothing was charged in this time."
            case .refunds: "Nothing was refunded in this time."
            case .trials: "No free trial began in this time."
            case .cohort: "No purchase was first paid for in this time."
            }
        }
    }

    private static let limit = 500
    private static let dimensions: [FigureReport.Dimension] = [.product, .storefront, .currency, .period, .offer]

    let console: Console

    /// The page about a column of a row; nil where no purchases are found behind it.
    /// - Parameter currency: to which rows were converted; their purchases were paid in any.
    static func address(
        of column: String, in row: FigureReport.Row, of report: FigureReport.Name, scope: Scope,
        convertedTo currency: String?
    ) -> String? {
        guard let list = List(behind: column, of: report) else { return nil }
        let cells = row.cells.filter { $0.dimension != .currency || $0.value != currency }
        guard !list.isOfTransactions || !cells.contains(where: { $0.dimension == .period || $0.dimension == .offer })
        else { return nil }
        return "/revenue/purchases"
            + FormFields.query(
                [
                    ("scope", scope.app.map(Scope.value)), ("from", FigureQuestion.text(row.days.lowerBound)),
                    ("to", FigureQuestion.text(row.days.upperBound)),
                    ("report", list == .movements ? nil : list.rawValue),
                ] + cells.map { ($0.dimension.rawValue, $0.value) })
    }

    /// `GET /revenue/purchases?from=2026-01-01&to=2026-02-01`, with the cells of the row; `report=revenue` asks for charges,
    /// `report=refunds` for refunds, `report=trials` for trials, `report=retention` for the cohort.
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
        let list = request.text("report").flatMap(List.init(rawValue:)) ?? .movements
        let (environment, bundleId, limit) = (app.environment, app.bundleId, Self.limit + 1)
        let rows = try await console.database.withConnection { connection -> [Line] in
            let store = FigureReportStore(connection)
            switch list {
            case .movements:
                return try await store.movements(
                    in: environment, of: bundleId, during: days, cells: cells, limit: limit
                ).map { line($0, masking, at: now) }
            case .refunds:
                return try await store.refunds(
                    in: environment, of: bundleId, during: days, cells: cells, limit: limit
                ).map { line($0, masking, at: now) }
            case .trials:
                return try await store.trials(
                    in: environment, of: bundleId, during: days, cells: cells, limit: limit
                ).map { line($0, masking, at: now) }
            case .charges, .cohort:
                return try await store.parts(
                    of: list == .cohort ? [.periods] : [.charge, .loyalCharge], in: environment, of: bundleId,
                    during: days, cells: cells, limit: limit
                ).map { line($0, masking) }
            }
        }
        let named = Self.dimensions.compactMap { cells[$0] }.filter { !$0.isEmpty }
        return console.page(
            "revenue-purchases", list.heading,
            Page(
                heading: list.heading,
                row: ([
                    "\(app.bundleId), \(app.environment.rawValue)",
                    "from \(FigureQuestion.text(days.lowerBound)) to before \(FigureQuestion.text(days.upperBound))",
                ] + named).joined(separator: ", "),
                none: list.none, rows: Array(rows.prefix(Self.limit)), isCut: rows.count > Self.limit,
                limit: Self.limit),
            request)
    }

    private func line(_ found: FigureReportStore.PurchaseMovement, _ masking: Masking, at now: Date) -> Line {
        line(
            found.key, found.movement.at, found.movement.kind.rawValue, found.movement.cell.productId,
            found.movement.value.amount, found.movement.cell.currency, masking, at: now)
    }

    private func line(_ found: FigureReportStore.PurchaseTrial, _ masking: Masking, at now: Date) -> Line {
        let end = Moment(found.endsAt, now: now)
        return line(
            found.key, found.at, "free trial until \(end.text)", found.productId, 0, "", masking, at: now)
    }

    private func line(_ found: FigureReportStore.PurchaseRefund, _ masking: Masking, at now: Date) -> Line {
        line(found.key, found.at, "refund", found.productId, found.amount, found.currency, masking, at: now)
    }

    private func line(_ found: FigureReportStore.PurchasePart, _ masking: Masking) -> Line {
        let kind =
            found.kind == .periods
            ? "\(found.step) \(found.step == 1 ? "period" : "periods") paid for so far"
            : found.count == 1 ? "charge" : "\(found.count) charges"
        return line(
            found.key, nil, day: FigureQuestion.text(found.day), kind, found.productId, found.amount,
            found.kind == .periods ? "" : found.currency, masking)
    }

    private func line(
        _ key: SubscriptionKey, _ moment: Date, _ kind: String, _ product: String, _ amount: Int64, _ currency: String,
        _ masking: Masking, at now: Date
    ) -> Line {
        line(key, Moment(moment, now: now), day: nil, kind, product, amount, currency, masking)
    }

    private func line(
        _ key: SubscriptionKey, _ moment: Moment?, day: String?, _ kind: String, _ product: String, _ amount: Int64,
        _ currency: String, _ masking: Masking
    ) -> Line {
        let id = key.originalTransactionId
        return Line(
            at: moment, day: day, purchase: masking.id(id),
            address: masking.purchase(
                SubscriptionKeyText(environment: key.environment.rawValue, id: id), told: nil),
            kind: kind, product: product,
            amount: currency.isEmpty ? "" : FigureReport.Value.amount(amount).text + " \(currency)")
    }
}
