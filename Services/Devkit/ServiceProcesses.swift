import Commands
import Foundation
import Operations

/// Starts, watches, kills, restarts and stops the services' processes, for `devkit dev` and the tests.
///
/// Broker and database are managed elsewhere.
actor ServiceProcesses {
    /// A process that ended unexpectedly.
    struct UnexpectedExit: Error, CustomStringConvertible {
        var name: String
        var ending: ChildProcess.Ending
        var log: String
        var logTail: String

        init(of process: ChildProcess, _ ending: ChildProcess.Ending) {
            name = process.name
            self.ending = ending
            log = process.log
            logTail = process.logTail()
        }

        var description: String {
            """
            \(name) ended unexpectedly (\(ending)). Its log \(log) ends with:
            \(logTail.isEmpty ? "(nothing)" : logTail)
            """
        }
    }

    /// One process.
    struct Instance: Sendable {
        let name: String
        let kind: ServiceKind
        let process: ChildProcess
        let adminPort: Int
        /// Port for requests, where others send it any.
        let port: Int?

        var metricsURL: String { "http://127.0.0.1:\(adminPort)/metrics" }
    }

    /// The slowest machine may take this long; a process that ends is reported at once.
    private static let readyDeadline: Duration = .seconds(180)
    private static let stopDeadline: Duration = .seconds(12)

    nonisolated let plan: ProcessPlan
    /// Unexpected exits. Ends when all processes are stopped.
    nonisolated let unexpectedExits: AsyncStream<UnexpectedExit>

    private let spawner: Spawner
    private let report: AsyncStream<UnexpectedExit>.Continuation
    private var instances: [String: Instance] = [:]
    private var started: [String: ChildProcess] = [:]
    private var expected: Set<Int32> = []

    init(_ plan: ProcessPlan, spawner: Spawner) {
        self.plan = plan
        self.spawner = spawner
        (unexpectedExits, report) = AsyncStream.makeStream()
    }

    /// Ready instances, consumers first.
    var running: [Instance] {
        ServiceKind.allCases.flatMap { kind in plan.names(of: kind).compactMap { instances[$0] } }
    }

    /// URL for notifications: the first ingest.
    var target: String? {
        address(of: .ingest).map { "\($0)/v1/notifications" }
    }

    /// URL of the first instance that receives requests.
    func address(of kind: ServiceKind) -> String? {
        plan.names(of: kind).lazy.compactMap { self.instances[$0]?.port }.first.map { "http://127.0.0.1:\($0)" }
    }

    /// Starts all processes at once and waits until they are ready.
    func start() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for kind in ServiceKind.allCases {
                for name in plan.names(of: kind) { group.addTask { try await self.start(name, kind) } }
            }
            try await group.waitForAll()
        }
    }

    /// Kills a process with SIGKILL and waits until it has ended.
    func kill(_ name: String) async throws {
        guard let process = started[name] else { throw unknown(name) }
        expected.insert(process.identifier)
        process.send(SIGKILL)
        _ = await process.ending()
        instances[name] = nil
    }

    /// Stops a process with SIGTERM and returns how it ended.
    func stop(_ name: String) async throws -> ChildProcess.Ending {
        guard let process = started[name] else { throw unknown(name) }
        expected.insert(process.identifier)
        let ending = await process.stop(deadline: Self.stopDeadline)
        instances[name] = nil
        return ending
    }

    /// Restarts an ended process, an ingest at the same address, and waits until it is ready.
    func restart(_ name: String) async throws {
        guard let kind = ServiceKind.allCases.first(where: { plan.names(of: $0).contains(name) }) else {
            throw unknown(name)
        }
        try await start(name, kind)
    }

    /// Stops all, producers first, so that records in transit are still processed.
    func stop() async {
        for kind in ServiceKind.allCases.reversed() {
            let processes = plan.names(of: kind).compactMap { started[$0] }
            expected.formUnion(processes.map(\.identifier))
            await withTaskGroup(of: Void.self) { group in
                for process in processes { group.addTask { await process.stop(deadline: Self.stopDeadline) } }
            }
        }
        instances = [:]
        report.finish()
    }

    // MARK: One process

    private var ports: [String: Int] = [:]

    private func start(_ name: String, _ kind: ServiceKind) async throws {
        let files = [plan.adminPortFile(of: name), plan.portFile(of: name)]
        for file in files where FileManager.default.fileExists(atPath: file) {
            try FileManager.default.removeItem(atPath: file)
        }
        let process = try await spawner.start(
            name, program: try plan.binaries.path(of: kind.rawValue),
            environment: plan.environment(of: kind, named: name, port: ports[name] ?? 0),
            log: plan.log(of: name))
        started[name] = process
        watch(process)
        let deadline = ContinuousClock.now + Self.readyDeadline
        let adminPort = try await port(in: files[0], of: process, until: deadline)
        let ownPort = kind.isServer ? try await port(in: files[1], of: process, until: deadline) : nil
        ports[name] = ownPort
        try await becomesReady(process, adminPort: adminPort, until: deadline)
        if !kind.readings.isEmpty { try await getsPartitions(process, adminPort: adminPort, until: deadline) }
        instances[name] = Instance(
            name: name, kind: kind, process: process, adminPort: adminPort, port: ownPort)
    }

    private func watch(_ process: ChildProcess) {
        Task {
            let ending = await process.ending()
            guard !expected.contains(process.identifier) else { return }
            instances[process.name] = nil
            report.yield(UnexpectedExit(of: process, ending))
        }
    }

    /// Reads the port file of a process.
    private func port(
        in file: String, of process: ChildProcess, until deadline: ContinuousClock.Instant
    ) async throws -> Int {
        while true {
            if let text = try? String(contentsOfFile: file, encoding: .utf8),
                let port = Int(text.trimmingCharacters(in: .whitespacesAndNewlines))
            {
                return port
            }
            try await wait(for: process, until: deadline, because: "it has not written its port file")
        }
    }

    private func becomesReady(
        _ process: ChildProcess, adminPort: Int, until deadline: ContinuousClock.Instant
    ) async throws {
        while true {
            let page = try? await HTTPPage(at: "http://127.0.0.1:\(adminPort)/readyz")
            if page?.status == 200 { return }
            let reason = page?.text.trimmingCharacters(in: .whitespacesAndNewlines) ?? "its admin port does not respond"
            try await wait(for: process, until: deadline, because: reason)
        }
    }

    /// Waits for the partition assignment, which follows readiness by some seconds and would distort the figures.
    private func getsPartitions(
        _ process: ChildProcess, adminPort: Int, until deadline: ContinuousClock.Instant
    ) async throws {
        while true {
            let page = try? await HTTPPage(at: "http://127.0.0.1:\(adminPort)/metrics")
            if let page, MetricsPage(page.text).sum(MetricsPage.rebalances, ["change": "assigned"]) > 0 { return }
            try await wait(for: process, until: deadline, because: "it has no partitions assigned")
        }
    }

    private func wait(
        for process: ChildProcess, until deadline: ContinuousClock.Instant, because reason: String
    ) async throws {
        guard process.isRunning else { throw UnexpectedExit(of: process, await process.ending()) }
        guard ContinuousClock.now < deadline else {
            throw CommandError(
                """
                \(process.name) is not ready after \(Self.readyDeadline.components.seconds) s: \(reason). Its log \
                \(process.log) ends with:
                \(process.logTail())
                """)
        }
        try await Task.sleep(for: .milliseconds(25))
    }

    private func unknown(_ name: String) -> CommandError {
        let names = ServiceKind.allCases.flatMap { plan.names(of: $0) }.joined(separator: ", ")
        return CommandError("no process \(name), only \(names)")
    }
}
