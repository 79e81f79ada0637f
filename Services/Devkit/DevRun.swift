import Commands
import Contracts
import Foundation
import Logging
import Postgres
import Storage
import Synchronization

/// One run: sends, shows, waits until everything has arrived, compares.
struct DevRun: Sendable {
    private static let tick: Duration = .milliseconds(200)
    /// While nothing moves: each look costs every service an answer.
    private static let idleTick: Duration = .seconds(1)
    /// The same where nothing is awaited, unless a record is written.
    private static let restTick: Duration = .seconds(5)
    private static let stallLimit: Duration = .seconds(60)

    let services: DevelopmentEnvironment.RunningServices
    let options: SimulatorRun.Options
    let show: LiveDisplay
    /// An endless run sends until this returns; nil sends until the count is reached or the run is cancelled.
    var enough: (@Sendable () async throws -> Void)?

    /// Whether nothing is awaited, and a rate keeps the simulator from filling the broker between two measurements.
    private var mayRest: Bool { options.count == 0 && enough == nil && options.rate > 0 }

    private enum Step: Sendable {
        case companionEnded
        case done(RunReport?)
    }

    /// - Returns: nil for an endless run, which ends by cancellation only.
    /// - Throws: `ServiceProcesses.UnexpectedExit` where a process ends that should not.
    func run() async throws -> RunReport? {
        guard let target = await services.processes.target else {
            throw CommandError("no ingest runs; start at least one")
        }
        let database = PostgresConfiguration(url: services.databaseURL, applicationName: "storekeeper dev")
        let connection = PostgresConnection(database, logger: .silent)
        let backlog = try Backlog(
            services.kafka, positions: PositionStore(PostgresConnection(database, logger: .silent)),
            forgets: services.forgets,
            logger: .silent)
        let deadLetters = try await DeadLetterCounter(services.kafka, logger: .silent)
        show.begin(target: target)
        return try await withThrowingTaskGroup(of: Step.self) { group in
            defer { group.cancelAll() }
            let isEnough = Flag()
            let (ports, port) = AsyncStream.makeStream(of: Int.self)
            group.addTask {
                await backlog.watch(idle: mayRest ? Self.idleTick : nil)
                return .companionEnded
            }
            group.addTask {
                await deadLetters.watch()
                return .companionEnded
            }
            group.addTask { [processes = services.processes] in
                for await unexpectedExit in processes.unexpectedExits { throw unexpectedExit }
                return .companionEnded
            }
            group.addTask {
                try await PaceServer(backlog: backlog, logger: .silent).run { port.yield($0) }
                return .companionEnded
            }
            group.addTask {
                guard let port = await ports.first(where: { _ in true }) else { throw CancellationError() }
                // Earlier notifications must not count in this run's figures.
                try await backlog.becomesEmpty(stallLimit: Self.stallLimit)
                let ledger = LedgerReader(connection: connection)
                let observer = Observer(
                    processes: services.processes, backlog: backlog, deadLetters: deadLetters, ledger: ledger,
                    before: try await ledger.uuids())
                return .done(try await conduct(observer, target: target, pacePort: port, isEnough))
            }
            if let enough {
                group.addTask {
                    try await enough()
                    isEnough.set()
                    return .companionEnded
                }
            }
            for try await case .done(let report) in group { return report }
            throw CancellationError()
        }
    }

    private func conduct(
        _ observer: Observer, target: String, pacePort: Int, _ isEnough: Flag
    ) async throws -> RunReport? {
        let simulatorRun = SimulatorRun(
            options: options, target: target,
            paceURL: services.forgets ? "http://127.0.0.1:\(pacePort)/backlog" : nil, plan: services.processes.plan)
        var backend: ExampleBackend?
        if options.refundScale != nil {
            backend = ExampleBackend(
                databaseURL: services.databaseURL, apps: services.processes.plan.apps, now: services.now)
            try await backend?.setPolicies()
            show.say("Refund requests are answered by an example policy, with consent: storekeeper refunds list")
        }
        let simulator = try await simulatorRun.start(with: services.spawner)
        do {
            let report = try await withThrowingTaskGroup(of: Void.self) { group in
                if let backend { group.addTask { try await backend.recordConsents() } }
                // Counted runs measure the pipeline alone.
                if options.count == 0, enough == nil, !services.processes.plan.names(of: .webhooks).isEmpty {
                    let receiver = WebhookReceiver(
                        databaseURL: services.databaseURL, plan: services.processes.plan, show: show, now: services.now)
                    group.addTask {
                        do { try await receiver.run() } catch  where !(error is CancellationError) {
                            show.say("\(error)")
                        }
                    }
                }
                // A counted run is compared with what was planned; it has no customers beside it.
                if options.count == 0, enough == nil, let api = services.api {
                    group.addTask {
                        do {
                            try await LivingCustomers(control: simulatorRun.control, api: api, show: show).begin()
                        } catch  where !(error is CancellationError) { show.say("\(error)") }
                    }
                }
                defer { group.cancelAll() }
                return try await follow(simulator, simulatorRun, observer, isEnough)
            }
            await simulator.stop(deadline: .seconds(5))
            return report
        } catch {
            await simulator.stop(deadline: .seconds(5))
            throw error
        }
    }

