import ArgumentParser
import Commands
import Foundation
import Operations
import Storage

/// `storekeeper insight rates`: exchange rates of reports in one currency.
struct InsightRates: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rates", abstract: "Load or list exchange rates.",
        discussion: "Example: storekeeper insight rates list",
        subcommands: [InsightRatesLoad.self, InsightRatesList.self])
}

/// `storekeeper insight rates load`
struct InsightRatesLoad: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "load", abstract: "Load exchange rates from a file.",
        discussion: """
            Lines day,currency,rate such as 2026-01-31,EUR,1.0823: what one unit of the currency is worth in the reporting \
            currency. A day without a rate has the newest of the six days before it. Rates of the same days are replaced.

            Examples:
              storekeeper insight rates load rates.csv --into USD --source "European Central Bank" --dry-run
              storekeeper insight rates load rates.csv --into USD --source "European Central Bank"
            """)

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var audit: AuditOptions
    @OptionGroup var terms: TermsFileOptions

    @Option(help: "Reporting currency, such as USD.")
    var into: String

    @Option(help: "Whose rates they are; reports say so.")
    var source: String

    @Flag(help: "Print what would be loaded; change nothing.")
    var dryRun = false

    func run(in context: CommandContext) async throws {
        let operation = try LoadExchangeRates(try terms.read(), into: into, from: source)
        guard !dryRun else { return try operation.plan().show(output, in: context) }
        let connection = try database.patientConnection(for: "insight", in: context)
        let changed = try await operation.perform(on: connection, by: try audit.performer(in: context))
        guard !output.json else {
            return try output.print(json: ["rates": operation.rates.count, "changed": changed], in: context)
        }
        context.print("\(operation.rates.count.counted("rate")) loaded; \(changed) new or changed.")
    }
}

/// `storekeeper insight rates list`
struct InsightRatesList: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List loaded exchange rates by currency and source.",
        discussion: "Example: storekeeper insight rates list")

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func run(in context: CommandContext) async throws {
        let connection = try database.connection(for: "insight", in: context)
        try output.list(
            try await ExchangeRateStore(connection).held().map(Row.init), none: "No exchange rate is loaded.",
            in: context)
    }

    private struct Row: ListedRow {
        static let columns: [TextTable.Column] = ["into", "currency", "first", "last", .number("rates"), "source"]

        var into: String
        var currency: String
        var first: String
        var last: String
        var rates: Int64
        var source: String

        init(_ held: ExchangeRateStore.Held) {
            (into, currency, source) = (held.reportingCurrency, held.currency, held.source)
            (first, last) = (FigureQuestion.text(held.firstDay), FigureQuestion.text(held.lastDay))
            rates = held.rates
        }

        var cells: [String] { [into, currency, first, last, "\(rates)", source] }
    }
}

/// A file with rates or taxes.
struct TermsFileOptions: ParsableArguments {
    @Argument(help: "File with a line each; - reads standard input.")
    var file: String

    func read() throws -> String { try String(ofFile: file) }
}
