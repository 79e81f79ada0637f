import struct Foundation.Date
import struct Foundation.TimeInterval

/// How the server's clock compares with this machine's.
///
/// What is stored has dates of both. Where they differ, the order of what happened at two machines, what is due and how long
/// something took are wrong by as much.
public enum ServerClock {
    /// A greater difference, in seconds, is worth a warning. Time services keep machines within milliseconds.
    public static let tolerance: TimeInterval = 5

    /// The statement that asks.
    public static let statement = Statement("server-clock", "select clock_timestamp() as now")

    /// Seconds by which the server's clock is ahead of this machine's; negative where it is behind. How long the question takes is
    /// no difference.
    /// - Parameter now: this machine's clock.
    public static func difference(
        _ connection: PostgresConnection, now: @Sendable () -> Date
    ) async throws -> TimeInterval {
        let asked = now()
        let server: Date = try await connection.execute(statement)[0].value("now")
        let answered = now()
        if server < asked { return server.timeIntervalSince(asked) }
        return max(0, server.timeIntervalSince(answered))
    }

    /// `the database's clock is 600 s ahead of this machine's`; nil within the tolerance.
    public static func sentence(_ difference: TimeInterval) -> String? { sentence(difference, of: "the database's") }

    /// The same about another clock, such as `Apple's`.
    public static func sentence(_ difference: TimeInterval, of other: String) -> String? {
        guard abs(difference) > tolerance else { return nil }
        return
            "\(other) clock is \(Int(abs(difference).rounded())) s \(difference > 0 ? "ahead of" : "behind") this machine's"
    }
}
