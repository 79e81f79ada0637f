import Synchronization

/// Shows that a loop runs.
///
/// `/livez` fails when a loop has not reported for longer than one turn may take.
///
/// It says that the loop runs, never that its dependencies are available: a restart cures a hang, not an outage. So a loop
/// reports while it waits and retries, too.
public final class LivenessProbe: Sendable {
    let name: String
    private let limit: Duration
    private let instant: @Sendable () -> ContinuousClock.Instant
    private let last: Mutex<ContinuousClock.Instant>

    init(name: String, limit: Duration, instant: @escaping @Sendable () -> ContinuousClock.Instant) {
        self.name = name
        self.limit = limit
        self.instant = instant
        last = Mutex(instant())
    }

    /// The loop reports.
    ///
    /// Costs a clock reading; call it once per turn.
    public func beat() {
        let beaten = instant()
        last.withLock { $0 = beaten }
    }

    /// Why the loop counts as hung; nil while it is alive.
    var complaint: String? {
        let silence = last.withLock { $0 }.duration(to: instant())
        guard silence > limit else { return nil }
        return "\(name) made no progress for \(silence.components.seconds) s, more than its limit of"
            + " \(limit.components.seconds) s"
    }
}
