import struct Foundation.Date

/// The transaction of the server that began to write before all others that run, in any database. What reads in the order of commits
/// waits for its end.
public struct OldestWriter: Sendable, Equatable {
    /// Process of its session; 0 for a prepared transaction.
    public var process: Int32
    /// The name of the prepared transaction; nil for a session.
    public var prepared: String?
    /// Its user.
    public var user: String?
    /// Its database.
    public var database: String?
    /// Its `application_name`.
    public var application: String?
    /// When the session began; nil for a prepared transaction, and where this user may not see it.
    public var connectedAt: Date?
    /// When the transaction began, or was prepared; nil where this user may not see it.
    public var since: Date?
    /// Seconds since then by the server's clock.
    public var age: Double?
    /// Its last statement, shortened; nil likewise.
    public var statement: String?

    /// No row where none writes. For all roles but the API's.
    public static let current = Statement(
        "oldest-writer",
        """
        select *, extract(epoch from clock_timestamp() - since)::double precision as age
        from oldest_writer()
        """)

    /// - Throws: `.programming` where the row is of another statement than ``current``.
    public init(_ row: Row) throws(PostgresError) {
        process = try row.value("process")
        prepared = try row.optional("prepared")
        user = try row.optional("user_name")
        database = try row.optional("database_name")
        application = try row.optional("application")
        connectedAt = try row.optional("connected_at")
        since = try row.optional("since")
        age = try row.optional("age")
        statement = try row.optional("statement")
    }

    /// `session 4711 (user ann, database reports, application psql, connected since …, transaction since …) has not ended: update a`.
    public var sentence: String {
        let facts = [
            user.map { "user \($0)" }, database.map { "database \($0)" },
            application.flatMap { $0.isEmpty ? nil : "application \($0)" },
            connectedAt.map { "connected since \($0.formatted(.iso8601))" },
            since.map { "transaction since \($0.formatted(.iso8601))" },
        ].compactMap { $0 }.joined(separator: ", ")
        let name = prepared.map { "prepared transaction \($0)" } ?? "session \(process)"
        return "\(name) (\(facts)) has not ended" + (statement.map { ": \($0)" } ?? "")
    }

    /// The statement that ends it, for an administrator.
    public var remedy: String {
        guard let prepared else { return "select pg_terminate_backend(\(process))" }
        return "in its database: rollback prepared \(prepared.quoted(by: "'", within: "''"))"
    }
}
