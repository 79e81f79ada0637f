import Dispatch
import Postgres
import TestSupport
import Testing

@Suite struct PostgresTransactionTests {
    static let insert = Statement("test-insert", "insert into place (id, name) values ($1::integer, $2::text)")
    static let names = Statement("test-names", "select name from place order by id")
    static let lock = Statement("test-lock", "select name from place where id = $1::integer for update")

    struct Change: Error {}

    /// Lends a database with one table `place`.
    static func use(_ body: (PostgresConnection, PostgresConfiguration) async throws -> Void) async throws {
        try await TestDatabase.use(isMigrated: false) { database async throws in
            let connection = TestDatabase.connection(database)
            try await connection.run(
                unsafeScript: "create table place (id integer primary key, name text not null check (name <> ''))")
            try await body(connection, database)
        }
    }

    static func names(_ connection: PostgresConnection) async throws -> [String] {
        try await connection.execute(names).map { row in try row.value("name") }
    }

    @Test func `Transaction is committed when its body returned`() async throws {
        try await Self.use { connection, _ async throws in
            let affected = try await connection.transaction { transaction in
                try transaction.execute(Self.insert, Int32(1), "a").affected
                    + transaction.execute(Self.insert, Int32(2), "b").affected
            }
            #expect(affected == 2)
            #expect(try await Self.names(connection) == ["a", "b"])
        }
    }

    @Test func `Last statements are committed in the round trip that runs them`() async throws {
        try await Self.use { connection, database async throws in
            let observer = TestDatabase.connection(database)
            let wait = DispatchSemaphore(value: 0)
            async let names = connection.transaction { transaction in
                _ = try transaction.execute(Self.insert, Int32(1), "a")
                try transaction.send([Command(Self.insert, Int32(2), "b")])
                let rows = try transaction.commit(after: [Command(Self.names)])
                // Before the body returned.
                wait.wait()
                #expect(rows.map(\.affected) == [1, 2])
                #expect(throws: PostgresError.self) { try transaction.execute(Self.names) }
                return try rows[1].map { row in try row.value("name", as: String.self) }
            }
            while try await Self.names(observer).isEmpty { await Task.yield() }
            wait.signal()
            #expect(try await names == ["a", "b"])
            #expect(try await Self.names(connection) == ["a", "b"])
        }
    }

