import ArgumentParser
import Contracts
import Postgres
import Storage

/// `storekeeper rebuild`: proves that what is believed follows from the ledger.
struct Rebuild: Verb {
    static let configuration = CommandConfiguration(
        commandName: "rebuild", abstract: "Replay the ledger into a fresh schema and report every row that differs.",
        discussion: """
            Reads every notification of the ledger again, in the order in which it was recorded, into empty tables of a \
            new schema, by the same code that the state-updater runs, and compares what is believed then with what is \
            believed now: subscriptions, transactions, marks, steps, skipped steps and the accounts' claims. The live \
            tables are only read, so the line may go on; what arrives meanwhile is read too, and no purchase is judged \
            while its ledgers differ. Purchases are counted and not judged where retention has taken what some of their \
            notifications said.

            Needs room for the state and an index of the ledger, and the right to create a schema. Exit codes: 0 every \
            row of what can be judged is the same; 1 a row differs, a notification cannot be read, a purchase changed each \
            time it was looked at, none could be judged, or the world failed.
            """)

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    @Option(help: "The new schema. It must not exist. Default: the live one's name and _rebuild.")
    var into: String?

    @Flag(help: "Keep the new schema, for a look at it; drop it by hand.")
    var keep = false

    @Option(help: "How many of the differing rows are printed.")
    var limit = 100

    func run(in surroundings: Surroundings) async throws {
        var live = try database.configuration(for: "rebuild", in: surroundings)
        // A ledger takes as long as it takes.
        live.statementTimeout = nil
        var fresh = live
        fresh.schema = into ?? live.schema + "_rebuild"
        guard fresh.schema != live.schema else {
            throw ValidationError("--into names the live schema \(live.schema); name another one")
        }
        let (configuration, rebuilt, isKept) = (live, fresh, keep)
        let display = ProgressDisplay()
        let report = try await Interruption.interrupting {
            try await RebuildRun(
                live: configuration, fresh: rebuilt, isKept: isKept, now: surroundings.now,
                show: { display.show($0, isLast: $1) }
            ).report()
        }
        if output.json {
            try output.print(json: RebuildSummary(report, limit: limit), in: surroundings)
        } else {
            report.lines(limit: limit).forEach { surroundings.print($0.visible) }
            if keep { surroundings.print("The schema \(fresh.schema) is kept; drop it by hand.") }
        }
        if !report.isClean { throw Exit.failed.code }
    }
}
