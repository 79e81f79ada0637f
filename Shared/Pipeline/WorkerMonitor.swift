import Chassis
import Contracts

/// Shows the outside what a worker does: metrics, readiness, sign of life.
public struct WorkerMonitor: Sendable {
    /// The stage's name in metrics and messages.
    public let stage: String
    private let pulse: Pulse
    private let readiness: Requirement
    private let instant: @Sendable () -> ContinuousClock.Instant
    private let batchTime: DurationHistogram
    private let batchSize: Recorder
    private let retries: Counter
    private let fences: Counter

    /// - Parameters:
    ///   - stage: the service whose stage it is.
    ///   - health: where readiness and the sign of life are registered.
    ///   - instant: measures how long a batch takes.
    public init(stage: Service, health: Health, instant: @escaping @Sendable () -> ContinuousClock.Instant) {
        self.stage = stage.rawValue
        // A turn is a wait, a batch or a pause between attempts, which is at most half a minute.
        pulse = health.pulse("worker", limit: .seconds(120))
        readiness = health.require("worker", waitingFor: "the first turn")
        self.instant = instant
        batchTime = Metric.stageBatch.timer(stage.rawValue)
        batchSize = Metric.stageBatchSize.recorder(stage.rawValue)
        retries = Metric.stageRetries.counter(stage.rawValue)
        fences = Metric.settlementsFenced.counter(stage.rawValue)
    }

    func beat() { pulse.beat() }

    /// The source answered, with records or without.
    func turned() { readiness.isMet() }

    func stopped(_ reason: String) { readiness.isUnmet(reason) }

    func failed() { retries.increment() }

    func fenced() { fences.increment() }

    /// Begins to measure a batch.
    func started() -> ContinuousClock.Instant { instant() }

    func settled<S: Stage>(_ judged: Judged<S>, since start: ContinuousClock.Instant) {
        batchTime.record(duration: start.duration(to: instant()))
        batchSize.record(judged.verdicts.count)
        var counts: [Outcome: Int] = [:]
        for verdict in judged.verdicts { counts[Outcome(verdict), default: 0] += 1 }
        for (outcome, count) in counts {
            Metric.stageRecords.counter(stage, outcome.name, outcome.reason).increment(by: count)
            guard outcome.name == Outcome.deadLetter else { continue }
            Metric.deadLetters.counter(stage, outcome.reason).increment(by: count)
        }
    }
}

/// The labels of a verdict.
private struct Outcome: Hashable {
    static let deadLetter = "dead_letter"
    var name: String
    var reason: String

    init<Output, Reason>(_ verdict: Verdict<Output, Reason>) {
        (name, reason) =
            switch verdict {
            case .forward: ("forwarded", "")
            case .discard(let reason): ("discarded", reason.rawValue)
            case .deadLetter(let reason, _): (Self.deadLetter, reason.rawValue)
            }
    }
}
