import struct Foundation.Date

/// Time and chance for the calls to Apple's API.
///
/// Two kinds of time: the calendar, which tokens and Apple's answers speak of, and a clock that never jumps, for limits,
/// waiting and deadlines.
public struct APIClock: Sendable {
    /// By the calendar.
    public let now: @Sendable () -> Date
    package let random: @Sendable () -> Double
    /// Since the clock was made.
    public let elapsed: @Sendable () -> Duration
    /// Waits.
    public let sleep: @Sendable (Duration) async throws -> Void

    /// - Parameters:
    ///   - now: What a calendar shows.
    ///   - random: From 0 up to 1, for spreading repetitions.
    public init<Time: Clock<Duration>>(
        clock: Time = ContinuousClock(), now: @escaping @Sendable () -> Date, random: @escaping @Sendable () -> Double
    ) {
        let start = clock.now
        self.now = now
        self.random = random
        elapsed = { start.duration(to: clock.now) }
        sleep = { try await clock.sleep(for: $0) }
    }
}
