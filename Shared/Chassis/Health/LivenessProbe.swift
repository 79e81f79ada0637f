import Synchronization

/// A loop's sign of life.
///
/// `/livez` fails when a loop has not beaten for longer than it may take for one turn.
///
/// It says that the loop turns, never that what it depends on is there: a restart cures a hang, not an outage. So a loop
/// beats while it waits and retries, too.
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

    /// The loop came by here.
    ///
    /// Costs a clock reading; call it once a turn.
    public func beat() {
        let beaten = instant()
        last.withLock { $0 = beaten }
    }

    /// Why the loop counts as hung; nil while it is alive.
    var complaint: String? {
        let silence = last.withLock { $0 }.duration(to: instant())
        guard silence > limit else { return nil }
        return "\(name) has not turned for \(silence.components.seconds) s, more than its limit of"
            + " \(limit.components.seconds) s"
    }
}
