import Commands
import Contracts
import Development
import Foundation
import Kafka
import Logging
import Operations
import Postgres
import Signatures

/// A broker, a database, a certificate authority and all services, for the duration of a closure; torn down in reverse
/// order however it ends.
struct DevelopmentEnvironment: Sendable {
    /// What runs during the closure.
    struct RunningServices: Sendable {
        let processes: ServiceProcesses
        let spawner: Spawner
        let kafka: KafkaConfiguration
        /// Whether the broker is the embedded one, which drops old records.
        let forgets: Bool
        let databaseURL: String
        /// Nil where no API runs.
        let api: DevelopmentAPI?
        let now: @Sendable () -> Date
    }

    var binaries: InstalledBinaries
    /// `KAFKA_BOOTSTRAP_SERVERS` and `DATABASE_URL` are used where they are set.
    var environment: [String: String]
    var counts: [ServiceKind: Int] = [:]
    /// Additional variables per service.
    var settings: [ServiceKind: [String: String]] = [:]
    /// Working directory; nil is a temporary one.
    var keep: String?
    /// Directory of the logs; nil is within the working directory.
    var logDirectory: String?
    /// Whether the private database survives a power failure.
    var durability = DevelopmentPostgres.Durability.full
    var apps = [
        ProcessPlan.App(
            bundleId: "com.example.app", appAppleId: 1_234_567_890, environments: [.production, .sandbox]),
        ProcessPlan.App(bundleId: "com.example.reader", appAppleId: 1_234_567_891, environments: [.production]),
        ProcessPlan.App(bundleId: "com.example.trainer", appAppleId: 1_234_567_892, environments: [.sandbox]),
    ]
    /// Apps and products of the developer's own; its apps are among `apps`.
    var catalogue: OwnCatalogue?
    var now: @Sendable () -> Date

    /// Sets everything up, runs `body`, tears everything down.
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

    /// Keeps the logs of a failed run; an interrupted one needs none.
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

    /// A hint for failures where broker or database come from the environment.
    var foreign: String? {
        let names = ["KAFKA_BOOTSTRAP_SERVERS", "DATABASE_URL"].filter { environment[$0]?.isEmpty == false }
        guard !names.isEmpty else { return nil }
        return
            "\(names.joined(separator: " and ")) set in this terminal, perhaps by the file DIR/environment of another run: "
            + "open a new terminal without that file, then start again, as by Deploy/run"
    }

    private func use<Result: Sendable>(
        _ directory: String, _ say: @Sendable (String) -> Void, _ body: (RunningServices) async throws -> Result
    ) async throws -> Result {
        try await withBroker { kafka, forgets in
            let origin = forgets ? "embedded, in memory" : "from KAFKA_BOOTSTRAP_SERVERS"
            say("Broker: \(kafka.bootstrapServers) (\(origin))")
            return try await withDatabase { databaseURL, isOurs in
                say(isOurs ? "Database: \(databaseURL)" : "Database: from DATABASE_URL")
                let plan = try plan(directory, kafka, forgets: forgets, databaseURL)
                _ = try DevelopmentAuthority.loadOrCreate(in: URL(fileURLWithPath: plan.authority), now: now())
                let spawner = Spawner()
                return try await withLine(plan, spawner, say) { processes, api in
                    try await body(
                        RunningServices(
                            processes: processes, spawner: spawner, kafka: kafka, forgets: forgets,
                            databaseURL: databaseURL, api: api, now: now))
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
            consolePort: try FreePort.find(),
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
        _ body: (ServiceProcesses, DevelopmentAPI?) async throws -> Result
    ) async throws -> Result {
        let processes = ServiceProcesses(try await SetupRun(plan: plan, spawner: spawner).run(), spawner: spawner)
        do {
            say("Starting the services; logs are in \(processes.plan.logDirectory)")
            try await processes.start()
            var api: DevelopmentAPI?
            if let address = await processes.address(of: .api) {
                api = try await DevelopmentAPI(
                    address: address, catalogue: catalogue, databaseURL: plan.databaseURL, now: now())
            }
            try processes.plan.writeOperatorFile(further: api?.variables ?? [:])
            say("To use other commands in another terminal: . \(processes.plan.operatorFile)")
            if await processes.address(of: .console) != nil {
                let link = try await DevelopmentLink(databaseURL: plan.databaseURL, now: now()).create()
                say("Console, signed in by this link once within 5 minutes: \(link.address(at: plan.consoleAddress))")
            }
            let result = try await body(processes, api)
            await processes.stop()
            return result
        } catch {
            await processes.stop()
            throw error
        }
    }

    private static func temporaryDirectory() throws -> String {
        let parent = FileManager.default.temporaryDirectory.path
        guard let template = strdup("\(parent)/storekeeper-XXXXXX") else {
            throw CommandError("out of memory")
        }
        defer { free(template) }
        guard mkdtemp(template) != nil else {
            throw CommandError("cannot create a directory in \(parent): \(String(cString: strerror(errno)))")
        }
        return String(cString: template)
    }
}
