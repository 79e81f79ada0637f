import ArgumentParser
import Commands
import Contracts
import Foundation
import Operations
import Storage

/// `storekeeper products offer-codes`: how often each offer code was redeemed.
struct OfferCodes: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "offer-codes", abstract: "Count redemptions of each offer code.",
        discussion: """
            Counts the purchases that redeemed a code, and the periods that it paid for, by the time of the purchase. Reads \
            all transactions of the apps. Custom codes, their limits and expiry are configured in App Store Connect.

            Example: storekeeper products offer-codes --app com.example.app --from 30d
            """)

    @OptionGroup var report: ProductReportOptions

    @Option(help: "Only bought at or after this time: \(TimeArgument.help).")
    var from: TimeArgument?

    @Option(help: "Only bought before this time.")
    var to: TimeArgument?

    func run(in context: CommandContext) async throws {
        let range = try DateRange(from: from, to: to, now: context.now())
        let connection = try report.database.connection(for: "products", in: context)
        let codes = try await PriceReports(connection).offerCodes(
            of: report.app, in: report.environment, from: range.from, to: range.to, limit: report.limits.limit)
        try report.output.list(codes.map(Row.init), none: "No offer code was redeemed.", in: context)
    }

    struct Row: ListedRow {
        static let columns: [TextTable.Column] = [
            "app", "product", "offer", .number("redemptions"), .number("periods"), "first", "last",
        ]

        var app: String
        var product: String
        var offer: String
        var redemptions: Int64
        var periods: Int64
        var firstAt: Date?
        var lastAt: Date?

        init(_ code: PriceReports.OfferCode) {
            app = code.bundleId
            product = code.productId
            offer = code.offerId
            redemptions = code.redemptions
            periods = code.transactions
            firstAt = code.firstAt
            lastAt = code.lastAt
        }

        var cells: [String] {
            [app, product, offer, "\(redemptions)", "\(periods)", firstAt?.text ?? "-", lastAt?.text ?? "-"]
        }
    }
}
