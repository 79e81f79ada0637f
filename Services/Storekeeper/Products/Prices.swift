import ArgumentParser
import Commands
import Contracts
import Storage
import Subscriptions

/// `storekeeper products prices`: what the subscribers of each product pay, and how many stay at an older price.
struct Prices: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "prices", abstract: "List what active subscribers pay for each product.",
        discussion: """
            Counts subscriptions whose paid period runs, by product, storefront and price, without offers, family members and \
            assigned seats. Newest is what those pay who subscribed last; subscribers at another price stayed there when it \
            changed, and storekeeper products old-prices lists them. A month's share of the price stands beside periods of another length. storekeeper events purchase shows \
            the first, current and next price of one purchase.

            Example: storekeeper products prices --app com.example.app
            """)

    @OptionGroup var report: ProductReportOptions

    func run(in context: CommandContext) async throws {
        let connection = try report.database.connection(for: "products", in: context)
        let prices = try await PriceReports(connection).prices(
            of: report.app, in: report.environment, at: context.now(), limit: report.limits.limit)
        try report.output.list(
            prices.map { Row($0, report.environment) },
            none: "No active subscription of \(report.environment.rawValue) has a price.",
            in: context)
    }

    struct Row: ListedRow {
        static let columns: [TextTable.Column] = [
            "app", "product", "storefront", .number("price"), "currency", .number("a month"), .number("newest"),
            .number("subscriptions"), "stays",
        ]

        var app: String
        var product: String
        var storefront: String?
        var price: String
        var currency: String?
        /// Nil where the period is a month.
        var monthly: String?
        var newestPrice: String
        var subscriptions: Int64
        /// Whether new subscribers pay another price.
        var isOldPrice: Bool

        init(_ price: PriceReports.Price, _ environment: StoreEnvironment) {
            app = price.bundleId
            product = price.productId
            storefront = price.storefront
            self.price = Commitment.money(price.milliunits, nil)
            currency = price.currency
            monthly = PurchasePrices.monthly(price.milliunits, of: price.period, in: environment).map {
                Commitment.money($0, nil)
            }
            newestPrice = Commitment.money(price.newestMilliunits, nil)
            subscriptions = price.subscriptions
            isOldPrice = price.milliunits != price.newestMilliunits
        }

        var cells: [String] {
            [
                app, product, storefront ?? "-", price, currency ?? "-", monthly ?? "-", newestPrice,
                "\(subscriptions)",
                isOldPrice ? "at an older price" : "-",
            ]
        }
    }
}
