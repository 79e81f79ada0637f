import ArgumentParser
import Commands
import Contracts
import Foundation
import Kafka
import Operations
import Pipeline
import Postgres
import ServerAPI
import Storage

/// `storekeeper import`: customers by the developer's own ids, with their purchases.
struct Import: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Import customers by your own ids, with their receipts or transactions.",
        discussion: """
            FILE, which may be compressed by gzip, is told apart by its beginning. JSON lines have one object each: customerId, and \
            where known appAccountToken, originalTransactionId, receipt (base64, or a stored answer of verifyReceipt). RevenueCat's \
            scheduled data export and Adapty's daily file are read by their headers: records of other stores and of the other \
            environment are left out. Of any other file of separated values --map names the columns. Nothing in a file becomes \
            state: it says whose a purchase may be, and Apple is asked for the whole history of each.

            Each customer gets a token or keeps the given one. Purchases of the row for which Apple names no account become the \
            customer's. The file of --outcomes gets one \
            JSON object per line: line, customerId, outcome (created, known, otherAccount, conflict, erased, invalid, failed) and a reason; \
            with otherAccount the customer is stored, and a purchase of the row stays with the account that Apple names. The \
            progress file makes the command resumable: after an interruption, or to retry what failed, run it again. Receipts \
            are not verified; what Apple answers about them is.

            Exit codes: 0 complete; 1 some rows have the outcome otherAccount, conflict, erased, invalid or failed, or a dependency was \
            unavailable; 130 interrupted.

            Example: storekeeper import customers.jsonl --app com.example.app --environment Production --dry-run
            """)

    @OptionGroup var customers: CustomerFileOptions

    @Option(help: "File for the outcome of each row (default: FILE.outcomes).")
    var outcomes: String?

    @Option(
        help: ArgumentHelp(
            "Columns of a file of separated values: \(ImportColumns.example); also appAccountToken, receipt.",
            valueName: "member=column,..."))
    var map: ImportColumns?

    @Flag(help: "Give the access that RevenueCat's export has as promotional, until its end.")
    var grants = false

    @Option(help: "Purchases that a dry run asks Apple about, 0 to 1000.")
    var sample = 20

    @Flag(help: "Print what would become of each row; change nothing.")
    var dryRun = false

    func validate() throws {
        guard (0...1000).contains(sample) else {
            throw ValidationError("--sample \(sample) is out of range: 0 to 1000")
        }
    }

    func run(in context: CommandContext) async throws {
        let connection = try customers.database.connection(for: "import", in: context)
        let kafka = dryRun ? nil : try customers.kafka.configuration(in: context)
        let summary = try await customers.apple.withClient(in: context) { client in
            guard let environment = StoreEnvironment(rawValue: client.environment.rawValue) else {
                throw ValidationError("--environment \(client.environment.rawValue) is not known to this build")
            }
            let bundleId = client.app.bundleId
            let performer = try customers.audit.performer(in: context)
            let list = try ImportList(
                FilePieces(path: customers.file), columns: map,
                reader: ImportReader(
                    bundleId: bundleId, environment: environment, takesGrants: grants, now: performer.now))
            let contents = ImportContents(list, share: try customers.apple.settings(in: context).limitShare)
            contents.lines.forEach(context.warn)
            let run = ImportRun(
                connection: connection, bundleId: bundleId, environment: environment, context: context)
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
            var given = 0
            for row in list.rows {
                let mapped = try await run.outcome(of: row, isDryRun: dryRun)
                tokens[row.line] = mapped.appAccountToken
                var result = ImportResult(row, mapped)
                if let account = mapped.appAccountToken, !dryRun, !row.grants.isEmpty {
                    do { given += try await run.give(row.grants, to: account, by: performer) } catch let error
                        as OperationError
                    {
                        result.fail("\(error)")
                    } catch let error as PostgresError where error.sqlState == ErasureStore.rejectedState {
                        result = ImportResult(row, ImportRun.Mapped(outcome: .erased))
                        tokens[row.line] = nil
                    }
                }
                results.append(result)
                shown.done += 1
                display.show(shown, isLast: shown.done == shown.total)
            }
            var summary = ImportSummary(dryRun: dryRun, contents, results)
            summary.grantsGiven = given
            if dryRun {
                let ids = Set(list.rows.flatMap(\.originalTransactionIds)).sorted()
                var asked = ImportSample()
                await asked.ask(client, about: ImportSample.selection(of: ids, sample))
                summary.sample = asked
            }
            if let kafka {
                let rows = list.rows.filter { tokens[$0.line] != nil }
                let fetched = try await fetch(rows, tokens, run, client, kafka, in: context, &summary)
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
        _ rows: [ImportList.Row], _ tokens: [Int: UUID], _ importing: ImportRun, _ client: AppStoreServerAPI,
        _ kafka: KafkaConfiguration, in context: CommandContext, _ summary: inout ImportSummary
    ) async throws -> ImportFetched {
        let journal = try BackfillJournal(
            at: customers.progressFile, of: "\(client.app.bundleId) \(client.environment.rawValue)")
        // One purchase brings the customer's whole history, of which the others are a part: but a row may be wrong.
        let ids = Array(Set(rows.flatMap(\.originalTransactionIds))).sorted()
        let left = ids.filter { !journal.done.contains($0) }
        summary.purchases = ids.count
        summary.fetchedBefore = ids.count - left.count
        let producer = try Producer(kafka, logger: .silent)
        var accounts: [String: [UUID]] = [:]
        for row in rows {
            guard let account = tokens[row.line] else { continue }
            for id in row.originalTransactionIds { accounts[id, default: []].append(account) }
        }
        let run = BackfillRun(
            client: client, producer: producer, seal: try RecordSeal(context), journal: journal,
            parallel: customers.parallel, now: context.now
        ) { [accounts] id, original in try await importing.claim(original, for: accounts[id] ?? []) }
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
            var withheld: Set<String> = []
            for id in row.originalTransactionIds {
                if let reason = counts.rejected[id] { fetched.failures[row.line] = "\(id): \(reason)" }
                if let named = counts.accounts[id], named != tokens[row.line] {
                    withheld.insert(counts.originals[id] ?? id)
                }
            }
            let originals = row.originalTransactionIds.compactMap { counts.originals[$0] }
            if !originals.isEmpty {
                withheld.formUnion(try await importing.withheld(originals, from: tokens[row.line]))
            }
            if !withheld.isEmpty { fetched.withheld[row.line] = withheld.sorted() }
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
