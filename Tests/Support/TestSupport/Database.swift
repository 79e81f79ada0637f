import Development
import Foundation
import Logging
import Postgres
import Storage
import Synchronization

/// Databases for tests: on the server of `DATABASE_URL`, else on one server of this test process that goes with it.
public enum TestDatabase {
    /// Lends a fresh database to `body` and drops it afterwards.
    /// - Parameter isMigrated: whether it holds our schema.
    public static func use<Value>(
        isMigrated: Bool = true, isolation: isolated (any Actor)? = #isolation,
        _ body: (PostgresConfiguration) async throws -> Value
    ) async throws -> Value {
        let server = try await serverURL.value
        // A process of another container, or one that was killed before, may have had the same id.
        let name = "storekeeper_test_\(ProcessInfo.processInfo.processIdentifier)_\(next())_\(run)"
        let template = isMigrated ? try await migrated.value : nil
        let copying = template.map { " template \($0) strategy file_copy" } ?? ""
        try await administer(server, "create database \(name)\(copying)")
        let configuration = configuration(url: Self.url(of: name, on: server))
        let result: Result<Value, any Error>
        do {
            if isMigrated, template == nil { try await migrate(configuration) }
            // `status` takes it for the age of the installation.
            if template != nil { try await run("update schema_migration set applied_at = now()", configuration) }
            result = .success(try await body(configuration))
        } catch {
            result = .failure(error)
        }
        try await administer(server, "drop database \(name) with (force)")
        return try result.get()
    }

    /// Lends a connection to a fresh database.
    public static func connected<Value>(
        isMigrated: Bool = true, isolation: isolated (any Actor)? = #isolation,
        _ body: (PostgresConnection) async throws -> Value
    ) async throws -> Value {
        try await use(isMigrated: isMigrated) { database async throws in
            let connection = connection(database)
            let value = try await body(connection)
            await connection.close()
            return value
        }
    }

    /// A connection that logs nothing.
    public static func connection(_ configuration: PostgresConfiguration) -> PostgresConnection {
        PostgresConnection(configuration, logger: .quiet)
    }

    /// On a busy machine a connection, the rows that a test begins with, and what it does while it holds a lock take more than the
    /// seconds of a service.
    private static func configuration(url: String) -> PostgresConfiguration {
        var configuration = PostgresConfiguration(
            url: url, applicationName: "storekeeper-tests", connectTimeout: .seconds(60),
            statementTimeout: .seconds(300),
            lockTimeout: .seconds(60), idleInTransactionTimeout: .seconds(300))
        configuration.answerTimeout = .hangLimit
        return configuration
    }

    private static let serverURL = Task {
        if let url = ProcessInfo.processInfo.environment["DATABASE_URL"] { return url }
        let server = try await DevelopmentPostgres.start(durability: .none, isInMemory: true)
        kept.withLock { $0 = server }
        return server.url
    }

    /// A database that holds our schema. A copy takes a fraction of the migrations' time; only a server that goes with this process
    /// gets it, because it stays.
    private static let migrated = Task { () async throws -> String? in
        let server = try await serverURL.value
        guard kept.withLock({ $0 != nil }) else { return nil }
        let name = "storekeeper_schema"
        try await administer(server, "create database \(name)")
        try await migrate(configuration(url: url(of: name, on: server)))
        return name
    }

    private static func migrate(_ configuration: PostgresConfiguration) async throws {
        let connection = connection(configuration)
        _ = try await Migrator(connection).migrate()
        await connection.close()
    }

    private static func run(_ sql: String, _ configuration: PostgresConfiguration) async throws {
        let connection = connection(configuration)
        try await connection.run(unsafeScript: sql)
        await connection.close()
    }

    /// Stops with the process, because its supervisor does.
    private static let kept = Mutex<DevelopmentPostgres?>(nil)
    private static let counter = Mutex(0)
    private static let run = UUID().uuidString.prefix(8).lowercased()

    private static func next() -> Int {
        counter.withLock {
            $0 += 1
            return $0
        }
    }

    private static func url(of database: String, on server: String) -> String {
        guard var parts = URLComponents(string: server) else { return server }
        parts.path = "/" + database
        return parts.string ?? server
    }

    private static func administer(_ server: String, _ sql: String) async throws {
        // Many tests create and drop databases at once.
        var patient = configuration(url: server)
        patient.connectTimeout = .hangLimit
        patient.statementTimeout = nil
        patient.lockTimeout = nil
        let connection = connection(patient)
        let deadline = ContinuousClock.now.advanced(by: .hangLimit)
        while true {
            do throws(PostgresError) {
                try await connection.run(unsafeScript: sql)
                break
            } catch {
                // A session that was told to end is still there after the five seconds for which the server waits, as on a busy machine.
                guard error.sqlState == "55006", ContinuousClock.now < deadline else { throw error }
            }
        }
        await connection.close()
    }
}

extension TestDatabase {
    /// Waits until as many sessions of this database wait for locks as said, and names their server processes.
    ///
    /// Asks again and again: each question is a round trip that blocks, and the server has no signal to offer.
    public static func blockedBackends(
        _ count: Int = 1, asking observer: PostgresConnection
    ) async throws -> [Int32] {
        let deadline = ContinuousClock.now.advanced(by: .hangLimit)
        while ContinuousClock.now < deadline {
            let rows = try await observer.execute(blocked)
            if rows.count >= count { return try rows.map { row in try row.value("pid") } }
        }
        throw NobodyWaits()
    }

    /// Ends a session as an administrator would.
    public static func terminate(_ backend: Int32, asking observer: PostgresConnection) async throws {
        _ = try await observer.execute(terminate, backend)
    }

    /// No session came to wait for a lock within a minute.
    public struct NobodyWaits: Error {
        /// Nothing else is known.
        public init() {}
    }

    private static let blocked = Statement(
        "test-blocked",
        """
        select pid from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock' and pid <> pg_backend_pid()
        """)

    private static let terminate = Statement("test-terminate", "select pg_terminate_backend($1::integer, 10000)")
}