    @Test func `Last statement that fails undoes the transaction, and the connection is kept`() async throws {
        try await Self.use { connection, _ async throws in
            let process = try await connection.backendProcess()
            let error = await #expect(throws: PostgresError.self) {
                try await connection.transaction { transaction in
                    _ = try transaction.execute(Self.insert, Int32(1), "a")
                    _ = try transaction.commit(after: [Command(Self.insert, Int32(2), "")])
                }
            }
            #expect(error?.meaning == .constraintViolation)
            let names = try await Self.names(connection)
            #expect(names.isEmpty)
            #expect(try await connection.backendProcess() == process)
        }
    }

    @Test func `Transaction is rolled back when its body threw`() async throws {
        try await Self.use { connection, _ async throws in
            await #expect(throws: Change.self) {
                try await connection.transaction { transaction in
                    _ = try transaction.execute(Self.insert, Int32(1), "a")
                    throw Change()
                }
            }
            let names = try await Self.names(connection)
            #expect(names.isEmpty)
        }
    }

    @Test func `Ignored error cannot be committed`() async throws {
        try await Self.use { connection, _ async throws in
            await #expect(throws: PostgresError.self) {
                try await connection.transaction { transaction in
                    _ = try transaction.execute(Self.insert, Int32(1), "a")
                    _ = try? transaction.execute(Self.insert, Int32(1), "again")
                }
            }
            let names = try await Self.names(connection)
            #expect(names.isEmpty)
        }
    }

    @Test func `Pipeline stops at its first error and undoes what was before`() async throws {
        try await Self.use { connection, _ async throws in
            let error = await #expect(throws: PostgresError.self) {
                try await connection.pipeline([
                    Command(Self.insert, Int32(1), "a"), Command(Self.insert, Int32(2), ""),
                    Command(Self.insert, Int32(3), "c"),
                ])
            }
            #expect(error?.meaning == .constraintViolation)
            #expect(error?.constraint == "place_name_check")
            #expect(error?.statement == "test-insert")
            let names = try await Self.names(connection)
            #expect(names.isEmpty)
        }
    }

    @Test func `Text with NUL is rejected before it is sent, and the transaction goes on`() async throws {
        try await Self.use { connection, _ async throws in
            try await connection.transaction { transaction in
                let error = #expect(throws: PostgresError.self) {
                    try transaction.execute(Self.insert, Int32(1), "a\0b")
                }
                #expect(error?.meaning == .rejectedValue)
                #expect(error?.sqlState == nil)
                _ = try transaction.execute(Self.insert, Int32(2), "b")
            }
            #expect(try await Self.names(connection) == ["b"])
        }
    }

    @Test func `Two statements of one name are noticed`() async throws {
        try await Self.use { connection, _ async throws in
            _ = try await connection.execute(Self.names)
            let error = await #expect(throws: PostgresError.self) {
                try await connection.execute(Statement("test-names", "select 1"))
            }
            #expect(error?.meaning == .programming)
            let names = try await Self.names(connection)
            #expect(names.isEmpty)
        }
    }

    @Test func `Deadlock victim learns that it may retry`() async throws {
        try await Self.use { connection, database async throws in
            for id in [1, 2] as [Int32] { _ = try await connection.execute(Self.insert, id, "x") }
            let other = TestDatabase.connection(database)
            let (first, second) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            // Blocks the connections' own threads, which are there to be blocked.
            async let left: Void = connection.transaction { transaction in
                _ = try transaction.execute(Self.lock, Int32(1))
                first.signal()
                second.wait()
                _ = try transaction.execute(Self.lock, Int32(2))
            }
            async let right: Void = other.transaction { transaction in
                _ = try transaction.execute(Self.lock, Int32(2))
                second.signal()
                first.wait()
                _ = try transaction.execute(Self.lock, Int32(1))
            }
            var errors: [PostgresError.Meaning] = []
            do { try await left } catch let error as PostgresError { errors.append(error.meaning) }
            do { try await right } catch let error as PostgresError { errors.append(error.meaning) }
            #expect(errors == [.repeatable])
        }
    }

    @Test func `Serialization failure means that a retry may succeed`() async throws {
        try await Self.use { connection, database async throws in
            _ = try await connection.execute(Self.insert, Int32(1), "x")
            let other = TestDatabase.connection(database)
            let update = Statement("test-update", "update place set name = $1::text where id = 1")
            let (hasRead, hasWritten) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            async let late: Void = connection.transaction(isolation: .repeatableRead) { transaction in
                _ = try transaction.execute(Self.names)
                hasRead.signal()
                hasWritten.wait()
                _ = try transaction.execute(update, "late")
            }
            try await other.transaction { transaction in
                hasRead.wait()
                _ = try transaction.execute(update, "early")
            }
            hasWritten.signal()
            var meaning: PostgresError.Meaning?
            do { try await late } catch let error as PostgresError { meaning = error.meaning }
            #expect(meaning == .repeatable)
            #expect(try await Self.names(connection) == ["early"])
        }
    }

    static let unlock = Statement("test-unlock", "select pg_advisory_unlock(7)")
    static let lockEverywhere = Statement("test-lock-everywhere", "select pg_advisory_lock(7)")

    @Test func `Results of sent statements are received later, in order`() async throws {
        try await Self.use { connection, _ async throws in
            let affected = try await connection.transaction { transaction in
                try transaction.send([Command(Self.insert, Int32(1), "a")])
                try transaction.send([Command(Self.insert, Int32(2), "b"), Command(Self.names)])
                let received = try transaction.receive()
                #expect(try transaction.receive().isEmpty)
                #expect(try transaction.execute(Self.names).count == 2)
                return received.map(\.affected)
            }
            #expect(affected == [1, 1, 2])
            #expect(try await Self.names(connection) == ["a", "b"])
        }
    }

    @Test func `Server does what was sent while the body does something else`() async throws {
        try await Self.use { connection, database async throws in
            let other = TestDatabase.connection(database)
            let (isLocked, isUnlocked) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            async let waiting: Void = {
                // Ends when the body's statement was done, or by the statement timeout.
                defer { isUnlocked.signal() }
                await Self.wait(for: isLocked)
                _ = try await other.execute(Self.lockEverywhere)
            }()
            try await connection.transaction { transaction in
                _ = try transaction.execute(Self.lockEverywhere)
                isLocked.signal()
                try transaction.send([Command(Self.unlock)])
                isUnlocked.wait()
            }
            try await waiting
        }
    }

    /// On a thread that is there to be blocked.
    private static func wait(for semaphore: DispatchSemaphore) async {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                semaphore.wait()
                continuation.resume()
            }
        }
    }

    @Test func `Statement that failed unseen undoes the transaction, and the connection is kept`() async throws {
        try await Self.use { connection, _ async throws in
            let process = try await connection.backendProcess()
            let error = await #expect(throws: PostgresError.self) {
                try await connection.transaction { transaction in
                    try transaction.send([Command(Self.insert, Int32(1), "a"), Command(Self.insert, Int32(2), "")])
                }
            }
            #expect(error?.meaning == .constraintViolation)
            #expect(error?.statement == "test-insert")
            let names = try await Self.names(connection)
            #expect(names.isEmpty)
            #expect(try await connection.backendProcess() == process)
        }
    }

    @Test func `Body that throws before it received leaves nothing, and the connection is kept`() async throws {
        try await Self.use { connection, _ async throws in
            let process = try await connection.backendProcess()
            await #expect(throws: Change.self) {
                try await connection.transaction { transaction in
                    try transaction.send([Command(Self.insert, Int32(1), "a"), Command(Self.names)])
                    throw Change()
                }
            }
            let error = await #expect(throws: PostgresError.self) {
                try await connection.transaction { transaction in
                    try transaction.send([Command(Self.insert, Int32(1), "a")])
                    try transaction.send([Command(Self.insert, Int32(2), "b"), Command(Self.insert, Int32(3), "\0")])
                }
            }
            #expect(error?.meaning == .rejectedValue)
            let names = try await Self.names(connection)
            #expect(names.isEmpty)
            #expect(try await connection.backendProcess() == process)
        }
    }
}
