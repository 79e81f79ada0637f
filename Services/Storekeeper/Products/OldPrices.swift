import ArgumentParser
import Commands
import Foundation
import Storage
import Subscriptions

/// `storekeeper products old-prices`: who stays at an older price.
struct OldPrices: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "old-prices", abstract: "List subscriptions that stay at an older price.",
        discussion: """
            Those that storekeeper products prices counts beside another newest price, by product, who subscribed first at the top.

            Example: storekeeper products old-prices --app com.example.app
            """)

    @OptionGroup var report: ProductReportOptions

    func run(in context: CommandContext) async throws {
        let connection = try report.database.connection(for: "products", in: context)
        let prices = try await PriceReports(connection).oldPrices(
            of: report.app, in: report.environment, at: context.now(), limit: report.limits.limit)
        try report.output.list(prices.map(Row.init), none: "No subscription stays at an older price.", in: context)
    }

    struct Row: ListedRow {
        static let columns: [TextTable.Column] = [
            "purchase", "app", "product", "storefront", .number("price"), .number("newest"), "currency", "subscribed",
            "paid until",
        ]

        var originalTransactionId: String
        var app: String
        var product: String
        var storefront: String?
        var price: String
        var newestPrice: String
        var currency: String?
        var subscribedAt: Date?
        var paidUntil: Date

        init(_ price: PriceReports.OldPrice) {
            originalTransactionId = price.originalTransactionId
            app = price.bundleId
            product = price.productId
            storefront = price.storefront
            self.price = Commitment.money(price.milliunits, nil)
            newestPrice = Commitment.money(price.newestMilliunits, nil)
            currency = price.currency
            subscribedAt = price.subscribedAt
            paidUntil = price.expiresAt
        }

        var cells: [String] {
            [
                originalTransactionId, app, product, storefront ?? "-", price, newestPrice, currency ?? "-",
                subscribedAt?.text ?? "-", paidUntil.text,
            ]
        }
    }
}
