import ArgumentParser
import Commands
import Contracts
import Foundation
import Operations
import Storage
import Subscriptions

/// `storekeeper products price-changes`: whose price changes with the next renewal, and whether the customer agreed.
struct PriceChanges: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "price-changes", abstract: "List subscriptions that renew at another price.",
        discussion: """
            Those come first that renew next. Consent is pending until the customer answers, and a subscription without \
            consent ends; "agreed" includes increases that need no consent, and "not asked" means that Apple asks nothing, as \
            for a lower price, or has not asked yet, as for a scheduled increase of Advanced Commerce.

            Example: storekeeper products price-changes --app com.example.app
            """)

    @OptionGroup var report: ProductReportOptions

    func run(in context: CommandContext) async throws {
        let connection = try report.database.connection(for: "products", in: context)
        let changes = try await PriceReports(connection).changes(
            of: report.app, in: report.environment, at: context.now(), limit: report.limits.limit)
        try report.output.list(changes.map(Row.init), none: "No subscription renews at another price.", in: context)
    }

    struct Row: ListedRow {
        static let columns: [TextTable.Column] = [
            "effective", "purchase", "app", "product", .number("old"), .number("new"), "currency", "consent",
        ]

        var effectiveAt: Date?
        var originalTransactionId: String
        var app: String
        var product: String
        var oldPrice: String
        var newPrice: String
        var currency: String?
        var consent: String

        init(_ change: PriceReports.PriceChange) {
            effectiveAt = change.effectiveAt
            originalTransactionId = change.originalTransactionId
            app = change.bundleId
            product = change.productId
            oldPrice = Commitment.money(change.oldMilliunits, nil)
            newPrice = Commitment.money(change.newMilliunits, nil)
            currency = change.currency
            consent =
                switch change.priceIncreaseStatus {
                case 0: "pending"
                case 1: "agreed"
                case nil: "not asked"
                case let other?: "\(other)"
                }
        }

        var cells: [String] {
            [
                effectiveAt?.text ?? "-", originalTransactionId, app, product, oldPrice, newPrice, currency ?? "-",
                consent,
            ]
        }
    }
}
