import ArgumentParser
import Foundation
import Logging

/// `storekeeper dev`: the whole line on one machine, with a simulator sending traffic.
struct Dev: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "dev", abstract: "Run the whole line on this machine with a simulated App Store.",
        discussion: """
            Starts a broker and a database of its own, all services and the simulator, and shows what arrives. With \
            KAFKA_BOOTSTRAP_SERVERS or DATABASE_URL set it uses those instead. Ctrl-C stops everything it started and \
            nothing else. Its broker is in memory: with --keep the database stays for the next run, and what was not \
            applied yet is gone. A run that fails leaves its logs.

            With --count it sends that many, waits until all have arrived, compares the ledger with the simulator's \
            book notification by notification and prints the verdict. Exit codes: 0 clean, or stopped without --count; \
            1 not clean, or something failed; 64 the command line is wrong; 130 interrupted before the verdict.
            """)

    @Option(help: "How many distinct notifications to send, forged ones included; 0 sends until stopped.")
    var count = 0

    @Option(help: "Notifications per second; 0 is as fast as possible. Default: 50 without --count, else 0.")
    var rate: Double?

    @Option(help: "The same seed lives the same lives. Default: another one each time.")
    var seed: UInt64?

    @Option(help: "Subscriptions alive at once. Default: the simulator's.")
    var subscriptions: Int?

    @Option(help: "Share of notifications that are sent once more, 0 to 1.")
    var duplicates = 0.05

    @Option(help: "How many later notifications may overtake one.")
    var reorder = 10

    @Option(help: "Share of forged notifications, 0 to 1.")
    var tampered = 0.01

    @Option(help: "How many verifiers to run.")
    var verifiers = 1

    @Option(help: "How many deduplicators to run.")
    var deduplicators = 1

    @Option(help: "How many state-updaters to run.")
    var stateUpdaters = 1

    @Option(help: "How many ingests to run; the simulator posts to the first.")
    var ingests = 1

    @Option(
        help: "Directory in which database, book, keys and logs are kept. Default: a temporary one, removed at the end."
    )
    var keep: String?

    @Option(help: "Directory for the logs of all processes; it stays. Default: within the other one.")
    var logDir: String?

    @Flag(help: "Print the verdict as JSON, and nothing else.")
    var json = false

    func validate() throws {
        var problems: [String] = []
        for (name, number) in [
            ("--verifiers", verifiers), ("--deduplicators", deduplicators), ("--state-updaters", stateUpdaters),
            ("--ingests", ingests),
        ] where !(1...64).contains(number) {
            problems.append("\(name) must lie between 1 and 64")
        }
        for (name, share) in [("--duplicates", duplicates), ("--tampered", tampered)] where !(0...1).contains(share) {
            problems.append("\(name) must lie between 0 and 1")
        }
        if count < 0 { problems.append("--count must not be negative") }
        if reorder < 0 { problems.append("--reorder must not be negative") }
        if let rate, !(0...1_000_000).contains(rate) { problems.append("--rate must lie between 0 and 1000000") }
        if let subscriptions, subscriptions < 1 { problems.append("--subscriptions must be at least 1") }
        if json, count == 0 { problems.append("--json needs --count, for only a counted run has a verdict") }
        if !problems.isEmpty { throw ValidationError(problems.joined(separator: "; ")) }
    }

    func run(in context: CommandContext) async throws {
        // Whoever reads our output may go away; what was started is still to be stopped in order.
        signal(SIGPIPE, SIG_IGN)
        // The services log to files; what our own clients log would tear the live view.
        LoggingSystem.bootstrap { label in
            var handler = StreamLogHandler.standardError(label: label)
            handler.logLevel = .critical
            return handler
        }
        let options = SimulatorRun.Options(
            count: count, rate: rate ?? (count == 0 ? 50 : 0),
            seed: seed ?? context.seed(), subscriptions: subscriptions, duplicates: duplicates,
            reorder: reorder, tampered: tampered)
        let environment = DevelopmentEnvironment(
            binaries: try InstalledBinaries(beside: context.executable), environment: context.environment,
            counts: [
                .verifier: verifiers, .deduplicator: deduplicators, .stateUpdater: stateUpdaters, .ingest: ingests,
            ],
            keep: keep, logDirectory: logDir, now: context.now)
        let show = LiveDisplay(isQuiet: json)
        let verdict: RunReport?
        do {
            verdict = try await SignalHandler.cancellingOnSignal {
                try await environment.use(telling: { show.say($0) }) { stand in
                    try await DevRun(stand: stand, options: options, show: show).run()
                }
            }
        } catch is Interrupted {
            show.say("Stopped.")
            if count > 0 { throw Exit.interrupted.code }
            return
        }
        guard let verdict else { return }
        try verdict.pronounce(asJSON: json, in: context)
    }
}
