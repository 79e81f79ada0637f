import AppStore
import ArgumentParser
import Commands
import Foundation
import Kafka
import Pipeline
import Storage

/// `storekeeper backfill`: imports customers' purchase history, for a start or beyond Apple's notification history.
struct Backfill: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "backfill", abstract: "Import the purchase history of listed customers from Apple.",
        discussion: """
            FILE, which may be compressed by gzip, lists an original transaction id or a base64 app receipt per line (as apps send \
            it, or latest_receipt of verifyReceipt); all purchases of that Apple account are imported. Empty lines and text \
            after # are ignored. An unreadable receipt is reported and skipped, and so is one of another app or \
            environment; any other line rejects the file. Everything Apple returns is signed and passes all checks; older \
            data never overwrites newer data. The progress file makes the command resumable: after an interruption, or to \
            retry failed customers, run it again. With DATABASE_URL, the audit log records the run.

            Exit codes: 0 complete; 1 some customers failed, or a dependency was unavailable; 130 interrupted.

            Examples:
              storekeeper backfill customers.txt --dry-run
              storekeeper backfill customers.txt --app com.example.app --environment Production
            """)

    @OptionGroup var customers: CustomerFileOptions

    @Flag(help: "Print the number of customers, total and remaining; import nothing.")
    var dryRun = false

    func run(in context: CommandContext) async throws {
        let list = try CustomerList(FilePieces(path: customers.file).text())
        let kafka = dryRun ? nil : try customers.kafka.configuration(in: context)
        let summary = try await customers.apple.withClientAndClock(in: context) { client, context in
            let journal = try BackfillJournal(
                at: customers.progressFile, of: "\(client.app.bundleId) \(client.environment.rawValue)")
            let (ids, strangers) = list.parted(for: client.app.bundleId, in: client.environment)
            let left = ids.filter { !journal.done.contains($0) }
            report(list.faults, strangers, to: context)
            var summary = BackfillSummary(
                dryRun: dryRun, customers: ids.count, left: left.count, unreadableReceipts: list.faults.count,
                strangers: strangers.count)
            guard let kafka else { return summary }
            // Recorded first, so that an interrupted run is in the audit log, too.
            if customers.database.isGiven(in: context) {
                let connection = try customers.database.connection(for: "backfill", in: context)
                try await customers.audit.record(
                    "backfill", on: ["\(journal.place), \(left.count) customers of \(customers.file)"],
                    to: OperatorActionStore(connection), in: context)
            }
            let producer = try Producer(kafka, logger: .silent)
            let run = BackfillRun(
                client: client, producer: producer, seal: try RecordSeal(context), journal: journal,
                parallel: customers.parallel,
                now: context.now)
            let tally: BackfillRun.Counts
            do {
                tally = try await SignalHandler.cancellingOnSignal { try await run.run(left, of: ids.count) }
            } catch let interruption as Interrupted {
                context.warn("Progress is saved; run the same command to continue.")
                throw interruption
            }
            await producer.close(deadline: .seconds(5))
            summary.join(tally)
            return summary
        }
        for (id, reason) in summary.rejected.sorted(by: { $0.key < $1.key }) {
            context.warn("\(id): \(reason)".escaped)
        }
        if customers.output.json {
            try customers.output.print(json: summary, in: context)
        } else {
            context.print(summary.sentence)
        }
        if !dryRun, !summary.isWhole { throw Exit.failed.code }
    }

    /// Warnings about customers that are skipped.
    private func report(
        _ faults: [(line: Int, fault: ReceiptFault)], _ strangers: [CustomerList.Stranger],
        to context: CommandContext
    ) {
        for (line, fault) in faults { context.warn("line \(line): skipped, unusable receipt: \(fault)") }
        for stranger in strangers { context.warn("\(stranger.id): skipped, its receipt is \(stranger.place)") }
    }
}
