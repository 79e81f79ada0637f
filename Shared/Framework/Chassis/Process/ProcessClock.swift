import struct Foundation.Date

/// The two clocks of a process, passed in by main.swift so that no other code reads the system's time.
public struct ProcessClock: Sendable {
    /// The wall clock; it may jump.
    ///
    /// For what is stored, sent or logged.
    public let now: @Sendable () -> Date
    /// A clock that never jumps and continues while the machine sleeps.
    ///
    /// For measuring and for deadlines.
    public let instant: @Sendable () -> ContinuousClock.Instant

    /// The system's clocks in main.swift; a test's own elsewhere.
    public init(
        now: @escaping @Sendable () -> Date, instant: @escaping @Sendable () -> ContinuousClock.Instant
    ) {
        self.now = now
        self.instant = instant
    }
}
