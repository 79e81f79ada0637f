import Contracts
import Foundation
import Postgres
import Records
import TestSupport
import Testing

@testable import Storage

@Suite(.hangLimit) struct RetentionStoreTests {
    /// Far in the past, because only months that ended 200 days before the server's clock can be dropped.
    static let then = Date(timeIntervalSince1970: 1_732_190_400)  // 2024-11-21
    static let policy = RetentionPolicy(ledgerDays: 200, seenDays: 8)

    @Test func `Months are created ahead, once`() async throws {
        try await Self.withStore { store, _ async throws in
            let first = try await store.run(Self.policy, now: Self.then)
            #expect(first.made == ["2024-11", "2024-12", "2025-01"])
            #expect(try await store.run(Self.policy, now: Self.then) == RetentionStore.Report())
            #expect(
                try await store.months().map(\.name)
                    == ["2024_11", "2024_12", "2025_01"].map { "notification_payload_\($0)" })
        }
    }

    @Test func `RetentionStore ends a month by UTC`() async throws {
        try await Self.withStore { store, connection async throws in
            try await connection.run(unsafeScript: "set timezone = 'Pacific/Kiritimati'")
            _ = try await store.prepare(now: Self.then)
            #expect(try await store.months().first?.endsAt == Date(timeIntervalSince1970: 1_733_011_200))
        }
    }

    @Test func `Payloads of a month without a partition are stored, and move when the month is created`() async throws {
        try await Self.withStore { store, connection async throws in
            let uuids = try await Self.record(20, at: Self.then, connection)
            #expect(try await Self.count("notification_payload_default", connection) == 20)
            _ = try await store.prepare(now: Self.then)
            #expect(try await Self.count("notification_payload_default", connection) == 0)
            #expect(try await Self.count("notification_payload_2024_11", connection) == 20)
            let ledger = NotificationStore(connection)
            for uuid in uuids { #expect(try await ledger.original(uuid) != nil) }
        }
    }

    @Test func `Every month in the default partition is created, in batches`() async throws {
        try await Self.withStore { store, connection async throws in
            for (number, days) in [0.0, 30, 35].enumerated() {
                _ = try await Self.record(20, at: Self.then.addingTimeInterval(days * 86_400), seed: number, connection)
            }
            let later = Self.then.addingTimeInterval(150 * 86_400)
            let report = try await store.prepare(now: later, portion: 7)
            #expect(report.made == ["2024-11", "2024-12", "2025-04", "2025-05", "2025-06"])
            #expect(try await Self.count("notification_payload_default", connection) == 0)
            #expect(try await Self.count("notification_payload_2024_11", connection) == 20)
            #expect(try await Self.count("notification_payload_2024_12", connection) == 40)
        }
    }

    @Test func `RetentionStore continues to create a month that it could not create, which is read as before`()
        async throws
    {
        try await TestDatabase.use { database async throws in
            let (connection, reader) = (TestDatabase.connection(database), TestDatabase.connection(database))
            let store = RetentionStore(connection)
            _ = try await Self.record(20, at: Self.then, seed: 1, connection)
            try await reader.run(unsafeScript: "begin; lock table notification_payload_default in access share mode")
            #expect(try await store.prepare(now: Self.then, portion: 7).unmade.first == "2024-11")
            #expect(try await Self.count("notification_payload", connection) == 20)
            let late = try await Self.record(20, at: Self.then.addingTimeInterval(-60), seed: 2, connection)
            try await reader.run(unsafeScript: "rollback")
            #expect(try await store.prepare(now: Self.then, portion: 7).made.first == "2024-11")
            #expect(try await Self.count("notification_payload", connection) == 40)
            #expect(try await Self.count("notification_payload_2024_11", connection) == 40)
            for uuid in late { #expect(try await NotificationStore(connection).original(uuid) != nil) }
        }
    }

    @Test func `A payload that is deleted after it was copied into its month does not come back`() async throws {
        try await TestDatabase.use { database async throws in
            let (connection, reader) = (TestDatabase.connection(database), TestDatabase.connection(database))
            let store = RetentionStore(connection)
            let uuids = try await Self.record(20, at: Self.then, connection)
            try await reader.run(unsafeScript: "begin; lock table notification_payload_default in access share mode")
            #expect(try await store.prepare(now: Self.then).unmade.first == "2024-11")
            #expect(try await Self.count("notification_payload_2024_11", connection) == 20)
            // An erasure deletes them so.
            _ = try await connection.execute(
                unsafeSQL: "delete from notification_payload where notification_uuid = any ($1::uuid[])",
                Array(uuids.prefix(3)))
            try await reader.run(unsafeScript: "rollback")
            #expect(try await store.prepare(now: Self.then).made.first == "2024-11")
            #expect(try await Self.count("notification_payload", connection) == 17)
            for uuid in uuids.prefix(3) { #expect(try await NotificationStore(connection).original(uuid) == nil) }
            for uuid in uuids.dropFirst(3) { #expect(try await NotificationStore(connection).original(uuid) != nil) }
        }
    }

    @Test func `A month of which all payloads were deleted after they were copied is created, and is empty`()
        async throws
    {
        try await TestDatabase.use { database async throws in
            let (connection, reader) = (TestDatabase.connection(database), TestDatabase.connection(database))
            let store = RetentionStore(connection)
            _ = try await Self.record(20, at: Self.then, connection)
            try await reader.run(unsafeScript: "begin; lock table notification_payload_default in access share mode")
            #expect(try await store.prepare(now: Self.then).unmade.first == "2024-11")
            try await connection.run(unsafeScript: "delete from notification_payload")
            try await reader.run(unsafeScript: "rollback")
            let later = Self.then.addingTimeInterval(150 * 86_400)
            #expect(
                try await store.prepare(now: later).made
                    == ["2024-11", "2024-12", "2025-01", "2025-04", "2025-05", "2025-06"])
            #expect(try await Self.count("notification_payload_2024_11", connection) == 0)
        }
    }

    @Test func `RetentionStore creates the months once, in however many runs at once, and none where another run did`()
        async throws
    {
        try await TestDatabase.use { database async throws in
            let connection = TestDatabase.connection(database)
            _ = try await Self.record(20, at: Self.then, seed: 1, connection)
            try await withThrowingTaskGroup(of: [String].self) { group in
                for _ in 0..<4 {
                    group.addTask { try await Self.made(RetentionStore(TestDatabase.connection(database))) }
                }
                try await group.waitForAll()
            }
            #expect(try await RetentionStore(connection).months().count == 3)
            // A run that read which months are missing before they were created.
            let rest = try await Self.record(20, at: Self.then.addingTimeInterval(90 * 86_400), seed: 2, connection)
            _ = try await connection.execute(RetentionStore.make, ["2024-11", "2024-12", "2025-01"])
            #expect(try await Self.count("notification_payload_2024_11", connection) == 20)
            #expect(try await Self.count("notification_payload_default", connection) == Int64(rest.count))
            _ = try await connection.execute(RetentionStore.make, ["2025-01", "2025-02"])
            #expect(try await Self.count("notification_payload_2025_02", connection) == Int64(rest.count))
        }
    }

    @Test func `Payloads that arrive while their month is created are stored and do not block it`() async throws {
        try await TestDatabase.use { database async throws in
            let line = TestDatabase.connection(database)
            let (setup, observer) = (TestDatabase.connection(database), TestDatabase.connection(database))
            try await line.run(unsafeScript: "begin; \(Self.arrival)")
            async let made = Self.made(RetentionStore(setup))
            _ = try await TestDatabase.blockedBackends(asking: observer)
            try await line.run(unsafeScript: "\(Self.arrival); commit")
            #expect(try await made == ["2024-11", "2024-12", "2025-01"])
            #expect(try await Self.count("notification_payload_default", line) == 0)
            #expect(try await Self.count("notification_payload_2024_11", line) == 2)
        }
    }

    /// Creates all months, retrying where a lock is held.
    private static func made(_ store: RetentionStore) async throws -> [String] {
        var made: [String] = []
        while true {
            let report = try await store.prepare(now: then)
            made += report.made
            if report.unmade.isEmpty { return made }
        }
    }

    @Test func `RetentionStore drops an expired month whole, and its notifications are still known`() async throws {
        try await Self.withStore { store, connection async throws in
            _ = try await store.prepare(now: Self.then)
            let old = try await Self.record(20, at: Self.then, connection)
            let late = Self.then.addingTimeInterval(60 * 86_400)
            _ = try await store.prepare(now: late)
            // 200 days after the end of November, and not yet after that of December.
            let now = Date(timeIntervalSince1970: 1_733_011_200 + 200 * 86_400 + 60)
            #expect(try await store.expired(Self.policy, now: now).map(\.name) == ["notification_payload_2024_11"])
            let report = try await store.run(Self.policy, now: now)
            #expect(report.dropped.map(\.name) == ["notification_payload_2024_11"])
            #expect((report.dropped.first?.bytes ?? 0) > 0)

            let ledger = NotificationStore(connection)
            #expect(try await ledger.decoded(old[0]) == nil)
            #expect(try await ledger.original(old[0]) == nil)
            #expect(try await ledger.page().count == 20)
            // Delivered again it has no effect.
            var fixtures = Fixtures(seed: 7)
            guard
                case .applied(let applied) = try await LedgerStore(connection).apply(
                    fixtures.entries(20), moving: [], recordedAt: now)
            else {
                Issue.record("fenced")
                return
            }
            #expect(applied.inserted == 0)
            #expect(applied.repeated == 20)
        }
    }

    @Test
    func `RetentionStore leaves a month that another transaction reads for the next run, and continues all other work`()
        async throws
    {
        try await TestDatabase.use { database async throws in
            let (connection, reader) = (TestDatabase.connection(database), TestDatabase.connection(database))
            let store = RetentionStore(connection)
            let late = Self.then.addingTimeInterval(400 * 86_400)
            _ = try await store.prepare(now: Self.then)
            _ = try await store.prepare(now: late)
            let months = try await store.months()
            try await Self.sight(daysAgo: 9, before: late, connection)
            try await reader.run(unsafeScript: "begin; lock table notification_payload in access share mode")
            let held = try await store.run(Self.policy, now: late)
            #expect(held.dropped == [])
            #expect(held.left.map(\.name) == ["2024_11", "2024_12", "2025_01"].map { "notification_payload_\($0)" })
            #expect(held.deletedSeenNotifications == 1)
            #expect(try await store.months() == months)
            try await reader.run(unsafeScript: "rollback")
            let free = try await store.run(Self.policy, now: late)
            #expect(free.dropped.map(\.name) == held.left.map(\.name))
            #expect(free.left == [])
        }
    }

    @Test func `A month that another run drops meanwhile is no failure`() async throws {
        try await TestDatabase.use { database async throws in
            let (connection, other) = (TestDatabase.connection(database), TestDatabase.connection(database))
            _ = try await RetentionStore(connection).prepare(now: Self.then)
            let name = "notification_payload_2024_11"
            try await other.run(unsafeScript: "begin; select drop_payload_month('\(name)')")
            async let isDropped = Self.drop(name, connection)
            _ = try await TestDatabase.blockedBackends(asking: TestDatabase.connection(database))
            try await other.run(unsafeScript: "commit")
            #expect(try await !isDropped)
        }
    }

    /// Drops a month, retrying where a lock is held.
    private static func drop(_ name: String, _ connection: PostgresConnection) async throws -> Bool {
        while true {
            do throws(PostgresError) {
                return try await connection.execute(RetentionStore.drop, name)[0].value("is_done")
            } catch {
                guard error.sqlState == "55P03" else { throw error }
            }
        }
    }

    @Test func `Months that cannot be created prevent no other work`() async throws {
        try await TestDatabase.use { database async throws in
            let (connection, reader) = (TestDatabase.connection(database), TestDatabase.connection(database))
            let store = RetentionStore(connection)
            try await Self.sight(daysAgo: 9, before: Self.then, connection)
            try await reader.run(unsafeScript: "begin; lock table notification_payload_default in access share mode")
            let held = try await store.run(Self.policy, now: Self.then)
            #expect(held.made == [])
            #expect(held.unmade == ["2024-11", "2024-12", "2025-01"])
            #expect(held.deletedSeenNotifications == 1)
            try await reader.run(unsafeScript: "rollback")
            #expect(try await store.run(Self.policy, now: Self.then).made == held.unmade)
        }
    }

    @Test func `RetentionStore never drops a month within Apple's history`() async throws {
        #expect(RetentionPolicy(ledgerDays: 1, seenDays: 1) == RetentionPolicy(ledgerDays: 200, seenDays: 7))
        try await Self.withStore { store, connection async throws in
            let now = try await connection.execute(Self.clock)[0].value("now", as: Date.self)
            _ = try await store.prepare(now: now)
            let report = try await store.run(Self.policy, now: now.addingTimeInterval(1000 * 86_400))
            #expect(report.dropped.isEmpty)
            #expect(try await store.expired(Self.policy, now: now.addingTimeInterval(1000 * 86_400)).count == 3)
        }
    }

    @Test func `Old seen notifications are deleted, younger ones stay`() async throws {
        try await Self.withStore { store, connection async throws in
            for days in [1, 9] { try await Self.sight(daysAgo: days, before: Self.then, connection) }
            #expect(try await store.run(Self.policy, now: Self.then).deletedSeenNotifications == 1)
            #expect(try await Self.count("seen_notification", connection) == 1)
        }
    }

    @Test func `The scheduler's role may run all of it, though it owns nothing`() async throws {
        try await Self.withStore { _, owner async throws in
            _ = try await Grants(owner).apply()
            try await owner.run(unsafeScript: "set role storekeeper_scheduler")
            let store = RetentionStore(owner)
            _ = try await store.prepare(now: Self.then)
            let report = try await store.run(Self.policy, now: Self.then.addingTimeInterval(400 * 86_400))
            #expect(report.dropped.count == 3)
            try await owner.run(unsafeScript: "reset role")
        }
    }

    // MARK: -

    private static func record(
        _ count: Int, at date: Date, seed: Int = 7, _ connection: PostgresConnection
    ) async throws -> [UUID] {
        var fixtures = Fixtures(seed: UInt64(seed))
        let entries = fixtures.entries(count)
        _ = try await LedgerStore(connection).apply(entries, moving: [], recordedAt: date)
        return entries.map(\.notificationUUID)
    }

    private static func sight(daysAgo days: Int, before date: Date, _ connection: PostgresConnection) async throws {
        _ = try await SeenNotificationStore(connection).markSeen([
            SeenNotification(
                notificationUUID: UUID(), position: LogPosition(topic: "t", partition: 0, offset: 0),
                seenAt: date.addingTimeInterval(Double(-days) * 86_400), isRedelivery: false)
        ])
    }

    private static func count(_ table: String, _ connection: PostgresConnection) async throws -> Int64 {
        try await connection.execute(unsafeSQL: "select count(*) as count from \(table)")[0].value("count")
    }

    private static let arrival = """
        insert into notification_payload (recorded_at, notification_uuid, decoded, signed_original, chains)
        values ('2024-11-21 12:00:00+00', gen_random_uuid(), '{}', '', '{}')
        """

    private static let clock = Statement("test-clock", "select now() as now")

    private static func withStore(
        _ body: (RetentionStore, PostgresConnection) async throws -> Void
    ) async throws {
        try await TestDatabase.connected { connection in
            try await body(RetentionStore(connection), connection)
        }
    }
}
