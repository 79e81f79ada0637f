import ArgumentParser
import Commands
import Foundation
import Logging

/// `devkit dev`: all services on one machine, with a simulator sending notifications.
struct Dev: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "dev", abstract: "Run all services locally with a simulated App Store.",
        discussion: """
            Starts an embedded broker, a private Postgres, all services and the simulator, and shows the progress. Uses \
            KAFKA_BOOTSTRAP_SERVERS and DATABASE_URL instead where they are set. Ctrl-C stops everything that it started. \
            With --keep, the database remains for the next run; the embedded broker keeps records in memory only. A \
            failed run leaves its logs. Refund requests are answered by an example policy, and the customers consent; an \
            example rule allows an offer of each app.

            With --count, sends that many notifications, waits until all have arrived, compares the stored notifications \
            one by one with those that the simulator sent, and prints the result. Exit codes: 0 equal, or stopped \
            without --count; 1 different, or failed; 64 invalid command line; 130 interrupted before the comparison.

            Examples:
              devkit dev
              devkit dev --count 1000 --verifiers 2 --seed 7
            """)

    @Option(help: "Number of distinct notifications to send, including forged ones; 0 sends until stopped.")
    var count = 0

    @Option(help: "Notifications per second; 0 is unlimited (default: 50, with --count 0).")
    var rate: Double?

    @Option(help: "Random seed; equal seeds produce equal runs (default: random).")
    var seed: UInt64?

    @Option(help: "Number of concurrent subscriptions (default: the simulator's).")
    var subscriptions: Int?

    @Option(help: "Share of duplicate deliveries, 0 to 1.")
    var duplicates = 0.05

    @Option(help: "Maximum number of later notifications that overtake one.")
    var reorder = 10

    @Option(help: "Share of forged notifications, 0 to 1.")
    var tampered = 0.01

    @Flag(help: "Sign all notifications before sending the first, to measure without signing; needs --count.")
    var presigned = false

    @Option(help: "Number of verifiers, 1 to 16.")
    var verifiers = 1

    @Option(help: "Number of deduplicators, 1 to 16.")
    var deduplicators = 1

    @Option(help: "Number of state-updaters, 1 to 16.")
    var stateUpdaters = 1

    @Option(help: "Number of ingests, 1 to 16; the simulator posts to the first.")
    var ingests = 1

    @Option(
        help: "Directory for database, run record, keys and logs (default: a temporary one, removed at the end)."
    )
    var keep: String?

    @Option(
        help: """
            File with apps and products of your own, which `storekeeper simulator buy` can buy; the keys that are printed are \
            for its first app. simulator run --help shows its form.
            """)
    var catalogue: String?

    @Option(help: "Directory for all logs, kept at the end (default: within --keep).")
    var logDir: String?

    @Flag(help: "Print JSON: the result alone.")
    var json = false

    /// Apple decides within 24 seconds after an answer, and within 5 minutes without one.
    private static let refundScale = 600.0

    /// The list of API keys names its files, and a relative name in it is relative to the list.
    private static func absolute(_ path: String) -> String { URL(fileURLWithPath: path).path }

    func validate() throws {
        var problems: [String] = []
        for (name, number) in [
            ("--verifiers", verifiers), ("--deduplicators", deduplicators), ("--state-updaters", stateUpdaters),
            ("--ingests", ingests),
        ] where !(1...16).contains(number) {
            problems.append("\(name) is out of range: 1 to 16")
        }
        for (name, share) in [("--duplicates", duplicates), ("--tampered", tampered)] where !(0...1).contains(share) {
            problems.append("\(name) is out of range: 0 to 1")
        }
        if count < 0 { problems.append("--count must not be negative") }
        if reorder < 0 { problems.append("--reorder must not be negative") }
        if let rate, !(0...1_000_000).contains(rate) { problems.append("--rate is out of range: 0 to 1000000") }
        if let subscriptions, subscriptions < 1 { problems.append("--subscriptions must be at least 1") }
        if json, count == 0 { problems.append("--json needs --count: only a counted run has a result") }
        if presigned, count == 0 {
            problems.append("--presigned needs --count: a run without end cannot be signed ahead")
        }
        if !problems.isEmpty { throw ValidationError(problems.joined(separator: "; ")) }
    }

    /// What the run needs beside itself.
    func development(in context: CommandContext) throws -> DevelopmentEnvironment {
        var environment = DevelopmentEnvironment(
            binaries: try InstalledBinaries(beside: context.executable), environment: context.environment,
            counts: [
                .verifier: verifiers, .deduplicator: deduplicators, .stateUpdater: stateUpdaters, .ingest: ingests,
            ],
            keep: keep.map(Self.absolute), logDirectory: logDir.map(Self.absolute), now: context.now)
        if let catalogue {
            let own = try OwnCatalogue(file: Self.absolute(catalogue))
            environment.apps = environment.apps.filter { app in !own.apps.contains { $0.bundleId == app.bundleId } }
            environment.apps += own.plans
            environment.catalogue = own
        }
        return environment
    }

    func run(in context: CommandContext) async throws {
        // The reader of standard output may exit; the processes must still be stopped in order.
        signal(SIGPIPE, SIG_IGN)
        // The services log to files; log lines of this process would break the live view.
        LoggingSystem.bootstrap { label in
            var handler = StreamLogHandler.standardError(label: label)
            handler.logLevel = .critical
            return handler
        }
        let environment = try development(in: context)
        let options = SimulatorRun.Options(
            count: count, rate: rate ?? (count == 0 ? 50 : 0),
            seed: seed ?? context.seed(), subscriptions: subscriptions, duplicates: duplicates,
            reorder: reorder, tampered: tampered, isPresigned: presigned, refundScale: Self.refundScale,
            catalogue: environment.catalogue?.file)
        let show = LiveDisplay(isQuiet: json)
        let report: RunReport?
        do {
            report = try await SignalHandler.cancellingOnSignal {
                try await environment.use(telling: { show.say($0) }) { services in
                    try await DevRun(services: services, options: options, show: show).run()
                }
            }
        } catch is Interrupted {
            show.say("Stopped.")
            if count > 0 { throw Exit.interrupted.code }
            return
        }
        guard let report else { return }
        try report.present(asJSON: json, in: context)
    }
}
