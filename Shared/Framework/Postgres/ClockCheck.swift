import struct Foundation.Date
import struct Foundation.TimeInterval

/// Lets no job begin by a clock that is ahead of the database's.
///
/// What such a clock plans, gives up or deletes stays so after the clock is right again: a day that is not over would
/// count as compared with Apple's history, and payloads would go before their time. By a clock that is behind, jobs are
/// late, and no more.
package struct ClockCheck: Sendable {
    private let connection: PostgresConnection
    private let now: @Sendable () -> Date
    private let apple: @Sendable (Date) -> TimeInterval?
    private let isAppleAwaited: @Sendable () -> Bool

    /// Shorter than what plans allow for: checks of failed deliveries overlap by 15 minutes. Seconds.
    private static let limit: TimeInterval = 300

    /// - Parameters:
    ///   - now: this machine's clock, which no simulator moves.
    ///   - apple: seconds by which Apple's clock is ahead of a time, as far as is known: the database may be on the same machine. Only
    ///     for what deletes. What asks Apple must go on, or a difference that is over would not be noticed.
    ///   - isAppleAwaited: whether Apple's clock is not known because the process has just started.
    package init(
        connection: PostgresConnection, now: @escaping @Sendable () -> Date,
        apple: @escaping @Sendable (Date) -> TimeInterval? = { _ in nil },
        isAppleAwaited: @escaping @Sendable () -> Bool = { false }
    ) {
        self.connection = connection
        self.now = now
        self.apple = apple
        self.isAppleAwaited = isAppleAwaited
    }

    /// - Throws: `ClockIsAhead`, `AppleClockIsAwaited`, and the error of a database that cannot be asked.
    package func run() async throws {
        try Self.check(try await ServerClock.difference(connection, now: now), from: "the database's")
        if isAppleAwaited() { throw AppleClockIsAwaited() }
        try Self.check(apple(now()) ?? 0, from: "Apple's")
    }

    private static func check(_ difference: TimeInterval, from other: String) throws {
        guard difference >= -limit else { throw ClockIsAhead(seconds: Int(-difference.rounded()), other: other) }
    }
}

/// The process is young, and no answer has told Apple's clock yet. Expected at every start: no reason for a warning.
package struct AppleClockIsAwaited: Error, CustomStringConvertible {
    package let description = "Apple's clock is not known yet; the job waits for the first answer, for an hour at most"
}

/// This machine's clock is wrong, or the other one.
package struct ClockIsAhead: Error, CustomStringConvertible {
    /// By how much it is ahead.
    package let seconds: Int
    /// `the database's` or `Apple's`.
    package let other: String

    package var description: String {
        "this machine's clock is \(seconds) s ahead of \(other); the job waits, because it would plan or delete too early: "
            + "let all machines follow a time service (NTP)"
    }
}
