import ArgumentParser
import Commands
import Operations
import Storage

/// `storekeeper insight taxes`: taxes within prices, for estimates of proceeds.
struct InsightTaxes: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "taxes", abstract: "Load or list the taxes that prices include.",
        discussion: "Example: storekeeper insight taxes list",
        subcommands: [InsightTaxesLoad.self, InsightTaxesList.self])
}

/// `storekeeper insight taxes load`
struct InsightTaxesLoad: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "load", abstract: "Load tax shares of storefronts from a file.",
        discussion: """
            Lines storefront,from,percent such as DEU,2021-01-01,19: the tax in percent of the price without it, which prices of the \
            storefront include from that day until its next line; 0 where prices include none. Shares of the same days are replaced.

            Examples:
              storekeeper insight taxes load taxes.csv --source "tax adviser, 2026" --dry-run
              storekeeper insight taxes load taxes.csv --source "tax adviser, 2026"
            """)

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var audit: AuditOptions
    @OptionGroup var terms: TermsFileOptions

    @Option(help: "Who says so.")
    var source: String

    @Flag(help: "Print what would be loaded; change nothing.")
    var dryRun = false

    func run(in context: CommandContext) async throws {
        let operation = try LoadTaxShares(try terms.read(), from: source)
        guard !dryRun else { return try operation.plan().show(output, in: context) }
        let connection = try database.connection(for: "insight", in: context)
        let changed = try await operation.perform(on: connection, by: try audit.performer(in: context))
        guard !output.json else {
            return try output.print(json: ["shares": operation.shares.count, "changed": changed], in: context)
        }
        context.print("\(operation.shares.count.counted("tax share")) loaded; \(changed) new or changed.")
    }
}

/// `storekeeper insight taxes list`
struct InsightTaxesList: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List loaded tax shares.",
        discussion: "Example: storekeeper insight taxes list")

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func run(in context: CommandContext) async throws {
        let connection = try database.connection(for: "insight", in: context)
        try output.list(
            try await ProceedsTermsStore(connection).taxShares().map(Row.init), none: "No tax share is loaded.",
            in: context)
    }

    private struct Row: ListedRow {
        static let columns: [TextTable.Column] = ["storefront", "since", .number("thousandths of a percent"), "source"]

        var storefront: String
        var since: String
        /// Thousandths of a percent of the price without tax.
        var rate: Int32
        var source: String

        init(_ share: ProceedsTermsStore.TaxShare) {
            (storefront, rate, source) = (share.storefront, share.rate, share.source)
            since = FigureQuestion.text(share.firstDay)
        }

        var cells: [String] { [storefront, since, "\(rate)", source] }
    }
}
