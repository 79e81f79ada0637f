import AppStore
import ArgumentParser
import Foundation
import Kafka
import Storage

/// `storekeeper backfill`: what Apple knows of customers comes onto the line, for a start or where its history of
/// notifications does not reach.
struct Backfill: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "backfill", abstract: "Put all that Apple knows of customers onto the line.",
        discussion: """
            FILE holds one customer per line, by an original transaction id or by an app receipt of the time before signed \
            transactions (base64, as apps send it or as latest_receipt of verifyReceipt); empty lines and what follows a # \
            do not count. A receipt that cannot be read is named by its line and holds up no other; a line that is neither \
            refuses the file. Everything \
            comes signed and passes all checks; nothing older overwrites what is known. What is done is written to the \
            progress file, so that the same command goes on after an interruption; what Apple refused is tried again then. \
            With a database to write to, the trail keeps who did it and why.

            Exit codes: 0 all done; 1 some were refused by Apple, could not be proven or read, or the world failed; 130 \
            interrupted.
            """)

    @OptionGroup var apple: AppleOptions
    @OptionGroup var kafka: KafkaOptions
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var audit: AuditOptions
    @OptionGroup var output: OutputOptions

    @Argument(help: "The file of original transaction ids and receipts.")
    var file: String

    @Option(help: "Where to write what is done. Default: FILE.progress.")
    var progress: String?

    @Option(help: "How many customers to ask about at the same time.")
    var parallel = 20

    @Flag(help: "Say how many there are and how many are left, and do nothing.")
    var dryRun = false

    func validate() throws {
        guard (1...200).contains(parallel) else { throw ValidationError("--parallel must lie between 1 and 200") }
    }

    func run(in context: CommandContext) async throws {
        guard let content = FileManager.default.contents(atPath: file) else {
            throw ValidationError("\(file.escaped) cannot be read")
        }
        let list = try CustomerList(String(decoding: content, as: UTF8.self))
        let kafka = dryRun ? nil : try kafka.configuration(in: context)
        let summary = try await apple.withClient(in: context) { client in
            let book = try BackfillJournal(
                at: progress ?? file + ".progress", of: "\(client.app.bundleId) \(client.environment.rawValue)")
            let strangers = list.customers.filter { ($0.bundleId ?? client.app.bundleId) != client.app.bundleId }
            let ids = list.customers.filter { !strangers.contains($0) }.map(\.id)
            let left = ids.filter { !book.done.contains($0) }
            report(list.faults, strangers, to: context)
            var summary = BackfillSummary(
                dryRun: dryRun, customers: ids.count, left: left.count, unreadableReceipts: list.faults.count,
                strangers: strangers.count)
            guard let kafka else { return summary }
            // Before anything is done: an interruption leaves its trace, too.
            if database.isGiven(in: context) {
                let connection = try database.connection(for: "backfill", in: context)
                try await audit.record(
                    "backfill", on: ["\(book.place), \(left.count) customers of \(file)"],
                    to: OperatorActionStore(connection), in: context)
            }
            let producer = try Producer(kafka, logger: .silent)
            let run = BackfillRun(
                client: client, producer: producer, book: book, parallel: parallel, now: context.now)
            let tally: BackfillRun.Counts
            do {
                tally = try await SignalHandler.cancellingOnSignal { try await run.run(left, of: ids.count) }
            } catch let interruption as Interrupted {
                context.warn("What is done is kept; the same command goes on from here.")
                throw interruption
            }
            await producer.close(deadline: .seconds(5))
            summary.join(tally)
            return summary
        }
        for (id, reason) in summary.refused.sorted(by: { $0.key < $1.key }) {
            context.warn("\(id): \(reason)".escaped)
        }
        if output.json {
            try output.print(json: summary, in: context)
        } else {
            context.print(summary.sentence)
        }
        if !dryRun, !summary.isWhole { throw Exit.failed.code }
    }

    /// What is not asked about.
    private func report(
        _ faults: [(line: Int, fault: ReceiptFault)], _ strangers: [CustomerList.Customer],
        to context: CommandContext
    ) {
        for (line, fault) in faults { context.warn("line \(line): the receipt cannot be used: \(fault)") }
        for stranger in strangers {
            context.warn("\(stranger.id): its receipt is of another app, \((stranger.bundleId ?? "").escaped)")
        }
    }
}
