import ArgumentParser
import Commands
import Operations

/// `storekeeper insight rebuild`: all figures again.
struct InsightRebuild: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "rebuild", abstract: "Compute all figures of revenue again.",
        discussion: """
            Adds up the days and months again from what each purchase added to them, and has the scheduler compute every purchase again: after \
            a check that found differences, or after an upgrade whose notes ask for it.

            Examples:
              storekeeper insight rebuild --dry-run
              storekeeper insight rebuild --note "the check of 2026-10-31 found differences"
            """)

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var audit: AuditOptions

    @Flag(help: "Print what would happen; change nothing.")
    var dryRun = false

    func run(in context: CommandContext) async throws {
        let connection = try database.patientConnection(for: "insight", in: context)
        guard !dryRun else {
            return try await RebuildFigures().plan(on: connection).show(output, in: context)
        }
        let purchases = try await RebuildFigures().perform(on: connection, by: try audit.performer(in: context))
        guard !output.json else { return try output.print(json: ["purchases": purchases], in: context) }
        context.print(
            "The sums of days and months are new; the scheduler computes \(purchases.counted("purchase")) again.")
    }
}
