import Dispatch
import Foundation
import Postgres
import TestSupport
import Testing

/// The server's processes are on this machine.
private let ownsServer = ProcessInfo.processInfo.environment["DATABASE_URL"] == nil

@Suite struct ConnectionLossTests {
    static let one = Statement("test-one", "select 1 as one")

    @Test func `Lost connection says so once and is replaced at the next use`() async throws {
        try await TestDatabase.use(isMigrated: false) { database async throws in
            let (connection, observer) = (TestDatabase.connection(database), TestDatabase.connection(database))
            let first = try await connection.backendProcess()
            _ = try await connection.execute(Self.one)
            try await TestDatabase.terminate(first, asking: observer)
            let error = await #expect(throws: PostgresError.self) { try await connection.execute(Self.one) }
            #expect(error?.meaning == .connectionLost)
            #expect(try await connection.execute(Self.one).count == 1)
            #expect(try await connection.backendProcess() != first)
        }
    }

    @Test func `Statement of a transaction never runs outside of it after the connection was lost`() async throws {
        try await TestDatabase.use(isMigrated: false) { database async throws in
            let (connection, observer) = (TestDatabase.connection(database), TestDatabase.connection(database))
            try await connection.run(unsafeScript: "create table place (id integer primary key)")
            let insert = Statement("test-insert", "insert into place (id) values ($1::integer)")
            let backend = try await connection.backendProcess()
            let (isOpen, isDead) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            async let outcome: Void = connection.transaction { transaction in
                _ = try transaction.execute(insert, Int32(1))
                isOpen.signal()
                isDead.wait()
                _ = try? transaction.execute(insert, Int32(2))
                _ = try transaction.execute(insert, Int32(3))
            }
            try await observer.transaction { transaction in
                isOpen.wait()
                _ = try transaction.execute(Statement("test-kill", "select pg_terminate_backend($1, 10000)"), backend)
                isDead.signal()
            }
            var meaning: PostgresError.Meaning?
            do { try await outcome } catch let error as PostgresError { meaning = error.meaning }
            #expect(meaning == .connectionLost)
            #expect(try await connection.execute(Statement("test-count", "select id from place")).isEmpty)
        }
    }

    @Test func `Statement that takes too long is cancelled and the connection stays`() async throws {
        try await TestDatabase.use(isMigrated: false) { database async throws in
            var hasty = database
            // Connecting takes some statements, too.
            hasty.statementTimeout = .milliseconds(500)
            let connection = TestDatabase.connection(hasty)
            let backend = try await connection.backendProcess()
            let error = await #expect(throws: PostgresError.self) {
                try await connection.execute(
                    Statement("test-long", "select count(*) from generate_series(1, 1000000000)"))
            }
            #expect(error?.meaning == .unavailable)
            #expect(error?.isTransient == true)
            #expect(try await connection.backendProcess() == backend)
        }
    }

    @Test(.enabled(if: ownsServer)) func `Connection to a server that stands still is given up, and the error says so`()
        async throws
    {
        try await TestDatabase.use(isMigrated: false) { database async throws in
            var hasty = database
            hasty.answerTimeout = .seconds(1)
            let (connection, observer) = (TestDatabase.connection(hasty), TestDatabase.connection(database))
            let backend = try await connection.backendProcess()
            #expect(kill(backend, SIGSTOP) == 0)
            let error = await #expect(throws: PostgresError.self) { try await connection.execute(Self.one) }
            #expect(error?.meaning == .connectionLost)
            #expect(error?.message.hasPrefix("Postgres has not answered for 1 s: it hangs") == true)
            #expect(try await connection.execute(Self.one).count == 1, "on another connection")
            #expect(kill(backend, SIGCONT) == 0)
            withExtendedLifetime(observer) {}
        }
    }

    @Test(.enabled(if: ownsServer))
    func `Transaction whose server stands still loses its connection, however much it sends`() async throws {
        try await TestDatabase.use(isMigrated: false) { database async throws in
            var hasty = database
            hasty.answerTimeout = .seconds(1)
            let connection = TestDatabase.connection(hasty)
            try await connection.run(unsafeScript: "create table place (name text)")
            let backend = try await connection.backendProcess()
            let insert = Statement("test-insert", "insert into place (name) values ($1::text)")
            // More than the buffers of both ends hold.
            let large = String(repeating: "x", count: 40 << 20)
            #expect(kill(backend, SIGSTOP) == 0)
            let error = await #expect(throws: PostgresError.self) {
                try await connection.transaction { transaction in _ = try transaction.execute(insert, large) }
            }
            #expect(error?.meaning == .connectionLost)
            #expect(kill(backend, SIGCONT) == 0)
            #expect(try await connection.execute(Statement("test-count", "select name from place")).isEmpty)
        }
    }

    @Test func `Lock timeout names the session that holds the lock, its user and its statement`() async throws {
        try await TestDatabase.use { database async throws in
            var hasty = database
            hasty.lockTimeout = .seconds(5)
            let (connection, holder) = (TestDatabase.connection(hasty), TestDatabase.connection(database))
            try await holder.run(unsafeScript: "begin; lock table subscription in access exclusive mode")
            let error = await #expect(throws: PostgresError.self) {
                try await connection.execute(Statement("test-read", "select 1 as one from subscription"))
            }
            #expect(error?.sqlState == "55P03")
            let process = try await holder.backendProcess()
            #expect(
                error?.message.contains("; session \(process) (user storekeeper, ") == true, "\(error?.message ?? "")")
            #expect(
                error?.message.contains("lock table subscription in access exclusive mode") == true,
                "\(error?.message ?? "")")
            try await holder.run(unsafeScript: "rollback")
        }
    }

    @Test func `Lock timeout means that a retry may succeed`() async throws {
        try await TestDatabase.use(isMigrated: false) { database async throws in
            var hasty = database
            hasty.lockTimeout = .milliseconds(20)
            let (connection, holder) = (TestDatabase.connection(hasty), TestDatabase.connection(database))
            try await holder.run(unsafeScript: "create table place (id integer primary key)")
            let read = Statement("test-read", "select id from place")
            let (isLocked, isOver) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            async let holding: Void = holder.transaction { transaction in
                _ = try transaction.execute(Statement("test-lock-table", "lock table place in access exclusive mode"))
                isLocked.signal()
                isOver.wait()
            }
            let error = await #expect(throws: PostgresError.self) {
                try await connection.transaction { transaction in
                    isLocked.wait()
                    _ = try transaction.execute(read)
                }
            }
            isOver.signal()
            try await holding
            #expect(error?.meaning == .repeatable)
        }
    }

    @Test func `PostgresConnection counts a closed port as a lost connection, not as misconfigured`() async throws {
        // No server listens on port 1.
        let connection = TestDatabase.connection(
            PostgresConfiguration(url: "postgres://none@127.0.0.1:1/nothing", applicationName: "test"))
        let error = await #expect(throws: PostgresError.self) { try await connection.connect() }
        #expect(error?.meaning == .connectionLost)
    }

    @Test func `Database that does not exist needs an operator`() async throws {
        try await TestDatabase.use(isMigrated: false) { database async throws in
            var wrong = database
            wrong.url += "_elsewhere"
            let connection = TestDatabase.connection(wrong)
            let error = await #expect(throws: PostgresError.self) { try await connection.connect() }
            #expect(error?.meaning == .notPermitted)
        }
    }
}