    private func follow(
        _ simulator: ChildProcess, _ simulatorRun: SimulatorRun, _ observer: Observer, _ isEnough: Flag
    ) async throws -> RunReport? {
        let clock = ContinuousClock()
        var start = clock.now
        // At a low rate, nothing changes between two notifications.
        let between = options.rate > 0 ? Duration.seconds(3 / options.rate) : .zero
        // Nothing moves while the simulator signs ahead: less than 5 ms each on the slowest machine.
        let signing = options.isPresigned ? Duration.milliseconds(5) * options.count : .zero
        var progress = Progress(limit: max(Self.stallLimit, between) + signing)
        var expected: Expectation?
        var lastMark: [Int64] = []
        var isDatabaseAway = false
        var totals = StageCounts.Total()
        while true {
            let snapshot: Snapshot
            do {
                snapshot = try await observer.snapshot(
                    elapsed: clock.now - start, planned: options.count == 0 ? nil : options.count, &totals)
                isDatabaseAway = false
            } catch let error as PostgresError where error.isTransient {
                if !isDatabaseAway { show.say("Postgres does not answer; the run goes on when it does: \(error)") }
                isDatabaseAway = true
                try await clock.sleep(for: Self.idleTick)
                continue
            }
            show.update(snapshot)
            // The duration begins with the first notification, not with the simulator.
            if snapshot.stages[.ingest]?.handled ?? 0 == 0 { start = clock.now }
            if isEnough.isSet { simulator.send(SIGTERM) }
            let hasEnded = !simulator.isRunning
            if hasEnded, expected == nil { try await judgeEnd(of: simulator, wasStopped: isEnough.isSet) }
            // The simulator stays for requests to its API.
            let hasSent = hasEnded ? true : await simulatorRun.control.isFinished()
            let mark = observer.mark(snapshot)
            let isIdle = mark == lastMark && expected == nil
            lastMark = mark
            let hasStalled = progress.stands(at: clock.now, mark)
            // The simulator waits for a pipeline that stands still, and would never come to its end.
            if expected == nil, hasSent || hasStalled && options.count > 0 {
                expected = Expectation(
                    record: try record(of: simulatorRun),
                    measurementNumber: snapshot.backlog?.number ?? 0)
            }
            if let expected {
                let hasArrived = expected.isMet(
                    stored: Int(snapshot.stored), rejected: observer.deadLetters.uuids, backlog: snapshot.backlog)
                if hasArrived || hasStalled {
                    if hasArrived { try await awaitAnswers(observer.ledger) }
                    return try await report(
                        try record(of: simulatorRun), observer, stalled: !hasArrived,
                        seconds: (clock.now - start).seconds)
                }
            }
            if isIdle, mayRest {
                try await rest(simulator, observer.backlog, since: snapshot.backlog)
            } else {
                try await clock.sleep(for: isIdle ? Self.idleTick : Self.tick)
            }
        }
    }

    /// Waits until a record is written or the simulator has ended, and not for long: some of what is shown changes
    /// without either.
    private func rest(
        _ simulator: ChildProcess, _ backlog: Backlog, since shown: Backlog.Measurement?
    ) async throws {
        let clock = ContinuousClock()
        let end = clock.now + Self.restTick
        repeat {
            try await clock.sleep(for: Self.tick)
        } while clock.now < end && simulator.isRunning && backlog.measurement?.isIdle(since: shown) ?? true
    }

    private func record(of simulatorRun: SimulatorRun) throws -> RunRecord {
        try RunRecord(reading: Array(try Data(contentsOf: URL(fileURLWithPath: simulatorRun.recordFile))))
    }

    /// Waits until every refund request that can be answered is; one that is not is a difference of the report.
    private func awaitAnswers(_ ledger: LedgerReader) async throws {
        guard options.refundScale != nil else { return }
        let clock = ContinuousClock()
        let deadline = clock.now + Self.stallLimit
        while clock.now < deadline {
            let check = RefundCheck(requests: try await ledger.refunds(at: services.now()))
            // A customer who has an account consents soon.
            if check.isSettled, !check.requests.contains(where: { $0.unanswered == "consent" }) { return }
            try await clock.sleep(for: Self.idleTick)
        }
    }

    /// Exit code 1 of the simulator means that it gave up deliveries, which the run record lists.
    private func judgeEnd(of simulator: ChildProcess, wasStopped: Bool) async throws {
        let ending = await simulator.ending()
        guard options.count > 0 || wasStopped, ending == .exit(0) || ending == .exit(1) else {
            throw ServiceProcesses.UnexpectedExit(of: simulator, ending)
        }
    }

    private func report(
        _ record: RunRecord, _ observer: Observer, stalled: Bool, seconds: Double
    ) async throws -> RunReport {
        let ledger = observer.ledger
        let check = RunCheck(
            ledger: try await ledger.entries(), before: observer.before, rejected: observer.deadLetters.all,
            finalStates: try await ledger.finalStates(), statusesByAnswer: try await ledger.statusesByAnswer(),
            access: options.count > 0 ? try await ledger.access() : nil,
            effectsTwice: try await ledger.effectsTwice(except: observer.before),
            refunds: RefundCheck(requests: try await ledger.refunds(at: services.now())))
        let findings = check.against(record)
        return RunReport(
            findings: findings, droppedByBroker: observer.backlog.measurement?.dropped ?? 0,
            stalled: stalled,
            latency: findings.inLedger > 0 ? try await ledger.latency(ofLast: findings.inLedger) : nil,
            recovery: try await ledger.recovery(),
            seconds: seconds, seed: options.seed)
    }
}

/// A flag that is set once.
private final class Flag: Sendable {
    private let state = Mutex(false)

    var isSet: Bool { state.withLock { $0 } }

    func set() { state.withLock { $0 = true } }
}
