import ArgumentParser
import Commands
import Contracts
import Postgres
import Storage

/// `storekeeper rebuild`: checks that the state follows from the ledger.
struct Rebuild: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "rebuild", abstract: "Rebuild the state from the ledger and compare.",
        discussion: """
            Applies every notification of the ledger (the table of all notifications), in the order in which it was stored, to empty tables of a new \
            schema, by the code of the state-updater, and compares the result with the live state of each purchase. \
            The live tables are only read, and the pipeline continues: notifications that arrive meanwhile are applied \
            too. A purchase is counted, but not compared, where retention deleted the payloads of some of its \
            notifications, or where it changed during every comparison. Whose consent a parent withdrew (RESCIND_CONSENT) \
            is compared with Apple's payloads, too.

            --repair then replaces differing rows by the rebuilt ones, one purchase at a time, if it has not changed \
            since the comparison, and records that in the audit log. It asks for confirmation, or takes --yes. Purchases \
            that could not be compared, or have a notification that this release cannot read, are skipped. No message is \
            published on subscriptions.changed: consumers with copies must read these purchases again.

            Needs disk space for the state and an index of the ledger, and the right to create a schema; --repair needs \
            the owner of the tables or the role storekeeper_migrator. Exit codes: 0 no differences, or all repaired; 1 \
            differences, unreadable notifications, purchases that kept changing, or nothing could be compared.

            Examples:
              storekeeper rebuild --limit 20
              storekeeper rebuild --repair --dry-run
            """)

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var audit: AuditOptions

    @Flag(help: "Replace differing rows by the rebuilt ones.")
    var repair = false

    @Flag(help: "Print the number of rows to repair; change nothing.")
    var dryRun = false

    @Flag(help: "Repair without confirmation.")
    var yes = false

    @Option(help: "Name of the new schema (default: the live schema with _rebuild).")
    var into: String?

    @Flag(help: "Keep the new schema for inspection.")
    var keep = false

    @Option(help: "Maximum number of differing rows to print.")
    var limit = 100

    func validate() throws {
        if !repair, dryRun || yes { throw ValidationError("--dry-run and --yes need --repair") }
        guard limit > 0 else { throw ValidationError("--limit \(limit) is out of range: at least 1") }
    }

    func run(in context: CommandContext) async throws {
        var live = try database.configuration(for: "rebuild", in: context)
        // Reading the ledger may take hours.
        live.statementTimeout = nil
        var fresh = live
        fresh.schema = into ?? live.schema + "_rebuild"
        fresh.plansOnce = true
        guard fresh.schema != live.schema else {
            throw ValidationError("--into \(live.schema) is the live schema; choose another")
        }
        let run = RebuildRun(
            live: live, fresh: fresh, isKept: keep, limit: limit, repair: try repairState(in: context),
            now: context.now)
        let report = try await SignalHandler.cancellingOnSignal { try await run.report() }
        if output.json {
            try output.print(json: RebuildSummary(report), in: context)
        } else {
            report.lines.forEach { context.print($0.escaped) }
            if keep { context.print("Kept schema \(fresh.schema); drop it when you no longer need it.") }
        }
        if !report.isClean { throw Exit.failed.code }
    }

    private func repairState(in context: CommandContext) throws -> RebuildRepair? {
        guard repair else { return nil }
        let (actor, note, now) = (audit.actor ?? context.user, audit.note, context.now)
        func repairState(_ extent: RebuildRepair.Extent) -> RebuildRepair {
            RebuildRepair(extent: extent, now: now) { subject in
                OperatorAction(
                    actedAt: now(), actor: actor, operation: "rebuild --repair", subject: subject, reason: note)
            }
        }
        if dryRun { return repairState(.plan) }
        if yes { return repairState(.whereAgreed { _ in true }) }
        guard let confirm = context.confirm else {
            throw ValidationError("--repair asks for confirmation and there is no terminal: add --yes")
        }
        return repairState(.whereAgreed(confirm))
    }
}
