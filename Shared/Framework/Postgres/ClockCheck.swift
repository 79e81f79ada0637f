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

    /// Shorter than what plans allow for: checks of failed deliveries overlap by 15 minutes. Seconds.
    private static let limit: TimeInterval = 300

    /// - Parameter now: this machine's clock, which no simulator moves.
    package init(connection: PostgresConnection, now: @escaping @Sendable () -> Date) {
        self.connection = connection
        self.now = now
    }

    /// - Throws: `ClockIsAhead`, and the error of a database that cannot be asked.
    package func run() async throws {
        let difference = try await ServerClock.difference(connection, now: now)
        guard difference >= -Self.limit else { throw ClockIsAhead(seconds: Int(-difference.rounded())) }
    }
}

/// This machine's clock is wrong, or the database's.
package struct ClockIsAhead: Error, CustomStringConvertible {
    /// By how much it is ahead.
    package let seconds: Int

    package var description: String {
        "this machine's clock is \(seconds) s ahead of the database's; the job waits, because it would plan or delete too early: "
            + "let both machines follow a time service (NTP)"
    }
}
