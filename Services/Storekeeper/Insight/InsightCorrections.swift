import ArgumentParser
import Commands
import Contracts
import Foundation
import Operations
import Storage

/// `storekeeper insight corrections`: which purchases changed a day of figures after it was first reported.
struct InsightCorrections: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "corrections", abstract: "List changes of days that were reported, by purchase.",
        discussion: """
            A day is reported once all of it is complete by coverage. First reported and all corrections of a day are what is known \
            now. The newest days and changes come first. Column amount: what the day has more of the kind, in units of currency; column \
            purchase: for storekeeper events purchase.

            Examples:
              storekeeper insight corrections --app com.example.app
              storekeeper insight corrections --from 2026-01-01 --to 2026-02-01 --limit 1000 --json
            """)

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    @OptionGroup var scope: InsightDaysOptions

    @Option(help: "Place where the list before ended, such as 2026-01-31/812.")
    var after: FigureCorrection.Position?

    @OptionGroup var limits: LimitOptions

    func run(in context: CommandContext) async throws {
        let list: ListCorrections
        do {
            list = try ListCorrections(
                in: scope.environment, of: scope.bundleIds, from: scope.from, to: scope.to, after: after,
                limit: limits.limit,
                at: context.now())
        } catch { throw ValidationError("\(error)") }
        let connection = try database.connection(for: "insight", in: context)
        if let app = scope.app { try await KnownAppsWarning(connection: connection).warn(about: app, in: context) }
        let page = try await list.page(on: connection)
        try output.list(
            page.corrections.map(Row.init), none: "Nothing changed after its day was reported.", in: context)
        if let next = page.next { context.warn("There are older ones: --after \(next.text)") }
    }

    private struct Row: ListedRow {
        static let columns: [TextTable.Column] = [
            "day", "changed", "app", "purchase", "kind", .number("amount"), "currency", .number("count"),
        ]

        /// In UTC, such as 2026-01-31.
        var day: String
        var correctedAt: Date
        var bundleId: String
        var originalTransactionId: String
        var kind: String
        /// In units of currency, with three decimals.
        var amount: String
        var currency: String
        var count: Int64

        init(_ correction: FigureCorrection) {
            day = FigureQuestion.text(correction.position.day)
            correctedAt = correction.correctedAt
            bundleId = correction.bundleId
            originalTransactionId = correction.key.originalTransactionId
            kind = correction.kind
            amount = FigureReport.Value.amount(correction.amount).text
            currency = correction.currency
            count = correction.count
        }

        var cells: [String] {
            [day, correctedAt.text, bundleId, originalTransactionId, kind, amount, currency, "\(count)"]
        }
    }
}

extension FigureCorrection.Position: ExpressibleByArgument {
    package init?(argument: String) { self.init(argument) }
}
