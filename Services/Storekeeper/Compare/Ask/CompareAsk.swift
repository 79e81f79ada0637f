import ArgumentParser
import Chassis
import Commands
import Contracts
import Foundation
import HTTPLimits
import Operations
import ServerAPI
import Storage

/// `storekeeper compare ask`: a file to compare, where the other system has no export.
struct CompareAsk: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "ask", abstract: "Ask the other system about listed customers, where it has no export.",
        discussion: """
            FILE has the id of a customer on each line, as the other system knows it; it may be compressed by gzip. RevenueCat's API v1 \
            or Adapty's server-side API is asked about one customer after another, at --rate, and where it answers 429 after the \
            pause that it wants. Of an answer the file of answers gets what a comparison reads, and nothing else: it has the columns \
            of the system's export, for storekeeper compare and storekeeper import, and is of the moment when the first customer was \
            asked about. The database says which purchase a transaction belongs to, and its audit log has the run.

            RevenueCat creates a customer whom it does not know when it is asked: list ids that it has. Adapty's API, like its daily \
            file, says nothing of access by hand.

            Answers are kept in a progress file beside the file of answers until there is one about every customer: after an \
            interruption, or to retry what failed, run the same command again.

            Exit codes: 0 complete; 1 some customers could not be asked about, or a dependency was unavailable; 130 interrupted.

            Examples:
              storekeeper compare ask ids.txt --system revenuecat --key-file revenuecat.key --app com.example.app
              storekeeper compare ids.txt.answers.csv --app com.example.app
            """)

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var audit: AuditOptions
    @OptionGroup var output: OutputOptions

    @Argument(help: "File of customers' ids.")
    var file: String

    @Option(help: "System to ask: \(OtherSystem.allCases.map(\.rawValue).joined(separator: " or ")).")
    var system: OtherSystem

    @Option(help: "File of the system's secret API key.")
    var keyFile: String

    @Option(help: "Bundle id of the app.")
    var app: String

    @Option(help: "Environment of the App Store (default: Production).")
    var environment = StoreEnvironment.production

    @Option(help: "File of the answers (default: FILE.answers.csv).")
    var answers: String?

    @Option(help: "Requests per second, 0.1 to 100; 8 are the 480 a minute that RevenueCat documents for its API v2.")
    var rate = 8.0

    @Option(help: "URL in place of the system's API, for the simulator.")
    var url: String?

    func validate() throws {
        guard (0.1...100).contains(rate) else { throw ValidationError("--rate \(rate) is out of range: 0.1 to 100") }
        if let url { try Self.check(url) }
    }

    /// Keys travel encrypted, or stay on this machine.
    private static func check(_ url: String) throws {
        let parts = URLComponents(string: url)
        let isLocal = ["127.0.0.1", "localhost", "[::1]", "::1"].contains(parts?.host ?? "")
        guard parts?.host != nil, parts?.scheme == "https" || (parts?.scheme == "http" && isLocal), !url.hasSuffix("/"),
            parts?.url?.hasUsablePort == true
        else {
            throw ValidationError(
                "--url \(url.escaped) is no https URL without a slash at its end; http is for this machine alone")
        }
    }

    func run(in context: CommandContext) async throws {
        let target = answers ?? file + ".answers.csv"
        guard !FileManager.default.fileExists(atPath: target) else {
            throw CommandError("\(target.escaped) is there already: compare it, or name another file with --answers")
        }
        let secret = try key()
        let customers = try AskedCustomers(FilePieces(path: file)).ids
        let connection = try database.connection(for: "compare", in: context)
        try await KnownAppsWarning(connection: connection).warn(about: app, in: context)
        let place = "\(system.rawValue) \(app) \(environment.rawValue)"
        let progress = try AskProgress(
            at: target + ".progress", of: place, columns: system.columns, now: context.now())
        let left = customers.filter { !progress.done.contains($0.exact) }
        // Recorded first, so that an interrupted run is in the audit log, too.
        try await audit.record(
            "compare ask", on: ["\(place), \(left.count) customers of \(file)"],
            about: OperatorAction.About(environment, app), to: OperatorActionStore(connection), in: context)
        let clock = APIClock(now: context.now, random: { .random(in: 0..<1) })
        let transport = APITransport(userAgent: "Storekeeper/\(BuildInformation.version)")
        let store = TransactionStore(connection)
        let run = AskRun(
            client: OtherSystemClient(
                system: system, base: url ?? system.url, key: secret, transport: transport,
                limit: RequestLimit(perSecond: rate, burst: 1, clock: clock), clock: clock), progress: progress
        ) { [app, environment] ids in try await store.originals(of: ids, bundleId: app, in: environment) }
        let result: Result<AskRun.Counts, any Error>
        do {
            result = .success(
                try await SignalHandler.cancellingOnSignal { try await run.run(left, of: customers.count) })
        } catch { result = .failure(error) }
        try? await transport.shutdown()
        if case .failure = result { context.warn("Progress is saved; run the same command to continue.") }
        let summary = AskSummary(self, customers.count, left.count, try result.get(), progress.began, target)
        for (id, reason) in summary.failed.sorted(by: { $0.key < $1.key }) { context.warn("\(id): \(reason)".escaped) }
        if summary.failed.isEmpty { try progress.finish(into: target) }
        if output.json {
            try output.print(json: summary, in: context)
        } else {
            summary.lines.forEach { context.print($0.escaped) }
        }
        guard summary.failed.isEmpty else { throw Exit.failed.code }
    }

    private func key() throws -> Secret {
        let lines = try KeyFile.lines(of: keyFile, named: "--key-file")
        guard lines.count == 1, lines[0].allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw CommandError("\(keyFile.escaped) must have the key on one line, and nothing else")
        }
        return Secret(revealing: lines[0])
    }
}

/// The result of asking another system.
struct AskSummary: Encodable, Sendable {
    var system: String
    var app: String
    var environment: String
    /// Customers of the file.
    var customers: Int
    /// Number of them that this run asked about.
    var asked: Int
    /// Number of them that earlier runs asked about.
    var askedBefore: Int
    /// Customers of this run whom the other system does not have.
    var unknown: [String]
    /// Customers who could not be asked about, with the reason.
    var failed: [String: String]
    /// The file of the answers; nil while there is none about every customer.
    var answers: String?
    /// The moment at which the answers are compared.
    var takenAt: Date

    fileprivate init(
        _ command: CompareAsk, _ customers: Int, _ left: Int, _ counts: AskRun.Counts, _ takenAt: Date,
        _ answers: String
    ) {
        system = command.system.rawValue
        app = command.app
        environment = command.environment.rawValue
        self.customers = customers
        asked = counts.asked
        unknown = counts.unknown
        failed = counts.failed
        self.answers = counts.failed.isEmpty ? answers : nil
        self.takenAt = takenAt
        askedBefore = customers - left
    }

    /// Sentences for the operator, a line each.
    var lines: [String] {
        var lines = [
            "\(asked.counted("customer")) asked about, \(failed.count) failed."
                + (askedBefore == 0
                    ? "" : " \(askedBefore) \(askedBefore == 1 ? "was" : "were") asked about before.")
        ]
        if !unknown.isEmpty {
            lines.append(
                "Not known there: \(unknown.count), \(unknown.prefix(20).joined(separator: ", "))"
                    + (unknown.count > 20 ? ", …" : "."))
        }
        lines.append(
            answers.map {
                "\($0) is of \(takenAt.text): storekeeper compare \($0) --app \(app) --environment \(environment)"
            } ?? "Progress is saved; run the same command to ask again about those that failed.")
        return lines
    }
}
