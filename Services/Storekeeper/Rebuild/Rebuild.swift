import ArgumentParser
import Contracts
import Postgres
import Storage

/// `storekeeper rebuild`: proves that what is believed follows from the ledger.
struct Rebuild: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "rebuild", abstract: "Replay the ledger into a fresh schema and report every row that differs.",
        discussion: """
            Reads every notification of the ledger again, in the order in which it was recorded, into empty tables of a \
            new schema, by the same code that the state-updater runs, and compares what is believed then with what is \
            believed now: subscriptions, transactions, marks, steps, skipped steps and the accounts' claims. The live \
            tables are only read, so the line may go on; what arrives meanwhile is read too, and no purchase is judged \
            while its ledgers differ. Purchases are counted and not judged where retention has taken what some of their \
            notifications said.

            --repair then puts the rebuilt rows in the place of those that differ, one purchase at a time, if it still is \
            as it was when it was compared, and keeps in the trail who did it and why. It asks before, and needs --yes \
            where nobody can be asked. What could not be judged, or was rebuilt without a notification that this build \
            cannot read, is left. subscriptions.changed is not told: whoever keeps copies reads these purchases anew.

            Needs room for the state and an index of the ledger, and the right to create a schema in the database; \
            --repair needs the owner of the tables, or the role storekeeper_migrator. Exit codes: 0 every row of what can \
            be judged is the same, or was made so; 1 a row differs, a notification cannot be read, a purchase changed each \
            time it was looked at, none could be judged, or the world failed.
            """)

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var audit: AuditOptions

    @Flag(help: "Put the rebuilt rows in the place of those that differ.")
    var repair = false

    @Flag(help: "With --repair: say how many rows would be put in place, and change nothing.")
    var dryRun = false

    @Flag(help: "With --repair: do not ask.")
    var yes = false

    @Option(help: "The new schema. It must not exist. Default: the live one's name and _rebuild.")
    var into: String?

    @Flag(help: "Keep the new schema, for a look at it; drop it by hand.")
    var keep = false

    @Option(help: "How many of the differing rows are printed.")
    var limit = 100

    func validate() throws {
        if !repair, dryRun || yes { throw ValidationError("--dry-run and --yes need --repair") }
        guard limit > 0 else { throw ValidationError("--limit must be at least 1") }
    }

    func run(in context: CommandContext) async throws {
        var live = try database.configuration(for: "rebuild", in: context)
        // A ledger takes as long as it takes.
        live.statementTimeout = nil
        var fresh = live
        fresh.schema = into ?? live.schema + "_rebuild"
        guard fresh.schema != live.schema else {
            throw ValidationError("--into names the live schema \(live.schema); name another one")
        }
        let run = RebuildRun(
            live: live, fresh: fresh, isKept: keep, limit: limit, repair: try remedy(in: context),
            now: context.now)
        let report = try await SignalHandler.cancellingOnSignal { try await run.report() }
        if output.json {
            try output.print(json: RebuildSummary(report), in: context)
        } else {
            report.lines.forEach { context.print($0.escaped) }
            if keep { context.print("The schema \(fresh.schema) is kept; drop it by hand.") }
        }
        if !report.isClean { throw Exit.failed.code }
    }

    private func remedy(in context: CommandContext) throws -> RebuildRepair? {
        guard repair else { return nil }
        let (actor, note, now) = (audit.actor ?? context.user, audit.note, context.now)
        func remedy(_ extent: RebuildRepair.Extent) -> RebuildRepair {
            RebuildRepair(extent: extent) { subject in
                OperatorAction(
                    actedAt: now(), actor: actor, action: "rebuild --repair", subject: subject, note: note)
            }
        }
        if dryRun { return remedy(.plan) }
        if yes { return remedy(.whereAgreed { _ in true }) }
        guard let confirm = context.confirm else {
            throw ValidationError("--repair asks before it changes anything: run it on a terminal, or say --yes")
        }
        return remedy(.whereAgreed(confirm))
    }
}
