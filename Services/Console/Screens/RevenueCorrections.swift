import Operations
import Storage
import Subscriptions

/// Which purchases changed a day of figures after the day was first reported.
struct RevenueCorrections: Sendable {
    struct Line: Sendable {
        let day: String
        let at: Moment
        let purchase: String
        let address: String?
        let kind: String
        let amount: String
        let count: Int64
    }

    struct Page: Sendable {
        /// The page of revenue of the same app.
        let back: String
        let choices: [Scope.Choice]
        let hasChoices: Bool
        let from: String
        let to: String
        let rows: [Line]
        /// Said where there are none.
        let none: String
        let next: String?
        let command: String
    }

    private static let limit = 100

    let console: Console

    /// The page about an app; nil where there is none.
    static func address(of scope: Scope) -> String? {
        scope.app.map { "/revenue/corrections" + FormFields.query([("scope", Scope.value($0))]) }
    }

    /// `GET /revenue/corrections?from=2026-01-01&to=2026-02-01`
    func show(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let (now, masking) = (console.clock.now(), request.masking)
        let scope = try await RevenueScreen(console: console).scope(request)
        let app = scope.app
        let list = try ListCorrections(
            in: app?.environment ?? .production, of: app.map { [$0.bundleId] }, from: request.text("from"),
            to: request.text("to"), after: request.text("after").flatMap { FigureCorrection.Position($0) },
            limit: Self.limit, at: now)
        let page = try await console.database.withConnection { connection in try await list.page(on: connection) }
        let (from, to) = (FigureQuestion.text(list.days.lowerBound), FigureQuestion.text(list.days.upperBound))
        return console.page(
            "revenue-corrections", "Corrections",
            Page(
                back: "/revenue" + FormFields.query([("scope", app.map(Scope.value))]),
                choices: scope.choices, hasChoices: !scope.choices.isEmpty, from: from, to: to,
                rows: page.corrections.map { correction in
                    let id = correction.key.originalTransactionId
                    return Line(
                        day: FigureQuestion.text(correction.position.day), at: Moment(correction.correctedAt, now: now),
                        purchase: masking.id(id),
                        address: masking.purchase(
                            SubscriptionKeyText(environment: correction.key.environment.rawValue, id: id), told: nil),
                        kind: Words.figure(correction.kind),
                        amount: FigureReport.Value.amount(correction.amount).text + " \(correction.currency)",
                        count: correction.count)
                },
                none: app == nil
                    ? "No app has sent a notification yet."
                    : "No purchase changed a day of this time after the day was reported.",
                next: page.next.map {
                    "/revenue/corrections"
                        + FormFields.query([
                            ("scope", app.map(Scope.value)), ("from", from), ("to", to), ("after", $0.text),
                        ])
                },
                command: "storekeeper insight corrections --app \(shellWord(app?.bundleId ?? "com.example.app"))"
                    + " --environment \(app?.environment.rawValue ?? "Production") --from \(from) --to \(to)"),
            request)
    }
}

extension Words {
    /// What a sum of a day counts; the name of a kind that this build does not know.
    static func figure(_ kind: String) -> String {
        switch PurchaseFigures.Kind(rawValue: kind) {
        case .charge: "charged"
        case .loyalCharge: "charged, after a year of paid service"
        case .refund: "refunded on this day"
        case .refundOfCharge: "charged on this day, refunded"
        default: kind
        }
    }
}
