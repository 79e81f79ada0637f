import struct Foundation.Date

/// The two clocks of a process, handed in by main.swift so that nothing below it asks the machine for the time.
public struct ProcessClock: Sendable {
    /// What the calendar says; it may jump.
    ///
    /// For what is stored, sent or logged.
    public let now: @Sendable () -> Date
    /// A clock that never jumps and goes on while the machine sleeps.
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
