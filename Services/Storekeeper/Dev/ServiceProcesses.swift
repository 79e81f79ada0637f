import Foundation

/// The processes of the line: started, watched, killed, started again and stopped.
///
/// The broker and the database are somebody else's. `storekeeper dev` runs a line, and so do the tests.
actor ServiceProcesses {
    /// A process that ended although nobody asked it to.
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

    /// One process of the line.
    struct Instance: Sendable {
        let name: String
        let role: ServiceKind
        let process: ChildProcess
        let adminPort: Int
        /// Where notifications are posted; ingest only.
        let ingestPort: Int?

        var metricsURL: String { "http://127.0.0.1:\(adminPort)/metrics" }
    }

    private static let readyDeadline: Duration = .seconds(60)
    private static let stopDeadline: Duration = .seconds(12)

    nonisolated let plan: ProcessPlan
    /// Every unexpected end, for whoever wants to know. Ends when the line has been stopped.
    nonisolated let deaths: AsyncStream<UnexpectedExit>

    private let spawner: Spawner
    private let report: AsyncStream<UnexpectedExit>.Continuation
    private var instances: [String: Instance] = [:]
    private var started: [String: ChildProcess] = [:]
    private var expected: Set<Int32> = []

    init(_ plan: ProcessPlan, spawner: Spawner) {
        self.plan = plan
        self.spawner = spawner
        (deaths, report) = AsyncStream.makeStream()
    }

    /// Those that are ready, readers first.
    var running: [Instance] {
        ServiceKind.allCases.flatMap { role in plan.names(of: role).compactMap { instances[$0] } }
    }

    /// Where to post notifications: the first ingest.
    var target: String? {
        plan.names(of: .ingest).lazy.compactMap { self.instances[$0]?.ingestPort }.first
            .map { "http://127.0.0.1:\($0)/v1/notifications" }
    }

    /// Starts everything at once and waits until all of it is ready.
    func start() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for role in ServiceKind.allCases {
                for name in plan.names(of: role) { group.addTask { try await self.start(name, role) } }
            }
            try await group.waitForAll()
        }
    }

    /// Kills one without warning, as a power cut would, and waits until it is gone.
    func kill(_ name: String) async throws {
        guard let process = started[name] else { throw unknown(name) }
        expected.insert(process.identifier)
        process.send(SIGKILL)
        _ = await process.ending()
        instances[name] = nil
    }

    /// Asks one to end, and says how it did.
    func stop(_ name: String) async throws -> ChildProcess.Ending {
        guard let process = started[name] else { throw unknown(name) }
        expected.insert(process.identifier)
        let ending = await process.stop(deadline: Self.stopDeadline)
        instances[name] = nil
        return ending
    }

    /// Starts one again that has ended, at the same address if others post to it, and waits until it is ready.
    func restart(_ name: String) async throws {
        guard let role = ServiceKind.allCases.first(where: { plan.names(of: $0).contains(name) }) else {
            throw unknown(name)
        }
        try await start(name, role)
    }

    /// Stops all, writers first: what is on its way still arrives where it can.
    func stop() async {
        for role in ServiceKind.allCases.reversed() {
            let processes = plan.names(of: role).compactMap { started[$0] }
            expected.formUnion(processes.map(\.identifier))
            await withTaskGroup(of: Void.self) { group in
                for process in processes { group.addTask { await process.stop(deadline: Self.stopDeadline) } }
            }
        }
        instances = [:]
        report.finish()
    }

    // MARK: One process

    private var ingestPorts: [String: Int] = [:]

    private func start(_ name: String, _ role: ServiceKind) async throws {
        let files = [plan.adminPortFile(of: name), plan.ingestPortFile(of: name)]
        for file in files where FileManager.default.fileExists(atPath: file) {
            try FileManager.default.removeItem(atPath: file)
        }
        let process = try await spawner.start(
            name, program: try plan.binaries.path(of: role.rawValue),
            environment: plan.environment(of: role, named: name, ingestPort: ingestPorts[name] ?? 0),
            log: plan.log(of: name))
        started[name] = process
        watch(process)
        let deadline = ContinuousClock.now + Self.readyDeadline
        let adminPort = try await port(in: files[0], of: process, until: deadline)
        let ingestPort = role == .ingest ? try await port(in: files[1], of: process, until: deadline) : nil
        ingestPorts[name] = ingestPort
        try await becomesReady(process, adminPort: adminPort, until: deadline)
        if !role.readings.isEmpty { try await getsPartitions(process, adminPort: adminPort, until: deadline) }
        instances[name] = Instance(
            name: name, role: role, process: process, adminPort: adminPort, ingestPort: ingestPort)
    }

    private func watch(_ process: ChildProcess) {
        Task {
            let ending = await process.ending()
            guard !expected.contains(process.identifier) else { return }
            instances[process.name] = nil
            report.yield(UnexpectedExit(of: process, ending))
        }
    }

    /// The port that a process writes into a file once it listens.
    private func port(
        in file: String, of process: ChildProcess, until deadline: ContinuousClock.Instant
    ) async throws -> Int {
        while true {
            if let text = try? String(contentsOfFile: file, encoding: .utf8),
                let port = Int(text.trimmingCharacters(in: .whitespacesAndNewlines))
            {
                return port
            }
            try await wait(for: process, until: deadline, because: "it has not said on which port it listens")
        }
    }

    private func becomesReady(
        _ process: ChildProcess, adminPort: Int, until deadline: ContinuousClock.Instant
    ) async throws {
        while true {
            let page = try? await HTTPPage(at: "http://127.0.0.1:\(adminPort)/readyz")
            if page?.status == 200 { return }
            let reason = page?.text.trimmingCharacters(in: .whitespacesAndNewlines) ?? "its admin port does not answer"
            try await wait(for: process, until: deadline, because: reason)
        }
    }

    /// A member is ready before its group has given it partitions, which takes some seconds: figures would tell of
    /// the waiting and not of the work.
    private func getsPartitions(
        _ process: ChildProcess, adminPort: Int, until deadline: ContinuousClock.Instant
    ) async throws {
        while true {
            let page = try? await HTTPPage(at: "http://127.0.0.1:\(adminPort)/metrics")
            if let page, MetricsPage(page.text).sum(MetricsPage.rebalances, ["change": "assigned"]) > 0 { return }
            try await wait(for: process, until: deadline, because: "its group has given it no partitions")
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
        return CommandError("the line has no process \(name), only \(names)")
    }
}
