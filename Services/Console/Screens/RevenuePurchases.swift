import Contracts
import Operations
import Storage
import Subscriptions

/// The purchases behind a row of a report, by what moved monthly revenue in its time, what was charged or refunded in it, which trials or
/// which cohort began.
struct RevenuePurchases: Sendable {
    struct Line: Sendable {
        let day: String
        let purchase: String
        let address: String?
        let kind: String
        let product: String
        let amount: String
        let count: Int64
    }

    struct Page: Sendable {
        let heading: String
        /// Which row.
        let row: String
        /// Said where there are none.
        let none: String
        let rows: [Line]
        /// Nil on the last page, and where ids are hidden, because the address has one.
        let next: String?
        /// The number that is shown, where there are more and no next page.
        let shown: Int?
        let command: String
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

        var report: FigureReport.Name {
            switch self {
            case .movements: .movements
            case .charges, .refunds: .revenue
            case .trials: .trials
            case .cohort: .retention
            }
        }

        /// Those of the report that are shown; nil: all.
        var kinds: String? {
            switch self {
            case .movements, .trials: nil
            case .charges: "charge,loyalCharge"
            case .refunds: "refund"
            case .cohort: "periods"
            }
        }

        var hasAmounts: Bool { self != .trials && self != .cohort }

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

    private static let limit = 100
    private static let dimensions: [FigureReport.Dimension] = [.product, .storefront, .currency, .period, .offer]

    let console: Console

    /// The page about a column of a row; nil where no purchases are found behind it.
    /// - Parameter currency: to which rows were converted; their purchases were paid in any.
    static func address(
        of column: String, in row: FigureReport.Row, of report: FigureReport.Name, scope: Scope,
        convertedTo currency: String?
    ) -> String? {
        List(behind: column, of: report).map { list in
            address(
                of: list, scope, from: FigureQuestion.text(row.days.lowerBound),
                to: FigureQuestion.text(row.days.upperBound),
                row.cells.filter { $0.dimension != .currency || $0.value != currency })
        }
    }

    private static func address(
        of list: List, _ scope: Scope, from: String, to: String,
        _ cells: [(dimension: FigureReport.Dimension, value: String)], after: PurchasePart.Position? = nil
    ) -> String {
        "/revenue/purchases"
            + FormFields.query(
                [
                    ("scope", scope.app.map(Scope.value)), ("from", from), ("to", to),
                    ("report", list == .movements ? nil : list.rawValue),
                ] + cells.map { ($0.dimension.rawValue, $0.value) } + [("after", after?.text)])
    }

    /// `GET /revenue/purchases?from=2026-01-01&to=2026-02-01`, with the cells of the row; `report=revenue` asks for charges,
    /// `report=refunds` for refunds, `report=trials` for trials, `report=retention` for the cohort.
    func show(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let (scope, masking) = (try await RevenueScreen(console: console).scope(request), request.masking)
        guard let app = scope.app else { throw Fault.notFound("No app has sent a notification yet.") }
        let list = request.text("report").flatMap(List.init(rawValue:)) ?? .movements
        let cells = Self.dimensions.compactMap { dimension in
            request.query[dimension.rawValue].map { (dimension: dimension, value: $0) }
        }
        let question = try ListFigurePurchases(
            behind: list.report, in: app.environment, of: [app.bundleId], from: request.text("from"),
            to: request.text("to"), kinds: list.kinds,
            cells: Dictionary(cells.map { ($0.dimension, $0.value) }, uniquingKeysWith: { first, _ in first }),
            after: request.text("after").flatMap { PurchasePart.Position($0) }, limit: Self.limit,
            at: console.clock.now())
        let page = try await console.database.withConnection { connection in try await question.page(on: connection) }
        let from = FigureQuestion.text(question.days.lowerBound)
        let to = FigureQuestion.text(question.days.upperBound)
        let options = [("kind", list.kinds)] + cells.map { ($0.dimension.rawValue, $0.value) }
        return console.page(
            "revenue-purchases", list.heading,
            Page(
                heading: list.heading,
                row: (["\(app.bundleId), \(app.environment.rawValue)", "from \(from) to before \(to)"]
                    + cells.map(\.value).filter { !$0.isEmpty }).joined(separator: ", "),
                none: list.none, rows: page.purchases.map { line($0, of: list, masking) },
                next: (masking.isOn ? nil : page.next).map {
                    Self.address(of: list, scope, from: from, to: to, cells, after: $0)
                },
                shown: masking.isOn && page.next != nil ? page.purchases.count : nil,
                command: "storekeeper insight purchases \(list.report.rawValue) --app \(shellWord(app.bundleId))"
                    + " --environment \(app.environment.rawValue) --from \(from) --to \(to)"
                    + options.map { name, value in value.map { " --\(name) \(shellWord($0))" } ?? "" }.joined()),
            request)
    }

    private func line(_ part: PurchasePart, of list: List, _ masking: Masking) -> Line {
        let id = part.key.originalTransactionId
        return Line(
            day: FigureQuestion.text(part.position.day), purchase: masking.id(id),
            address: masking.purchase(
                SubscriptionKeyText(environment: part.key.environment.rawValue, id: id), told: nil),
            kind: Words.figure(part), product: part.productId,
            amount: list.hasAmounts ? FigureReport.Value.amount(part.amount).text + " \(part.currency)" : "",
            count: part.count)
    }
}

extension Words {
    fileprivate static func figure(_ part: PurchasePart) -> String {
        switch part.kind {
        case .periods, .resubscribedPeriods: "\(part.step) \(part.step == 1 ? "period" : "periods") paid for so far"
        case .unbrokenPeriods:
            "\(part.step) \(part.step == 1 ? "period" : "periods") paid for before the first resubscription"
        case .trialRunning: "runs"
        case .trialEnded: "ended and was not paid"
        case .trialPaid: "paid after \(part.step) \(part.step == 1 ? "day" : "days")"
        default: figure(part.kind.rawValue)
        }
    }
}
