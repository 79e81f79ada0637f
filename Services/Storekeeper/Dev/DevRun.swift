import Contracts
import Foundation
import Logging
import Postgres
import Storage
import Synchronization

/// One run over a line that stands: sends, shows, waits until all has arrived, compares.
struct DevRun: Sendable {
    private static let tick: Duration = .milliseconds(200)
    private static let stallLimit: Duration = .seconds(60)

    let stand: DevelopmentEnvironment.RunningServices
    let options: SimulatorRun.Options
    let show: LiveDisplay
    /// An endless run sends until this returns; nil sends until the count is reached, or for ever.
    var enough: (@Sendable () async throws -> Void)?

    private enum Step: Sendable {
        case companionEnded
        case done(RunReport?)
    }

    /// - Returns: nil for an endless run, which ends by cancellation only.
    /// - Throws: `ServiceProcesses.UnexpectedExit` where a process ends that should not.
    func run() async throws -> RunReport? {
        guard let target = await stand.line.target else {
            throw CommandError("no ingest runs: there is nothing to post to")
        }
        let database = PostgresConfiguration(url: stand.databaseURL, applicationName: "storekeeper dev")
        let connection = PostgresConnection(database, logger: .silent)
        let backlog = try Backlog(
            stand.kafka, positions: PositionStore(PostgresConnection(database, logger: .silent)),
            forgets: stand.forgets,
            logger: .silent)
        let letters = try await RejectionCounter(stand.kafka, logger: .silent)
        show.begin(target: target)
        return try await withThrowingTaskGroup(of: Step.self) { group in
            defer { group.cancelAll() }
            let isEnough = Flag()
            let (ports, port) = AsyncStream.makeStream(of: Int.self)
            group.addTask {
                await backlog.watch()
                return .companionEnded
            }
            group.addTask {
                await letters.watch()
                return .companionEnded
            }
            group.addTask { [line = stand.line] in
                for await death in line.deaths { throw death }
                return .companionEnded
            }
            group.addTask {
                try await PaceServer(backlog: backlog, logger: .silent).run { port.yield($0) }
                return .companionEnded
            }
            group.addTask {
                guard let port = await ports.first(where: { _ in true }) else { throw CancellationError() }
                // What was under way before this run belongs to none of its figures.
                try await backlog.becomesEmpty()
                let ledger = LedgerReader(connection: connection)
                let observer = Observer(
                    line: stand.line, backlog: backlog, letters: letters, ledger: ledger,
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
            for try await case .done(let verdict) in group { return verdict }
            throw CancellationError()
        }
    }

    private func conduct(
        _ observer: Observer, target: String, pacePort: Int, _ isEnough: Flag
    ) async throws -> RunReport? {
        let simulatorRun = SimulatorRun(
            options: options, target: target,
            paceURL: stand.forgets ? "http://127.0.0.1:\(pacePort)/backlog" : nil, plan: stand.line.plan)
        let simulator = try await simulatorRun.start(with: stand.spawner)
        do {
            let verdict = try await follow(simulator, simulatorRun, observer, isEnough)
            await simulator.stop(deadline: .seconds(5))
            return verdict
        } catch {
            await simulator.stop(deadline: .seconds(5))
            throw error
        }
    }

    private func follow(
        _ simulator: ChildProcess, _ simulatorRun: SimulatorRun, _ observer: Observer, _ isEnough: Flag
    ) async throws -> RunReport? {
        let clock = ContinuousClock()
        let start = clock.now
        var progress = Progress(limit: Self.stallLimit)
        var expected: Expectation?
        var totals = StageCounts.Total()
        while true {
            let snapshot = try await observer.snapshot(
                elapsed: clock.now - start, planned: options.count == 0 ? nil : options.count, &totals)
            show.update(snapshot)
            if isEnough.isSet { simulator.send(SIGTERM) }
            let hasEnded = !simulator.isRunning
            if hasEnded, expected == nil { try await judgeEnd(of: simulator, wasStopped: isEnough.isSet) }
            // It stays for whoever asks about what it sent.
            let hasSent = hasEnded ? true : await simulatorRun.control.isFinished()
            if expected == nil, hasSent {
                expected = Expectation(
                    book: try RunRecord(
                        reading: Array(try Data(contentsOf: URL(fileURLWithPath: simulatorRun.book)))),
                    lookNumber: snapshot.backlog?.number ?? 0)
            }
            if let expected {
                let hasArrived = expected.isMet(
                    stored: Int(snapshot.stored), refused: observer.letters.uuids, backlog: snapshot.backlog)
                let hasStalled = progress.stands(at: clock.now, observer.mark(snapshot))
                if hasArrived || hasStalled {
                    return try await verdict(
                        expected.book, observer, stalled: !hasArrived, seconds: (clock.now - start).seconds)
                }
            }
            try await clock.sleep(for: Self.tick)
        }
    }

    /// The simulator ends when it is asked to; exit 1 says that something was given up, which the book
    /// tells in detail.
    private func judgeEnd(of simulator: ChildProcess, wasStopped: Bool) async throws {
        let ending = await simulator.ending()
        guard options.count > 0 || wasStopped, ending == .exit(0) || ending == .exit(1) else {
            throw ServiceProcesses.UnexpectedExit(of: simulator, ending)
        }
    }

    private func verdict(
        _ book: RunRecord, _ observer: Observer, stalled: Bool, seconds: Double
    ) async throws -> RunReport {
        let ledger = observer.ledger
        let check = RunCheck(
            ledger: try await ledger.entries(), before: observer.before, refused: observer.letters.all,
            beliefs: try await ledger.beliefs(),
            effectsTwice: try await ledger.effectsTwice(except: observer.before))
        let findings = check.against(book)
        return RunReport(
            findings: findings, droppedByBroker: observer.backlog.look?.dropped ?? 0,
            stalled: stalled,
            latency: findings.inLedger > 0 ? try await ledger.latency(ofLast: findings.inLedger) : nil,
            recovery: try await ledger.recovery(),
            seconds: seconds, seed: options.seed)
    }
}

/// Goes up once.
private final class Flag: Sendable {
    private let state = Mutex(false)

    var isSet: Bool { state.withLock { $0 } }

    func set() { state.withLock { $0 = true } }
}
