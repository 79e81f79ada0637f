import AppStore
import ArgumentParser
import Commands
import Contracts
import Foundation
import Kafka
import Operations
import Pipeline
import Storage

/// `storekeeper import`: customers by the developer's own ids, with their purchases.
struct Import: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Import customers by your own ids, with their receipts or transactions.",
        discussion: """
            FILE has one JSON object per line: customerId, and where known appAccountToken, originalTransactionId, \
            receipt (base64). Each customer gets a token or keeps the given one. Purchases of the row for which \
            Apple names no account become the customer's, and Apple is asked for the whole history. The file of --outcomes gets one \
            JSON object per line: line, customerId, outcome (created, known, otherAccount, conflict, invalid, failed) and a reason; \
            with otherAccount the customer is stored, and a purchase of the row stays with the account that Apple names. The \
            progress file makes the command resumable: after an interruption, or to retry what failed, run it again. Receipts \
            are not verified; what Apple answers about them is.

            Exit codes: 0 complete; 1 some rows have the outcome otherAccount, conflict, invalid or failed, or a dependency was \
            unavailable; 130 interrupted.

            Example: storekeeper import customers.jsonl --app com.example.app --environment Production --dry-run
            """)

    @OptionGroup var customers: CustomerFileOptions

    @Option(help: "File for the outcome of each row (default: FILE.outcomes).")
    var outcomes: String?

    @Flag(help: "Print what would become of each row; change nothing, request nothing from Apple.")
    var dryRun = false

    func run(in context: CommandContext) async throws {
        let content = try customers.content()
        let connection = try customers.database.connection(for: "import", in: context)
        let kafka = dryRun ? nil : try customers.kafka.configuration(in: context)
        let summary = try await customers.apple.withClient(in: context) { client in
            guard let environment = StoreEnvironment(rawValue: client.environment.rawValue) else {
                throw ValidationError("--environment \(client.environment.rawValue) is not known to this build")
            }
            let bundleId = client.app.bundleId
            let list = ImportList(content, of: bundleId)
            let run = ImportRun(
                records: CustomerRecords(connection), claims: CustomerStore(connection), bundleId: bundleId,
                environment: environment, context: context)
            if !dryRun {
                // First, so that an interrupted run is in the audit log, too.
                try await customers.audit.record(
                    "import",
                    on: ["\(bundleId) \(environment.rawValue), \(list.rows.count) customers of \(customers.file)"],
                    about: OperatorAction.About(environment, bundleId), to: OperatorActionStore(connection), in: context
                )
            }
            var results = list.faults.map { ImportResult(line: $0.line, outcome: "invalid", reason: $0.reason) }
            let display = ProgressDisplay()
            var shown = ProgressLine(noun: "customers", total: list.rows.count, done: 0, elapsed: .zero)
            var tokens: [Int: UUID] = [:]
            for row in list.rows {
                let mapped = try await run.outcome(of: row, isDryRun: dryRun)
                tokens[row.line] = mapped.appAccountToken
                results.append(ImportResult(row, mapped))
                shown.done += 1
                display.show(shown, isLast: shown.done == shown.total)
            }
            var summary = ImportSummary(dryRun: dryRun, results)
            if let kafka {
                let rows = list.rows.filter { row in results.contains { $0.line == row.line && $0.isMapped } }
                let fetched = try await fetch(rows, tokens, client, kafka, in: context, &summary)
                results = results.map { $0.joined(fetched) }
            }
            summary.count(results)
            try write(results)
            return summary
        }
        if customers.output.json {
            try customers.output.print(json: summary, in: context)
        } else {
            context.print(summary.sentence)
        }
        if !summary.isWhole, !dryRun { throw Exit.failed.code }
    }

    /// - Parameter tokens: of the customers, by line.
    private func fetch(
        _ rows: [ImportList.Row], _ tokens: [Int: UUID], _ client: AppStoreServerAPI, _ kafka: KafkaConfiguration,
        in context: CommandContext, _ summary: inout ImportSummary
    ) async throws -> ImportFetched {
        let journal = try BackfillJournal(
            at: customers.progressFile, of: "\(client.app.bundleId) \(client.environment.rawValue)")
        // One purchase brings the customer's whole history, of which the others are a part: but a row may be wrong.
        let ids = Array(Set(rows.flatMap(\.originalTransactionIds))).sorted()
        let left = ids.filter { !journal.done.contains($0) }
        summary.purchases = ids.count
        summary.fetchedBefore = ids.count - left.count
        let producer = try Producer(kafka, logger: .silent)
        let run = BackfillRun(
            client: client, producer: producer, seal: try RecordSeal(context), journal: journal,
            parallel: customers.parallel, now: context.now)
        let counts: BackfillRun.Counts
        do {
            counts = try await SignalHandler.cancellingOnSignal { try await run.run(left, of: ids.count) }
        } catch let interruption as Interrupted {
            context.warn("Progress is saved; run the same command to continue.")
            throw interruption
        }
        await producer.close(deadline: .seconds(5))
        summary.signedObjects = counts.signedObjects
        var fetched = ImportFetched()
        for row in rows {
            for id in row.originalTransactionIds {
                if let reason = counts.rejected[id] { fetched.failures[row.line] = "\(id): \(reason)" }
                if let named = counts.accounts[id], named != tokens[row.line] {
                    fetched.withheld[row.line, default: []].append(id)
                }
            }
        }
        return fetched
    }

    private func write(_ results: [ImportResult]) throws {
        let path = outcomes ?? customers.file + ".outcomes"
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        var data = Data()
        for result in results.sorted(by: { $0.line < $1.line }) {
            data += try encoder.encode(result)
            data.append(UInt8(ascii: "\n"))
        }
        do {
            try data.write(to: URL(fileURLWithPath: path), options: .atomic)
        } catch {
            throw CommandError("the outcomes cannot be written to \(path.escaped): choose another file with --outcomes")
        }
    }
}
