import Contracts
import Foundation
import Kafka
import Logging
import Postgres
import Signatures

/// Sets up a broker, a database, an authority and the line for as long as somebody works on it, and clears all of it
/// away again in reverse order, however that ends.
struct DevelopmentEnvironment: Sendable {
    /// What stands while somebody works.
    struct RunningServices: Sendable {
        let line: ServiceProcesses
        let spawner: Spawner
        let kafka: KafkaConfiguration
        /// Whether the broker is ours, which forgets what lies too long.
        let forgets: Bool
        let databaseURL: String
    }

    var binaries: InstalledBinaries
    /// `KAFKA_BOOTSTRAP_SERVERS` and `DATABASE_URL` are used where they are set.
    var environment: [String: String]
    var counts: [ServiceKind: Int] = [:]
    /// What the processes of a role are told besides.
    var settings: [ServiceKind: [String: String]] = [:]
    /// Where everything is kept; nil is a temporary directory.
    var keep: String?
    /// Where the logs go; nil is within the other directory.
    var logDirectory: String?
    /// Whether a database of our own survives a power cut.
    var durability = DevelopmentPostgres.Durability.full
    var apps = [
        ProcessPlan.App(
            bundleId: "com.example.app", appAppleId: 1_234_567_890, environments: [.production, .sandbox])
    ]
    var now: @Sendable () -> Date

    /// Sets everything up, runs `body`, clears everything away.
    func use<Result: Sendable>(
        telling say: @escaping @Sendable (String) -> Void,
        _ body: @escaping @Sendable (RunningServices) async throws -> Result
    ) async throws -> Result {
        let directory = try keep ?? Self.temporaryDirectory()
        let claim = try DirectoryLock(directory)
        defer { withExtendedLifetime(claim) {} }
        do {
            let result = try await use(directory, say, body)
            if keep == nil { try? FileManager.default.removeItem(atPath: directory) }
            return result
        } catch {
            if keep == nil { clear(directory) }
            guard !Task.isCancelled, let foreign else { throw error }
            throw CommandError("\(error)\n\(foreign)")
        }
    }

    /// Leaves the logs where something failed: nobody has read them yet. Whoever stops a run has.
    private func clear(_ directory: String) {
        let isFailure = !Task.isCancelled && logDirectory == nil
        let content = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        guard isFailure, content.contains(ProcessPlan.logs) else {
            try? FileManager.default.removeItem(atPath: directory)
            return
        }
        for name in content where name != ProcessPlan.logs {
            try? FileManager.default.removeItem(atPath: "\(directory)/\(name)")
        }
    }

    /// What of the bench somebody else runs, where that may be news to whoever reads why it failed.
    private var foreign: String? {
        let names = ["KAFKA_BOOTSTRAP_SERVERS", "DATABASE_URL"].filter { environment[$0]?.isEmpty == false }
        guard !names.isEmpty else { return nil }
        return
            "\(names.joined(separator: " and ")) came from the environment, perhaps from another dev's file: where it is "
            + "not set, storekeeper dev starts one of its own."
    }

    private func use<Result: Sendable>(
        _ directory: String, _ say: @Sendable (String) -> Void, _ body: (RunningServices) async throws -> Result
    ) async throws -> Result {
        try await withBroker { kafka, forgets in
            let origin = forgets ? "for development, in memory" : "of KAFKA_BOOTSTRAP_SERVERS"
            say("Broker: \(kafka.bootstrapServers) (\(origin))")
            return try await withDatabase { databaseURL, isOurs in
                say(isOurs ? "Database: \(databaseURL)" : "Database: the one of DATABASE_URL")
                let plan = try plan(directory, kafka, forgets: forgets, databaseURL)
                _ = try DevelopmentAuthority.loadOrCreate(in: URL(fileURLWithPath: plan.authority), now: now())
                let spawner = Spawner()
                return try await withLine(plan, spawner, say) { line in
                    try await body(
                        RunningServices(
                            line: line, spawner: spawner, kafka: kafka, forgets: forgets, databaseURL: databaseURL))
                }
            }
        }
    }

    private func plan(
        _ directory: String, _ kafka: KafkaConfiguration, forgets: Bool, _ databaseURL: String
    ) throws -> ProcessPlan {
        var inherited = ProcessPlan.inherited(from: environment)
        if forgets { inherited.merge(ProcessPlan.developmentBroker) { explicit, _ in explicit } }
        return ProcessPlan(
            binaries: binaries, directory: directory, logDirectory: logDirectory ?? "\(directory)/\(ProcessPlan.logs)",
            bootstrapServers: kafka.bootstrapServers, databaseURL: databaseURL, apiPort: try FreePort.find(),
            counts: counts, apps: apps, inherited: inherited,
            replicationFactor: environment["STOREKEEPER_REPLICATION_FACTOR"] ?? "1", settings: settings)
    }

    private func withBroker<Result>(
        _ body: (KafkaConfiguration, _ forgets: Bool) async throws -> Result
    ) async throws -> Result {
        if environment["KAFKA_BOOTSTRAP_SERVERS"]?.isEmpty == false {
            return try await body(try KafkaConfiguration(environment: environment, fallback: ""), false)
        }
        let broker = try DevelopmentBroker(topics: Topics.all.map { ($0.name, $0.partitions) }, logger: .silent)
        defer { withExtendedLifetime(broker) {} }
        return try await body(broker.configuration, true)
    }

    private func withDatabase<Result>(
        _ body: (String, _ isOurs: Bool) async throws -> Result
    ) async throws -> Result {
        if let url = environment["DATABASE_URL"], !url.isEmpty { return try await body(url, false) }
        let postgres = try await DevelopmentPostgres.start(
            directory: keep.map { $0 + "/postgres" }, durability: durability)
        do {
            let result = try await body(postgres.url, true)
            await postgres.stop()
            return result
        } catch {
            await postgres.stop()
            throw error
        }
    }

    private func withLine<Result>(
        _ plan: ProcessPlan, _ spawner: Spawner, _ say: (String) -> Void,
        _ body: (ServiceProcesses) async throws -> Result
    ) async throws -> Result {
        let line = ServiceProcesses(try await SetupRun(plan: plan, spawner: spawner).run(), spawner: spawner)
        do {
            say("Starting the services; their logs are in \(line.plan.logDirectory)")
            try await line.start()
            try line.plan.writeOperatorFile()
            say("For the other commands, in another terminal: . \(line.plan.operatorFile)")
            let result = try await body(line)
            await line.stop()
            return result
        } catch {
            await line.stop()
            throw error
        }
    }

    private static func temporaryDirectory() throws -> String {
        let parent = FileManager.default.temporaryDirectory.path
        guard let template = strdup("\(parent)/storekeeper-XXXXXX") else {
            throw CommandError("there is no memory left")
        }
        defer { free(template) }
        guard mkdtemp(template) != nil else {
            throw CommandError("no directory can be made in \(parent): \(String(cString: strerror(errno)))")
        }
        return String(cString: template)
    }
}

extension Logger {
    /// For our own clients: what goes wrong shows in what they return.
    static let silent = Logger(label: "storekeeper.dev") { _ in SwiftLogNoOpLogHandler() }
}
