import Contracts
import Foundation
import Postgres
import Records
import Storage
import TestSupport
import Testing

@Suite struct SeenNotificationStoreTests {
    static func seen(_ uuid: UUID, _ offset: Int64, isRedelivery: Bool = false) -> SeenNotification {
        SeenNotification(
            notificationUUID: uuid,
            position: LogPosition(topic: "notifications.verified", partition: 3, offset: offset), seenAt: Fixtures.now,
            isRedelivery: isRedelivery)
    }

    @Test func `SeenNotificationStore passes the first record of a notification each time, and a copy never`()
        async throws
    {
        try await TestDatabase.use { database async throws in
            let store = SeenNotificationStore(TestDatabase.connection(database))
            let uuid = UUID()
            #expect(try await store.markSeen([Self.seen(uuid, 7)]) == [true])
            #expect(try await store.markSeen([Self.seen(uuid, 9)]) == [false])
            #expect(try await store.markSeen([Self.seen(uuid, 7), Self.seen(uuid, 9)]) == [true, false])
        }
    }

    @Test func `Old rows are deleted in batches, and a locked row delays only its own batch`()
        async throws
    {
        try await TestDatabase.use { database async throws in
            let holder = TestDatabase.connection(database)
            let (job, observer) = (TestDatabase.connection(database), TestDatabase.connection(database))
            let notifications = (0..<7).map { number in
                var notification = Self.seen(UUID(), Int64(number))
                notification.seenAt += Double(number)
                return notification
            }
            _ = try await SeenNotificationStore(holder).markSeen(notifications)
            try await holder.run(unsafeScript: "begin; select from seen_notification where kafka_offset = 5 for update")
            async let deleted = SeenNotificationStore(job).delete(before: Fixtures.now + 6, portion: 2)
            _ = try await TestDatabase.blockedBackends(asking: observer)
            let count = Statement(unsafeSQL: "select count(*) as count from seen_notification")
            #expect(try await observer.execute(count)[0].value("count", as: Int64.self) == 3)
            try await holder.run(unsafeScript: "commit")
            #expect(try await deleted == 6)
            #expect(try await observer.execute(count)[0].value("count", as: Int64.self) == 1)
        }
    }

    @Test func `SeenNotificationStore passes the first record of a batch`() async throws {
        try await TestDatabase.use { database async throws in
            let store = SeenNotificationStore(TestDatabase.connection(database))
            let (one, two) = (UUID(), UUID())
            let batch = [Self.seen(one, 1), Self.seen(two, 2), Self.seen(one, 3), Self.seen(two, 4)]
            #expect(try await store.markSeen(batch) == [true, true, false, false])
        }
    }

    @Test func `SeenNotificationStore lets a redelivered record take the notification over`() async throws {
        try await TestDatabase.use { database async throws in
            let store = SeenNotificationStore(TestDatabase.connection(database))
            let uuid = UUID()
            #expect(try await store.markSeen([Self.seen(uuid, 1)]) == [true])
            #expect(try await store.markSeen([Self.seen(uuid, 5, isRedelivery: true)]) == [true])
            #expect(try await store.markSeen([Self.seen(uuid, 5, isRedelivery: true)]) == [true])
            #expect(try await store.markSeen([Self.seen(uuid, 1)]) == [false])
            let batch = [Self.seen(uuid, 6), Self.seen(uuid, 8, isRedelivery: true)]
            #expect(try await store.markSeen(batch) == [false, true])
        }
    }

    @Test func `Many workers with many copies pass each notification exactly once`() async throws {
        try await TestDatabase.use { database async throws in
            let uuids = (0..<200).map { _ in UUID() }
            let passed = try await withThrowingTaskGroup(of: [UUID].self) { group in
                for worker in 0..<4 {
                    group.addTask {
                        let store = SeenNotificationStore(TestDatabase.connection(database))
                        var passed: [UUID] = []
                        for start in stride(from: 0, to: 200, by: 50) {
                            let batch = uuids.shuffled().prefix(120).enumerated().map { index, uuid in
                                Self.seen(uuid, Int64(worker * 100_000 + start * 200 + index))
                            }
                            let isUnique = try await store.markSeen(batch)
                            passed += zip(batch, isUnique).filter { $0.1 }.map(\.0.notificationUUID)
                        }
                        return passed
                    }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            #expect(Set(passed).count == passed.count)
            #expect(passed.count <= 200 && passed.count >= 120)
        }
    }

    @Test func `Old rows are deleted`() async throws {
        try await TestDatabase.use { database async throws in
            let store = SeenNotificationStore(TestDatabase.connection(database))
            let uuid = UUID()
            _ = try await store.markSeen([Self.seen(uuid, 1)])
            #expect(try await store.delete(before: Fixtures.now) == 0)
            #expect(try await store.delete(before: Fixtures.now.addingTimeInterval(1)) == 1)
            #expect(try await store.markSeen([Self.seen(uuid, 2)]) == [true])
        }
    }

    @Test func `SeenNotificationStore accepts an empty batch`() async throws {
        try await TestDatabase.use { database async throws in
            #expect(try await SeenNotificationStore(TestDatabase.connection(database)).markSeen([]) == [])
        }
    }
}
