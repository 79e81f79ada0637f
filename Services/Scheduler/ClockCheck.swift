import Postgres

import struct Foundation.Date
import struct Foundation.TimeInterval

/// Lets no job begin by a clock that is ahead of the database's.
///
/// What such a clock plans or deletes stays so after the clock is right again: a day that is not over would count as compared
/// with Apple's history, and payloads would go before their time. By a clock that is behind, jobs are late, and no more.
struct ClockCheck: Sendable {
    let connection: PostgresConnection
    /// This machine's clock, which no simulator moves.
    let now: @Sendable () -> Date

    /// Shorter than what plans allow for: checks of failed deliveries overlap by 15 minutes. Seconds.
    static let limit: TimeInterval = 300

    /// - Throws: `ClockIsAhead`, and the error of a database that cannot be asked.
    func run() async throws {
        let difference = try await ServerClock.difference(connection, now: now)
        guard difference >= -Self.limit else { throw ClockIsAhead(seconds: Int(-difference.rounded())) }
    }
}

/// This machine's clock is wrong, or the database's.
struct ClockIsAhead: Error, CustomStringConvertible {
    let seconds: Int

    var description: String {
        "this machine's clock is \(seconds) s ahead of the database's; the job waits, because it would plan or delete too early: "
            + "let both machines follow a time service (NTP)"
    }
}
