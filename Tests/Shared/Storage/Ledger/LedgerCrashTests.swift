import Contracts
import Development
import Dispatch
import Foundation
import Postgres
import Records
import Storage
import TestSupport
import Testing

@Suite(.serialized) struct LedgerCrashTests {
    /// The tables in the order in which `LedgerStore.apply` writes them.
    static let tables = [
        "consumer_position", "notification", "subscription", "transaction", "access_period", "anomaly", "account_claim",
        "timeline", "certificate_chain", "notification_payload", "shared_account_notice", "lifecycle_gap",
        "recovery_request",
        "conflicting_notification", "purchase_account", "refund_request", "insight_change",
    ]

    /// Holds a table locked while `body` runs.
    static func holding<Value: Sendable>(
        _ table: String, in database: PostgresConfiguration, _ body: () async throws -> Value
    ) async throws -> Value {
        let holder = TestDatabase.connection(database)
        let (isLocked, isOver) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let gate = TestDatabase.connection(database)
        async let holding: Void = holder.transaction { transaction in
            try transaction.run(unsafeScript: "lock table \(table) in access exclusive mode")
            isLocked.signal()
            isOver.wait()
        }
        // Blocks the gate's own thread.
        try await gate.transaction { _ in isLocked.wait() }
        let result: Result<Value, any Error>
        do { result = .success(try await body()) } catch { result = .failure(error) }
        isOver.signal()
        try await holding
        return try result.get()
    }

    @Test(arguments: tables)
    func `A worker killed at any table loses nothing and applies nothing twice`(table: String) async throws {
        try await LedgerStoreTests.use { connection, database async throws in
            var fixtures = Fixtures(seed: 77)
            var entries = fixtures.entries(30)
            entries[0].notification.original = SignedOriginal(encoding: SignedSample.likeApple(seed: 1))
            // With a copy, which has the store look for conflicting contents.
            let batch = entries + [entries[0]]
            let store = LedgerStore(TestDatabase.connection(database))
            let observer = TestDatabase.connection(database)
            let error = try await Self.holding(table, in: database) {
                async let outcome = store.apply(batch, moving: [Fixtures.move(0, 31)], recordedAt: Fixtures.now)
                for backend in try await TestDatabase.blockedBackends(asking: observer) {
                    try await TestDatabase.terminate(backend, asking: observer)
                }
                do {
                    _ = try await outcome
                    return PostgresError?.none
                } catch let error as PostgresError {
                    return error
                }
            }
            #expect(error?.meaning == .connectionLost)
            #expect(try await StatusStore(connection).notifications() == 0)
            #expect(try await TimelineStore(connection).newest(1).isEmpty)
            let again = try await store.apply(batch, moving: [Fixtures.move(0, 31)], recordedAt: Fixtures.now)
            let applied = try #require(again.applied)
            #expect(applied.inserted == 30)
            #expect(try await LedgerStoreTests.states(connection) == Fixtures.states(after: batch))
            try await LedgerOrderTests.expectConsistentTimeline(connection)
        }
    }

