import Chassis
import Records

/// Reports what a worker does: metrics, readiness, liveness.
public struct WorkerMonitor: Sendable {
    /// Its name in metrics and messages.
    public let stage: String
    /// Whether it processes what waits.
    public let progress: WorkerProgress
    private let liveness: LivenessProbe
    private let readiness: ReadinessCheck
    private let clock: ProcessClock
    private let tracer: Tracer
    private let logger: Logger
    private let batchTime: DurationHistogram
    private let batchSize: Recorder
    private let retries: Counter
    private let fences: Counter

    /// - Parameters:
    ///   - worker: the command, and after a dot which of its workers where it has several.
    ///   - health: registers readiness and liveness.
    ///   - clock: measures the duration of a batch, and dates spans.
    ///   - tracer: gets a span of each record that belongs to a trace.
    ///   - logger: gets a debug line for each record.
    public init(worker: String, health: Health, clock: ProcessClock, tracer: Tracer, logger: Logger) {
        stage = worker
        let name = worker.split(separator: ".").dropFirst().reduce("worker") { $0 + " " + $1 }
        // A turn is a wait, a batch or a pause between attempts. What it waits for has deadlines of its own, and a restart cures
        // none of it.
        liveness = health.livenessProbe(name, limit: .seconds(600))
        progress = WorkerProgress(name, health: health, instant: clock.instant)
        readiness = health.readinessCheck(name, waitingFor: "the first answer from Kafka")
        self.clock = clock
        self.tracer = tracer
        self.logger = logger
        batchTime = Metric.stageBatch.timer(worker)
        batchSize = Metric.stageBatchSize.recorder(worker)
        retries = Metric.stageRetries.counter(worker)
        fences = Metric.batchesFenced.counter(worker)
    }

    func beat() { liveness.beat() }

    /// The source answered, with records or without.
    func turned() { readiness.passes() }

    /// A prerequisite of the first turn is missing, or not as expected.
    func isNotReady(_ error: any Error) { readiness.fails("\(error)") }

    func stopped(_ reason: String) { readiness.fails(reason) }

    func failed(_ error: any Error) {
        retries.increment()
        progress.failed("\(error)")
    }

    func fenced() {
        fences.increment()
        progress.failed("another worker holds the partition")
    }

    /// Begins to measure a batch.
    func started() -> ContinuousClock.Instant {
        progress.received()
        return clock.instant()
    }

    func settled<S: Stage>(_ processed: ProcessedBatch<S>, since start: ContinuousClock.Instant) {
        progress.handled()
        let duration = start.duration(to: clock.instant())
        batchTime.record(duration: duration)
        batchSize.record(processed.results.count)
        var counts: [Outcome: Int] = [:]
        for result in processed.results { counts[Outcome(result), default: 0] += 1 }
        for (outcome, count) in counts {
            Metric.stageRecords.counter(stage, outcome.name, outcome.reason).increment(by: count)
            guard outcome.name == Outcome.deadLetter else { continue }
            Metric.deadLetters.counter(stage, outcome.reason).increment(by: count)
        }
        tell(processed, duration)
    }

    /// One span and one line for each record, if either is enabled.
    private func tell<S: Stage>(_ processed: ProcessedBatch<S>, _ duration: Duration) {
        let wantsLines = logger.logLevel <= .debug
        guard tracer.isOn || wantsLines else { return }
        let end = clock.now()
        var spans: [TraceSpan] = []
        for (record, result) in zip(processed.batch.records, processed.results) {
            let steps = RecordSteps(stage: stage, record: record, outcome: Outcome(result))
            if wantsLines { logger.debug("\(steps.outcome.name)", metadata: steps.metadata) }
            if let span = steps.span(tracer, end: end, duration: duration) { spans.append(span) }
        }
        tracer.finished(spans)
    }
}

/// The labels of a result.
struct Outcome: Hashable {
    static let deadLetter = "dead_letter"
    var name: String
    var reason: String

    init<Output, Reason>(_ result: StageResult<Output, Reason>) {
        (name, reason) =
            switch result {
            case .forward: ("forwarded", "")
            case .discard(let reason): ("discarded", reason.rawValue)
            case .deadLetter(let reason, _): (Self.deadLetter, reason.rawValue)
            }
    }
}
