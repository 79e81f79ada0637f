import Chassis
import Synchronization

/// A worker's ``StallDetector``, shared by the loop that processes records and by the checks of whether it does.
public final class WorkerProgress: Sendable {
    private let name: String
    private let instant: @Sendable () -> ContinuousClock.Instant
    private let detector = Mutex(StallDetector())

    /// - Parameters:
    ///   - name: the worker, in the answers of `/livez` and `/readyz`.
    ///   - health: calls it for problems.
    ///   - instant: the clock.
    init(_ name: String, health: Health, instant: @escaping @Sendable () -> ContinuousClock.Instant) {
        self.name = name
        self.instant = instant
        health.addLivenessCheck { [self] in isHung ? complaint : nil }
        health.addReadinessCheck { [self] in complaint }
    }

    func received() {
        let now = instant()
        detector.withLock { $0.received(at: now) }
    }

    func handled() {
        let now = instant()
        detector.withLock { $0.handled(at: now) }
    }

    func failed(_ error: String) {
        let now = instant()
        detector.withLock { $0.failed(error, at: now) }
    }

    func observed(_ backlog: StallDetector.Backlog?, clientError: String?) {
        let now = instant()
        detector.withLock { $0.observed(backlog, clientError: clientError, at: now) }
    }

    func ownsNothing() { detector.withLock { $0.ownsNothing() } }

    /// How long no record was processed although some wait.
    var stalled: Duration {
        let now = instant()
        return detector.withLock { $0.duration(at: now) }
    }

    /// The same, without failed attempts either.
    var silence: Duration {
        let now = instant()
        return detector.withLock { $0.silence(at: now) }
    }

    private var isHung: Bool {
        let now = instant()
        return detector.withLock { $0.isHung(at: now) }
    }

    /// One sentence for operators; nil while records are processed, or none wait.
    var complaint: String? {
        let now = instant()
        return detector.withLock { $0.complaint(at: now) }.map { "\(name) \($0)" }
    }
}
