import ArgumentParser
import Commands
import Contracts
import Foundation
import Operations
import Postgres
import ServerAPI
import Storage

/// `storekeeper compare FILE`.
struct CompareRun: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Compare a file, or the files of a directory; the default.",
        discussion: """
            FILE is what storekeeper import reads, told apart in the same way; the columns of own tables and the members of JSON \
            lines may also be productId, entitlement and expiresAt (never: no end). Of each customer and entitlement, at the \
            moment of the file: whether and until when both sides give access, and the cause of each difference. Differences are \
            kept for 90 days; storekeeper compare list and the console show them with the purchase and the notification that \
            decided. The same file again replaces what it gave before.

            Of a directory each file is compared that was not yet, also those of directories within; the daily files of Adapty are \
            read as one, because each has the events of a day only, and end at a midnight, which --taken-at has to name. Records \
            need room for temporary files, as much as the file without compression.

            Exit codes: 0 every line was compared and nothing is unexplained; 1 not so, or a dependency was unavailable; 130 \
            interrupted.

            Examples:
              storekeeper compare export.csv.gz --app com.example.app --environment Production
              storekeeper compare run exports --app com.example.app --ask 0 --json
              storekeeper compare run adapty --taken-at 2026-11-28 --app com.example.app
            """)

    @OptionGroup var apple: AppleOptions
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var audit: AuditOptions
    @OptionGroup var output: OutputOptions

    @Argument(help: "File, or directory of files.")
    var file: String

    @Option(help: "Moment of the file: \(TimeArgument.help) (default: when it was last changed).")
    var takenAt: TimeArgument?

    @Option(
        help: ArgumentHelp(
            "Columns of a file of separated values: \(ImportColumns.example); also productId, entitlement, expiresAt, receipt.",
            valueName: "member=column,..."))
    var map: ImportColumns?

    @Option(help: "Purchases not known here that Apple is asked about, 0 to 100000; 0 needs no API key.")
    var ask = 1000

    @Flag(help: "Compare all files of a directory, also those that were compared before.")
    var again = false

    func validate() throws {
        guard (0...100_000).contains(ask) else { throw ValidationError("--ask \(ask) is out of range: 0 to 100000") }
    }

    func run(in context: CommandContext) async throws {
        guard ask > 0 else {
            guard let app = apple.app else {
                throw ValidationError("name the app with --app: without Apple's API there is no other way to know it")
            }
            return try await compare(
                CoverageStore.App(apple.environment ?? .production, app), asking: nil, in: context)
        }
        try await apple.withClient(in: context) { client in
            let asking = AskedPurchases(limit: ask, client)
            try await compare(
                CoverageStore.App(client.storeEnvironment, client.app.bundleId), asking: asking, in: context)
            if let warning = await asking.warning { context.warn(warning) }
        }
    }

    private func compare(
        _ app: CoverageStore.App, asking: AskedPurchases?, in context: CommandContext
    ) async throws {
        // One for each core that the comparison is to use.
        let connections = try (0..<2).map { _ in try database.patientConnection(for: "compare", in: context) }
        let isDirectory = file.isDirectory
        let now = context.now()
        let moment = takenAt?.date(now: now)
        let files =
            isDirectory
            ? try CompareFile.all(in: file, columns: map, takenAt: moment)
            : [try CompareFile(file, columns: map, takenAt: moment)]
        var summaries: [CompareSummary] = []
        for file in files {
            guard file.takenAt <= now else {
                throw CommandError(
                    "\(file.paths[0].escaped) is of \(file.takenAt.text), which is not over: give --taken-at")
            }
            if isDirectory, !again {
                let done = try await ComparisonStore(connections[0]).finished(
                    of: app.bundleId, in: app.environment, source: file.shape.source.rawValue,
                    within: file.takenAt..<file.takenAt.addingTimeInterval(1))
                guard done.isEmpty else { continue }
            }
            let summary = try await compare(file, app, asking, connections, in: context)
            summaries.append(summary)
            if !output.json { summary.lines.forEach(context.print) }
        }
        if output.json {
            if isDirectory {
                try output.print(json: summaries, in: context)
            } else {
                try output.print(json: summaries[0], in: context)
            }
        } else if summaries.isEmpty {
            context.print("Every file of \(file.escaped) was compared before.")
        }
        guard summaries.allSatisfy(\.isExplained) else { throw Exit.failed.code }
    }

    private func compare(
        _ file: CompareFile, _ app: CoverageStore.App, _ asking: AskedPurchases?, _ connections: [PostgresConnection],
        in context: CommandContext
    ) async throws -> CompareSummary {
        let name = file.paths.count == 1 ? file.paths[0] : "\(file.paths.count) files, to \(file.paths.last ?? "")"
        context.warn("\(name.escaped): \(file.shape.name) of \(file.takenAt.text).")
        let display = ProgressDisplay()
        let contents = try CompareContents(
            file, columns: map,
            reader: ImportReader(bundleId: app.bundleId, environment: app.environment, now: file.takenAt)
        ) { records in display.show("\(records) records read") }
        for fault in contents.faults { context.warn("line \(fault.line) of \(fault.file.escaped): \(fault.reason)") }
        if contents.counts.invalid > contents.faults.count {
            context.warn("… and \(contents.counts.invalid - contents.faults.count) more lines that cannot be used")
        }
        var comparison = Comparison(
            id: context.id(), environment: app.environment, bundleId: app.bundleId, source: file.shape.source.rawValue,
            takenAt: file.takenAt, startedAt: context.now())
        let store = ComparisonStore(connections[0])
        // First, so that an interrupted run is in the audit log, too.
        try await store.begin(
            comparison,
            audit: try audit.performer(in: context).action(
                CompareAccess.name, on: "\(app.bundleId) \(app.environment.rawValue), \(name), of \(file.takenAt.text)",
                about: OperatorAction.About(app.environment, app.bundleId)))
        let purchases = contents.purchases
        let operation = CompareAccess(
            comparison, definitions: try await EntitlementDefinitionStore(connections[0]).current(),
            isNamed: { purchases.contains(CompareContents.key($0)) },
            asksApple: asking.map { asking in { @Sendable id in await asking.isKnown(id) } })
        var customers: ArraySlice<IncumbentCustomer> = []
        var bucket = 0
        let total = try await operation.compareAll(on: connections) {
            while customers.isEmpty {
                guard let next = try contents.buckets.customers(of: bucket) else { return nil }
                bucket += 1
                customers = next[...]
            }
            defer { customers = customers.dropFirst(CompareAccess.portion) }
            return Array(customers.prefix(CompareAccess.portion))
        } progress: { customers, accounts in
            display.show(
                accounts == 0
                    ? "\(customers.counted("customer")) compared, \(bucket) of \(CustomerBuckets.count) parts of the file"
                    : "\(customers.counted("customer")) compared, \(accounts.counted("account")) here looked at")
        }
        comparison.counts = contents.counts
        comparison.counts.add(total.counts)
        try await store.finish(comparison, at: context.now())
        if !total.undefined.isEmpty {
            let names = total.undefined.sorted().prefix(20).joined(separator: ", ")
            context.warn(
                "Not defined here, and compared as products: \(names.escaped). Define entitlements of the same names.")
        }
        return CompareSummary(comparison, faults: contents.faults)
    }
}

/// Apple's answers about purchases that are not known here.
actor AskedPurchases {
    private var left: Int
    private let client: AppStoreServerAPI
    private var failure: String?
    private var notAsked = 0

    init(limit: Int, _ client: AppStoreServerAPI) {
        left = limit
        self.client = client
    }

    /// Whether Apple knows the id; nil where Apple was not asked.
    func isKnown(_ id: String) async -> Bool? {
        guard left > 0, failure == nil else {
            notAsked += 1
            return nil
        }
        left -= 1
        do {
            _ = try await client.transactionInfo(id)
            return true
        } catch APIError.rejected(let rejection) where rejection.isNotFound {
            return false
        } catch {
            failure = "\(error)"
            return nil
        }
    }

    /// A sentence for the operator; nil where Apple answered about all.
    var warning: String? {
        guard notAsked > 0 || failure != nil else { return nil }
        return "Apple was not asked about \(notAsked.counted("purchase")) of the file that are not known here"
            + (failure.map { ": \($0)" } ?? "; raise --ask") + ". They are among the unexplained."
    }
}
