import struct Foundation.Date

/// The two clocks of a process, passed in by main.swift so that no other code reads the system's time.
public struct ProcessClock: Sendable {
    /// The wall clock; it may jump.
    ///
    /// For what is stored, sent or logged.
    public let now: @Sendable () -> Date
    /// The wall clock without what a simulator adds to it.
    ///
    /// To be compared with the clock of another machine, which no simulator moves.
    public let unmoved: @Sendable () -> Date
    /// A clock that never jumps and continues while the machine sleeps.
    ///
    /// For measuring and for deadlines.
    public let instant: @Sendable () -> ContinuousClock.Instant

    /// The system's clocks in main.swift; a test's own elsewhere.
    public init(
        now: @escaping @Sendable () -> Date, instant: @escaping @Sendable () -> ContinuousClock.Instant
    ) {
        self.init(now: now, unmoved: now, instant: instant)
    }

    private init(
        now: @escaping @Sendable () -> Date, unmoved: @escaping @Sendable () -> Date,
        instant: @escaping @Sendable () -> ContinuousClock.Instant
    ) {
        self.now = now
        self.unmoved = unmoved
        self.instant = instant
    }

    /// The clock, ahead by what a simulator's file says.
    func moved(by development: DevelopmentClock) -> ProcessClock {
        ProcessClock(now: { [now] in development.moved(now()) }, unmoved: unmoved, instant: instant)
    }
}
