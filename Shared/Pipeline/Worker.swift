import Chassis
import Contracts
import ServiceLifecycle

/// An error that trying again cannot mend: the worker stops and says it.
public protocol EndsTheWorker: Error {}

/// Next batch, judge, settle, again.
public struct Worker<S: Stage>: LongRunning where S.Input: TopicMessage {
    private let warmUp: @Sendable () async throws -> Void
    private let source: any Source
    private let stage: S
    private let settlement: any Settlement<S>
    private let poison: PoisonLimit
    private let monitor: WorkerMonitor
    private let clock: any Clock<Duration>
    private let logger: Logger

    /// - Parameters:
    ///   - warmUp: connects what the settlement needs, so that the first record does not wait for it.
    ///   - poison: when to suspect our own release.
    ///   - monitor: told of every step.
    ///   - clock: waits between attempts.
    public init(
        warmUp: @escaping @Sendable () async throws -> Void = {}, source: any Source, stage: S,
        settlement: any Settlement<S>, poison: PoisonLimit = PoisonLimit(),
        monitor: WorkerMonitor, clock: any Clock<Duration> = ContinuousClock(), logger: Logger
    ) {
        self.warmUp = warmUp
        self.source = source
        self.stage = stage
        self.settlement = settlement
        self.poison = poison
        self.monitor = monitor
        self.clock = clock
        self.logger = logger
    }

    /// Works until the process is told to stop: the batch in hand is settled, then the partitions are handed back.
    ///
    /// An error that ends the worker leaves the process up, not ready and saying why: a restart would only meet the same
    /// records again.
    public func run() async throws {
        do {
            try await work()
        } catch {
            try? await source.close()
            await stop(because: error)
            throw error
        }
        try await source.close()
    }

    private func stop(because error: any Error) async {
        logger.critical("The worker stopped and waits for an operator: \(error)")
        monitor.stopped("\(error)")
        while !Task.isShuttingDownGracefully, !Task.isCancelled {
            monitor.beat()
            try? await cancelWhenGracefulShutdown { [clock] in try await clock.sleep(for: .seconds(10)) }
        }
    }

    private func work() async throws {
        var gauge = PoisonGauge(poison)
        var backoff = Backoff()
        var mustRewind = false
        var isWarm = false
        while !Task.isShuttingDownGracefully, !Task.isCancelled {
            monitor.beat()
            do {
                if !isWarm { try await warmUp() }
                isWarm = true
                if mustRewind { try await source.rewind() }
                mustRewind = false
                let next = try await source.next()
                monitor.turned()
                guard var batch = next else { continue }
                batch.attempt = backoff.failures + 1
                mustRewind = try await settle(batch, &gauge) == .fenced
                backoff.reset()
            } catch let end as any EndsTheWorker {
                throw end
            } catch {
                mustRewind = true
                await pause(after: error, &backoff)
            }
        }
    }

    private func settle(_ batch: Batch, _ gauge: inout PoisonGauge) async throws -> Settled {
        let started = monitor.started()
        let judged = try await batch.judged(by: stage)
        if let (reason, counted) = gauge.crossing(judged.verdicts) {
            throw PoisonLimitReached(stage: monitor.stage, reason: reason, counted: counted)
        }
        let settled = try await settlement.settle(judged)
        switch settled {
        case .settled: monitor.settled(judged, since: started)
        case .fenced: monitor.fenced()
        }
        return settled
    }

    /// The world failed: everything is tried again, nothing is skipped.
    private func pause(after error: any Error, _ backoff: inout Backoff) async {
        var generator = SystemRandomNumberGenerator()
        let delay = backoff.next(using: &generator)
        monitor.failed(error)
        logger.warning(
            "The batch will be tried again",
            metadata: ["error": "\(error)", "attempt": "\(backoff.failures)", "delay": "\(delay)"])
        // Cut short by a shutdown; the loop looks for one next.
        try? await cancelWhenGracefulShutdown { [clock] in try await clock.sleep(for: delay) }
    }
}