    @Test func `LedgerStore repeats a deadlocked transaction without the caller`() async throws {
        try await LedgerStoreTests.use { connection, database async throws in
            var fixtures = Fixtures(seed: 78)
            let entries = fixtures.entries(40, purchases: 2)
            let store = LedgerStore(connection)
            _ = try await store.apply(
                Array(entries[..<20]), moving: [Fixtures.move(0, 20)], recordedAt: Fixtures.now)
            let (disturber, observer) = (TestDatabase.connection(database), TestDatabase.connection(database))
            let lock = Statement(
                "test-lock-purchase", "select 1 from subscription where original_transaction_id = $1::text for update")
            let (isLocked, mayLock) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let gate = TestDatabase.connection(database)
            // The opposite order of the store's locks.
            async let disturbance: Void = disturber.transaction { transaction in
                _ = try transaction.execute(lock, "20000001")
                isLocked.signal()
                mayLock.wait()
                _ = try transaction.execute(lock, "20000000")
            }
            try await gate.transaction { _ in isLocked.wait() }
            async let outcome = store.apply(
                Array(entries[20...]), moving: [Fixtures.move(20, 40)], recordedAt: Fixtures.now)
            _ = try await TestDatabase.blockedBackends(asking: observer)
            mayLock.signal()
            // The server rolls back either transaction: the store repeats its own, the other one may get the error.
            do { try await disturbance } catch let error as PostgresError { #expect(error.meaning == .repeatable) }
            let applied = try #require(try await outcome.applied)
            #expect(applied.inserted == 20)
            #expect(try await LedgerStoreTests.states(connection) == Fixtures.states(after: entries))
        }
    }

    @Test func `LedgerStore counts a COMMIT without an answer as done`() async throws {
        // On a server of its own, configured to wait for a standby that does not exist: a COMMIT is durable then, but never
        // answered.
        let server = try await DevelopmentPostgres.start(durability: .none)
        let database = PostgresConfiguration(url: server.url, applicationName: "test")
        let (connection, observer) = (TestDatabase.connection(database), TestDatabase.connection(database))
        _ = try await Migrator(connection).migrate()
        _ = try await PositionStore(connection).establish(
            cluster: "cluster", group: "state-updater",
            lowWatermarks: [LogPosition(topic: Fixtures.topic, partition: 0, offset: 0)])
        try await observer.run(unsafeScript: "alter system set synchronous_standby_names = 'absent_standby'")
        try await observer.run(unsafeScript: "select pg_reload_conf()")
        try await Self.untilStandbyIsAwaited(observer)

        var fixtures = Fixtures(seed: 79)
        let entries = fixtures.entries(10)
        let worker = TestDatabase.connection(database)
        async let outcome = LedgerStore(worker).apply(
            entries, moving: [Fixtures.move(0, 10)], recordedAt: Fixtures.now)
        let backend = try await Self.committingBackend(observer)
        try await TestDatabase.terminate(backend, asking: observer)
        let applied = try #require(try await outcome.applied)
        #expect(applied.inserted == 10)
        #expect(try await StatusStore(connection).notifications() == 10)
        await server.stop()
    }

    static func untilStandbyIsAwaited(_ observer: PostgresConnection) async throws {
        let setting = Statement("test-standby", "select current_setting('synchronous_standby_names') as names")
        while try await observer.execute(setting)[0].value("names", as: String.self) != "absent_standby" {}
    }

    static func committingBackend(_ observer: PostgresConnection) async throws -> Int32 {
        let waiting = Statement("test-waiting", "select pid from pg_stat_activity where wait_event = 'SyncRep'")
        let deadline = ContinuousClock.now.advanced(by: .hangLimit)
        while ContinuousClock.now < deadline {
            if let row = try await observer.execute(waiting).first { return try row.value("pid") }
        }
        throw TestDatabase.NobodyWaits()
    }

    /// Three workers process the same partition, each from the stored offset on, and all their connections are killed
    /// repeatedly.
    @Test(arguments: 1...5 as ClosedRange<UInt64>)
    func `Random kills and concurrent workers lose nothing and apply nothing twice`(seed: UInt64) async throws {
        try await LedgerStoreTests.use { connection, database async throws in
            var fixtures = Fixtures(seed: seed)
            let unique = fixtures.entries(200)
            let log = (unique + unique.filter { _ in Int.random(in: 0..<4, using: &fixtures.generator) == 0 })
                .shuffled(using: &fixtures.generator)
            let size = Int.random(in: 3...15, using: &fixtures.generator)
            let (end, generator) = (log.count, fixtures.generator)
            async let kills = Self.kill(until: end, in: database, generator: generator)
            let inserted = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<3 {
                    group.addTask { try await Self.work(through: log, size: size, in: database) }
                }
                return try await group.reduce(0, +)
            }
            #expect(try await kills > 0)
            // “At most”, because a worker killed at COMMIT may not learn that it happened; never more, never twice.
            #expect(inserted <= unique.count)
            let uuids = try await Self.uuids(connection)
            #expect(uuids == Set(unique.map(\.notificationUUID)))
            #expect(try await LedgerStoreTests.states(connection) == Fixtures.states(after: log))
            try await LedgerOrderTests.expectConsistentTimeline(connection)
        }
    }

    static func uuids(_ connection: PostgresConnection) async throws -> Set<UUID> {
        var uuids: Set<UUID> = []
        try await NotificationStore(connection).forEach { uuids.insert($0.notificationUUID) }
        return uuids
    }

    static func position(_ connection: PostgresConnection) async throws -> Int {
        let stored = try await PositionStore(connection).positions(
            cluster: "cluster", group: "state-updater", partitions: [(topic: Fixtures.topic, partition: 0)])
        return Int(try #require(stored.first).offset)
    }

    /// Applies the partition from the stored offset to its end, and reconnects after errors.
    static func work(through log: [LedgerEntry], size: Int, in database: PostgresConfiguration) async throws -> Int {
        var prey = database
        prey.applicationName = "prey"
        let connection = TestDatabase.connection(prey)
        let store = LedgerStore(connection)
        var inserted = 0
        while true {
            do {
                let start = try await position(connection)
                guard start < log.count else { return inserted }
                let end = min(start + size, log.count)
                let outcome = try await store.apply(
                    Array(log[start..<end]), moving: [Fixtures.move(Int64(start), Int64(end))],
                    recordedAt: Fixtures.now)
                if case .applied(let applied) = outcome { inserted += applied.inserted }
            } catch let error as PostgresError where error.isTransient {
                continue
            }
        }
    }

    /// Kills all workers' sessions after every few moves of the offset.
    /// - Returns: number of killed sessions.
    static func kill(
        until end: Int, in database: PostgresConfiguration, generator: SeededGenerator
    ) async throws -> Int {
        var generator = generator
        let connection = TestDatabase.connection(database)
        let strike = Statement(
            "test-strike",
            """
            select pg_terminate_backend(pid) from pg_stat_activity
            where application_name = 'prey' and datname = current_database()
            """)
        var killed = 0
        var next = 0
        while true {
            let now = try await position(connection)
            if now >= end { return killed }
            guard now >= next else { continue }
            killed += try await connection.execute(strike).count
            next = now + Int.random(in: 1...30, using: &generator)
        }
    }
}
