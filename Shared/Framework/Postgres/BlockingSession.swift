import struct Foundation.Date

/// A session of the server that holds a lock for which one of ours waits.
public struct BlockingSession: Sendable, Equatable {
    /// Process of the session that waits.
    public var waiting: Int32
    /// Its `application_name`, such as `storekeeper state-updater`.
    public var waitingApplication: String
    /// When its statement began; nil where this user may not see it.
    public var waitingSince: Date?
    /// Seconds since then by the server's clock.
    public var waited: Double?
    /// Process of the session that holds the lock; 0 for a prepared transaction.
    public var process: Int32
    /// Its user.
    public var user: String?
    /// Its `application_name`.
    public var application: String?
    /// When its transaction began; nil where this user may not see it.
    public var since: Date?
    /// Its last statement, shortened; nil where this user may not see it.
    public var statement: String?

    /// Every pair of a waiting session of ours and one that blocks it. For all roles but the API's.
    public static let all = Statement(
        "blocked-sessions",
        """
        select *, extract(epoch from clock_timestamp() - waiting_since)::double precision as waited
        from blocked_sessions()
        """)

    /// - Throws: `.programming` where the row is of another statement than ``all``.
    public init(_ row: Row) throws(PostgresError) {
        waiting = try row.value("waiting")
        waitingApplication = try row.value("waiting_application")
        waitingSince = try row.optional("waiting_since")
        waited = try row.optional("waited")
        process = try row.value("process")
        user = try row.optional("user_name")
        application = try row.optional("application")
        since = try row.optional("since")
        statement = try row.optional("statement")
    }

    /// `session 4711 (user ann, application psql, since 2026-01-01T00:00:00Z) blocks it: lock table subscription`.
    public var sentence: String {
        guard process != 0 else { return "a prepared transaction blocks it: see pg_prepared_xacts" }
        let facts = [
            user.map { "user \($0)" }, application.flatMap { $0.isEmpty ? nil : "application \($0)" },
            since.map { "since \($0.formatted(.iso8601))" },
        ].compactMap { $0 }
        return "session \(process) (\(facts.joined(separator: ", "))) blocks it" + (statement.map { ": \($0)" } ?? "")
    }

    /// What blocks a session, asked on a connection of its own; nil where nothing does, or that cannot be found out.
    static func explanation(
        of process: Int32, _ connect: () throws(PostgresError) -> ConnectionHandle
    ) -> String? {
        guard let connection = try? connect(), let rows = try? connection.run([Command(all)])[0].rows() else {
            return nil
        }
        let sentences = rows.compactMap { try? BlockingSession($0) }.filter { $0.waiting == process }.map(\.sentence)
        return sentences.isEmpty ? nil : sentences.joined(separator: "; ")
    }
}
