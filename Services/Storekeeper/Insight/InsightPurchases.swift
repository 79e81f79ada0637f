import ArgumentParser
import Commands
import Contracts
import Foundation
import Operations
import Storage

/// `storekeeper insight purchases`: the purchases behind a figure.
struct InsightPurchases: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "purchases", abstract: "List the purchases behind the figures of a report.",
        discussion: """
            The amounts and counts of a report are sums of these, of the kinds that Documentation/Insight.md defines. The newest days come \
            first. Column amount: in units of currency; column detail: the periods that were paid for, or the days until a trial was; column \
            purchase: for storekeeper events purchase.

            Examples:
              storekeeper insight purchases revenue --from 2026-01-01 --to 2026-02-01 --currency EUR --kind refund
              storekeeper insight purchases churn --app com.example.app --from 2026-01-31 --product pro.monthly --json
            """)

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    @Argument(help: "\(FigureReport.Name.allCases.map(\.rawValue).joined(separator: ", ")).")
    var report: FigureReport.Name

    @OptionGroup var scope: InsightDaysOptions

    @Option(help: "Kinds, separated by commas, such as refund (default: all of the report).")
    var kind: String?

    @Option(help: "Product, by its App Store Connect id.")
    var product: String?

    @Option(help: "Storefront, such as DEU.")
    var storefront: String?

    @Option(help: "Currency of the purchase, such as EUR.")
    var currency: String?

    @Option(help: "Length of the paid period, such as P1M.")
    var period: String?

    @Option(help: "Type of the offer: introductory, promotional, code or winBack; empty for none.")
    var offer: String?

    @Option(help: "Place where the list before ended, such as 2026-01-31/2000000123456789/1.")
    var after: PurchasePart.Position?

    @OptionGroup var limits: LimitOptions

    func run(in context: CommandContext) async throws {
        let list: ListFigurePurchases
        do {
            list = try ListFigurePurchases(
                behind: report, in: scope.environment, of: scope.bundleIds, from: scope.from, to: scope.to,
                kinds: kind,
                cells: [
                    .product: product, .storefront: storefront, .currency: currency, .period: period, .offer: offer,
                ].compactMapValues(\.self), after: after, limit: limits.limit, at: context.now())
        } catch { throw ValidationError("\(error)") }
        let connection = try database.connection(for: "insight", in: context)
        if let app = scope.app { try await KnownAppsWarning(connection: connection).warn(about: app, in: context) }
        let page = try await list.page(on: connection)
        try output.list(page.purchases.map(Row.init), none: "No purchase is behind it.", in: context)
        if let next = page.next { context.warn("There are more: --after \(next.text.escaped)") }
    }

    private struct Row: ListedRow {
        static let columns: [TextTable.Column] = [
            "day", "app", "purchase", "kind", "product", "storefront", "period", "offer", .number("detail"),
            .number("amount"), "currency", .number("count"),
        ]

        /// In UTC, such as 2026-01-31.
        var day: String
        var bundleId: String
        var originalTransactionId: String
        var kind: String
        var product: String
        var storefront: String
        var period: String
        var offer: String
        var periods: Int64?
        var daysUntilPaid: Int64?
        /// In units of currency, with three decimals.
        var amount: String
        var currency: String
        var count: Int64

        init(_ part: PurchasePart) {
            day = FigureQuestion.text(part.position.day)
            bundleId = part.bundleId
            originalTransactionId = part.key.originalTransactionId
            kind = part.kind.rawValue
            (product, storefront, period, offer) = (part.productId, part.storefront, part.period, part.offer)
            periods = part.periods
            daysUntilPaid = part.daysUntilPaid
            amount = FigureReport.Value.amount(part.amount).text
            currency = part.currency
            count = part.count
        }

        var cells: [String] {
            [
                day, bundleId, originalTransactionId, kind, product, storefront, period, offer,
                (periods ?? daysUntilPaid).map { "\($0)" } ?? "–", amount, currency, "\(count)",
            ]
        }
    }
}

extension PurchasePart.Position: ExpressibleByArgument {
    package init?(argument: String) { self.init(argument) }
}
