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
        let summary = try await customers.apple.withClientAndClock(in: context) { client, context in
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
            let faults = list.faults.map { ImportResult(line: $0.line, outcome: "invalid", reason: $0.reason) }
            let storing = ImportCustomers(run: run, rows: list.rows, performer: performer, isDryRun: dryRun)
            var summary: ImportSummary
            var results: [ImportResult]
            if let kafka {
                let fetch = try ImportFetch(
                    run: run, client: client, producer: Producer(kafka, logger: .silent), seal: RecordSeal(context),
                    journal: BackfillJournal(
                        at: customers.progressFile, of: "\(bundleId) \(client.environment.rawValue)"),
                    parallel: customers.parallel, context: context)
                let (stored, fetched) = try await fetch.run(storing)
                results = faults + stored.results.map { $0.joined(fetched) }
                summary = ImportSummary(dryRun: dryRun, contents, results)
                (summary.grantsGiven, summary.purchases) = (stored.grants, fetched.purchases)
                (summary.fetchedBefore, summary.signedObjects) = (fetched.fetchedBefore, fetched.signedObjects)
            } else {
                results = faults + (try await storing.store()).results
                summary = ImportSummary(dryRun: dryRun, contents, results)
                let ids = Set(list.rows.flatMap(\.originalTransactionIds)).sorted()
                var asked = ImportSample()
                await asked.ask(client, about: ImportSample.selection(of: ids, sample))
                summary.sample = asked
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
