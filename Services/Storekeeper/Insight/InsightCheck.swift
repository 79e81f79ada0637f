import ArgumentParser
import Commands
import Contracts
import Foundation
import Operations
import Storage

/// `storekeeper insight check`: monthly revenue computed in three ways.
struct InsightCheck: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Compare the figures with what was paid.",
        discussion: """
            Adds up, as of the end of a day (UTC), the paid periods that run, the movements before, and the sums of the days and of \
            the months before: of each app, currency, product and storefront the four must be equal, to a thousandth of a unit of \
            currency. Of charges, refunds, trials and losses the days and months must be. Reads every paid period, in one snapshot. Exit \
            codes: 0 equal; 1 not equal.

            Example: storekeeper insight check --day 2026-10-31
            """)

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    @Option(help: "Day at whose end they are compared: \(TimeArgument.help) (default: yesterday).")
    var day: TimeArgument?

    func run(in context: CommandContext) async throws {
        let connection = try database.patientConnection(for: "insight", in: context)
        let moment = day?.date(now: context.now()) ?? context.now().addingTimeInterval(-86_400)
        let end = Date(timeIntervalSince1970: ((moment.timeIntervalSince1970 / 86_400).rounded(.down) + 1) * 86_400)
        let status = try await FigureStore(connection).status()
        guard status.asOf != nil else {
            throw CommandError(
                "the figures are not complete yet: the scheduler computes every purchase once after an upgrade; try again later"
            )
        }
        // All of them after a rebuild, when an operator checks first.
        let waiting = try await FigureStore(connection).waiting()
        if waiting > 0 {
            context.warn(
                "\(waiting.counted("purchase")) changed and wait for the scheduler: "
                    + "what was paid for them is not compared.")
        }
        let rows = try await FigureCheck(connection).differences(before: end).map(Row.init)
        try output.list(
            rows, none: "Start and movements are the end: nothing differs before \(end.text).", in: context)
        if !rows.isEmpty { throw Exit.failed.code }
    }

    private struct Row: ListedRow {
        static let columns: [TextTable.Column] = [
            "app", "environment", "currency", "product", "storefront", "kind", .number("paid"), .number("movements"),
            .number("days"), .number("months"),
        ]

        var app: String
        var environment: String
        var currency: String
        var product: String
        var storefront: String
        /// `mrr`, or a kind of charge, refund, trial or loss, of which only days and months are compared; `charge in USD` for what was
        /// converted.
        var kind: String
        /// Thousandths of a unit of currency, as those below; trials and losses are counted.
        var paid: Int64?
        var movements: Int64?
        var days: Int64
        var months: Int64

        init(_ difference: FigureCheck.Difference) {
            app = difference.bundleId
            environment = difference.environment.rawValue
            currency = difference.currency
            product = difference.productId
            storefront = difference.storefront
            kind = difference.kind
            let isRevenue = kind == FigureCheck.Difference.revenue
            paid = isRevenue ? difference.scanned : nil
            movements = isRevenue ? difference.moved : nil
            days = difference.summed
            months = difference.months
        }

        var cells: [String] {
            [
                app, environment, currency, product, storefront, kind, paid.map { "\($0)" } ?? "–",
                movements.map { "\($0)" } ?? "–", "\(days)", "\(months)",
            ]
        }
    }
}
