import Commands
import Foundation
import Postgres
import TestSupport
import Testing

@testable import Devkit
@testable import Operations

/// The built programs, a broker, a database.
@Suite(.fewAtOnce) struct EndToEnd {
    /// What one build put beside the tests.
    static let binaries = InstalledBinaries(
        in: URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent().path)

    /// Starts all services on a fresh database and on a broker of their own, or the one of KAFKA_BOOTSTRAP_SERVERS.
    static func withPipeline<Result: Sendable>(
        counts: [ServiceKind: Int] = [:], settings: [ServiceKind: [String: String]] = [:],
        environment further: [String: String] = [:],
        _ body: @escaping @Sendable (DevelopmentEnvironment.RunningServices) async throws -> Result
    ) async throws -> Result {
        try await TestDatabase.use(isMigrated: false) { database in
            try await withPipeline(
                on: database.url, counts: counts, settings: settings, environment: further, body)
        }
    }

    /// The same on a given database.
    static func withPipeline<Result: Sendable>(
        on databaseURL: String, counts: [ServiceKind: Int] = [:], settings: [ServiceKind: [String: String]] = [:],
        environment further: [String: String] = [:],
        _ body: @escaping @Sendable (DevelopmentEnvironment.RunningServices) async throws -> Result
    ) async throws -> Result {
        // The group notices killed members sooner than in production.
        var environment = [
            "KAFKA_SESSION_TIMEOUT_MS": "4000", "KAFKA_HEARTBEAT_INTERVAL_MS": "500", "DATABASE_URL": databaseURL,
        ]
        environment.merge(further) { _, further in further }
        environment.merge(ProcessInfo.processInfo.environment) { ours, _ in ours }
        return try await DevelopmentEnvironment(
            binaries: binaries, environment: environment, counts: counts, settings: settings, now: { Date() }
        ).use(telling: { _ in }, body)
    }

    /// Reads the ledger of running services.
    static func ledger(of services: DevelopmentEnvironment.RunningServices) -> LedgerReader {
        LedgerReader(
            connection: TestDatabase.connection(
                PostgresConfiguration(url: services.databaseURL, applicationName: "storekeeper-tests")))
    }

    /// Asks again and again; each question must be one that waits for an answer from elsewhere.
    static func eventually(
        _ what: Comment, _ isSo: () async throws -> Bool
    ) async throws {
        let deadline = ContinuousClock.now + .hangLimit
        while ContinuousClock.now < deadline {
            if try await isSo() { return }
        }
        Issue.record("never came to be: \(what)")
        throw CommandError("\(what)")
    }

    /// The body of a post as the simulator makes it, signed by the simulator's authority.
    /// - Parameter specimen: the simulator's name of the case.
    static func make(_ specimen: String, seed: Int, _ services: DevelopmentEnvironment.RunningServices) async throws
        -> String
    {
        let plan = services.processes.plan
        let output = "\(plan.directory)/\(specimen).json"
        let maker = try await services.spawner.start(
            "make", program: try plan.binaries.path(of: "simulator"),
            arguments: ["make", "--case", specimen, "--seed", "\(seed)", "--authority", plan.authority],
            environment: [:], log: plan.log(of: "make"), output: output)
        #expect(await maker.ending() == .exit(0), "\(maker.logTail())")
        return try String(contentsOfFile: output, encoding: .utf8)
    }
}
