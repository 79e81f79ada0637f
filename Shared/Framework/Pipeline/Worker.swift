import Chassis
import Kafka
import Records
import ServiceLifecycle

/// An error that a retry cannot cure: the worker stops and reports it.
public protocol FatalWorkerError: Error {}

/// Fewer leave little memory behind.
private let recordsBeforeRelief = 1000

/// Next batch, process, settle, again.
public struct Worker<S: Stage>: Service where S.Input: TopicMessage {
    private let warmUp: @Sendable () async throws -> Void
    private let source: any Source
    private let stage: S
    private let settlement: any Settlement<S>
    private let rejectionLimit: RejectionLimit
    private let seal: RecordSeal
    private let monitor: WorkerMonitor
    private let clock: any Clock<Duration>
    private let onRelief: @Sendable () -> Void
    private let logger: Logger

    /// - Parameters:
    ///   - warmUp: connects the settlement, so that the first record does not wait for it.
    ///   - rejectionLimit: when to suspect this release and stop.
    ///   - seal: required of records that need one.
    ///   - monitor: notified of every step.
    ///   - clock: waits between attempts.
    ///   - onRelief: called when nothing waits any more after many records.
    public init(
        warmUp: @escaping @Sendable () async throws -> Void = {}, source: any Source, stage: S,
        settlement: any Settlement<S>, rejectionLimit: RejectionLimit = RejectionLimit(),
        seal: RecordSeal = RecordSeal(), monitor: WorkerMonitor, clock: any Clock<Duration> = ContinuousClock(),
        onRelief: @escaping @Sendable () -> Void = giveMemoryBack, logger: Logger
    ) {
        self.warmUp = warmUp
        self.source = source
        self.stage = stage
        self.settlement = settlement
        self.rejectionLimit = rejectionLimit
        self.seal = seal
        self.monitor = monitor
        self.clock = clock
        self.onRelief = onRelief
        self.logger = logger
    }

    /// Runs until the process stops: the current batch is settled, then the partitions are returned.
    ///
    /// An error that stops the worker leaves the process running, not ready and with the reason: a restart would only meet the same
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
        logger.critical("Worker stopped; an operator must act: \(error)")
        monitor.stopped("\(error)")
        while !Task.isShuttingDownGracefully, !Task.isCancelled {
            monitor.beat()
            try? await cancelWhenGracefulShutdown { [clock] in try await clock.sleep(for: .seconds(10)) }
        }
    }

    private func work() async throws {
        var gauge = RejectionCounter(rejectionLimit)
        var backoff = Backoff()
        var mustRewind = false
        var isWarm = false
        var sinceRelief = 0
        while !Task.isShuttingDownGracefully, !Task.isCancelled {
            monitor.beat()
            let began = ContinuousClock.now
            do {
                if !isWarm { try await warmUp() }
                isWarm = true
                if mustRewind { try await source.rewind() }
                mustRewind = false
                let next = try await source.next()
                monitor.turned()
                guard var batch = next else {
                    if sinceRelief >= recordsBeforeRelief {
                        onRelief()
                        sinceRelief = 0
                    }
                    continue
                }
                sinceRelief += batch.records.count
                batch.attempt = backoff.failures + 1
                mustRewind = try await settle(batch, &gauge) == .fenced
                backoff.reset()
            } catch let end as any FatalWorkerError {
                throw end
            } catch {
                mustRewind = true
                if !isWarm { monitor.isNotReady(error) }
                await pause(after: error, &backoff, since: began)
            }
        }
    }

    private func settle(_ batch: Batch, _ gauge: inout RejectionCounter) async throws -> Settled {
        let started = monitor.started()
        let processed = try await batch.processed(by: stage, seal: seal)
        if let (reason, counted) = gauge.crossing(processed) {
            throw RejectionLimitReached(stage: monitor.stage, reason: reason, counted: counted)
        }
        let settled = try await settlement.settle(processed)
        switch settled {
        case .settled: monitor.settled(processed, since: started)
        case .fenced: monitor.fenced()
        }
        return settled
    }

    /// A dependency was unavailable: everything is retried, nothing is skipped.
    /// - Parameter began: an attempt that has waited for a dependency need not wait once more.
    private func pause(
        after error: any Error, _ backoff: inout Backoff, since began: ContinuousClock.Instant
    ) async {
        var generator = SystemRandomNumberGenerator()
        let isMissing = (error as? KafkaError)?.meaning == .missing
        let longest: Duration =
            began.duration(to: .now) > .seconds(5) ? .seconds(1) : isMissing ? .seconds(2) : .seconds(30)
        let delay = min(backoff.next(using: &generator), longest)
        monitor.failed(error)
        logger.warning(
            "Batch failed; retrying",
            metadata: ["error": "\(error)", "attempt": "\(backoff.failures)", "delay": "\(delay)"])
        // Interrupted by a shutdown, which the loop checks next.
        try? await cancelWhenGracefulShutdown { [clock] in try await clock.sleep(for: delay) }
    }
}
