import Logging
import Threads

/// Finds out whether a pooler between this process and Postgres gives each transaction another session.
///
/// Prepared statements, settings, LISTEN and advisory locks belong to a session, so nothing works behind such a pooler: the
/// statements of one connection meet those of another. PgBouncer does not tell its mode, so the check looks for a session that
/// two open connections share.
public actor PoolerCheck {
    private let thread = DedicatedThread(name: "postgres-pooler")
    private let configuration: PostgresConfiguration
    private let logger: Logger

    /// Other clients may take a session in between.
    private static let attempts = 10

    /// The thread on which it blocks.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// Does not connect.
    public init(_ configuration: PostgresConfiguration, logger: Logger) {
        self.configuration = configuration.hasty
        self.logger = logger
    }

    /// Opens two connections, and blocks for milliseconds.
    /// - Throws: ``SharedSessions``; `PostgresError` where the database cannot be reached, or where a pooler has no second session
    ///   free: then nothing is known, and the caller asks again.
    public func run() throws {
        let first = try PostgresConnection.open(configuration, logger: logger)
        let session = try Self.session(of: first)
        // Without a pooler the server's process is the one that it named when the connection was made.
        guard session != first.backendProcess else { return }
        let second = try PostgresConnection.open(configuration, logger: logger)
        for attempt in 0..<Self.attempts {
            // A pooler lends the session that was given back last, or the one that has waited longest. The first is seen by taking
            // turns; the second by keeping one for the length of a transaction, which changes the order.
            let isKept = !attempt.isMultiple(of: 2)
            if isKept { try second.run(script: "begin") }
            let taken = try Self.session(of: second)
            let next = try Self.session(of: first)
            guard taken != session, next == session else { throw SharedSessions() }
            if isKept { try second.run(script: "rollback") }
        }
    }

    /// Process of the server that runs the statement.
    private static func session(of connection: ConnectionHandle) throws(PostgresError) -> Int32 {
        let rows = try connection.run([Command(Statement(unsafeSQL: "select pg_backend_pid() as process"))])[0].rows()
        guard let row = rows.first else { throw PostgresError(.programming, "no process of a session") }
        return try row.value("process")
    }
}

/// A pooler gives each transaction another session of the server.
public struct SharedSessions: Error, CustomStringConvertible {
    /// What to set.
    public let description = """
        DATABASE_URL leads to a pooler that gives each transaction another session, as PgBouncer does with pool_mode = \
        transaction: prepared statements and settings of one connection are those of another; set pool_mode = session for this \
        database, or connect to Postgres itself.
        """
}
