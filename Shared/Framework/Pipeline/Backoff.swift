/// How long to wait before the same records are retried: doubling, capped, with full jitter so that instances that
/// failed together do not return together.
public struct Backoff: Sendable {
    private let base: Duration
    private let cap: Duration
    /// Failures since the last success.
    public private(set) var failures = 0

    /// The cap stays well under `max.poll.interval.ms`, because polling stops while the worker waits.
    public init(base: Duration = .milliseconds(100), cap: Duration = .seconds(30)) {
        self.base = base
        self.cap = cap
    }

    /// Counts a failure and returns how long to wait, between nothing and the bound for that many failures.
    public mutating func next(using generator: inout some RandomNumberGenerator) -> Duration {
        let bound = min(cap, base * (1 << min(failures, 20)))
        failures += 1
        return bound * Double.random(in: 0...1, using: &generator)
    }

    /// A success: the next failure waits as briefly as the first.
    public mutating func reset() { failures = 0 }
}
