import Contracts
import Foundation
import Postgres
import Storage
import TestSupport
import Testing

@Suite struct SeenNotificationStoreTests {
    static func sighting(_ uuid: UUID, _ offset: Int64, isRedelivery: Bool = false) -> SeenNotification {
        SeenNotification(
            notificationUUID: uuid,
            position: LogPosition(topic: "notifications.verified", partition: 3, offset: offset), seenAt: Fixtures.now,
            isRedelivery: isRedelivery)
    }

    @Test func `the first record of a notification passes again and again, a copy never`() async throws {
        try await TestDatabase.use { database async throws in
            let store = SeenNotificationStore(TestDatabase.connection(database))
            let uuid = UUID()
            #expect(try await store.markSeen([Self.sighting(uuid, 7)]) == [true])
            #expect(try await store.markSeen([Self.sighting(uuid, 9)]) == [false])
            #expect(try await store.markSeen([Self.sighting(uuid, 7), Self.sighting(uuid, 9)]) == [true, false])
        }
    }

    @Test func `what is forgotten goes in portions, and a row that is held keeps only its own portion back`()
        async throws
    {
        try await TestDatabase.use { database async throws in
            let holder = TestDatabase.connection(database)
            let (job, observer) = (TestDatabase.connection(database), TestDatabase.connection(database))
            let sightings = (0..<7).map { number in
                var sighting = Self.sighting(UUID(), Int64(number))
                sighting.seenAt += Double(number)
                return sighting
            }
            _ = try await SeenNotificationStore(holder).markSeen(sightings)
            try await holder.run(unsafeScript: "begin; select from seen_notification where log_offset = 5 for update")
            async let forgotten = SeenNotificationStore(job).forget(before: Fixtures.now + 6, portion: 2)
            _ = try await TestDatabase.blockedBackends(asking: observer)
            let count = Statement(unsafeSQL: "select count(*) as count from seen_notification")
            #expect(try await observer.execute(count)[0].value("count", as: Int64.self) == 3)
            try await holder.run(unsafeScript: "commit")
            #expect(try await forgotten == 6)
            #expect(try await observer.execute(count)[0].value("count", as: Int64.self) == 1)
        }
    }

    @Test func `the first of a batch wins`() async throws {
        try await TestDatabase.use { database async throws in
            let store = SeenNotificationStore(TestDatabase.connection(database))
            let (one, two) = (UUID(), UUID())
            let batch = [Self.sighting(one, 1), Self.sighting(two, 2), Self.sighting(one, 3), Self.sighting(two, 4)]
            #expect(try await store.markSeen(batch) == [true, true, false, false])
        }
    }

    @Test func `what was put back takes the notification over`() async throws {
        try await TestDatabase.use { database async throws in
            let store = SeenNotificationStore(TestDatabase.connection(database))
            let uuid = UUID()
            #expect(try await store.markSeen([Self.sighting(uuid, 1)]) == [true])
            #expect(try await store.markSeen([Self.sighting(uuid, 5, isRedelivery: true)]) == [true])
            #expect(try await store.markSeen([Self.sighting(uuid, 5, isRedelivery: true)]) == [true])
            #expect(try await store.markSeen([Self.sighting(uuid, 1)]) == [false])
            let batch = [Self.sighting(uuid, 6), Self.sighting(uuid, 8, isRedelivery: true)]
            #expect(try await store.markSeen(batch) == [false, true])
        }
    }

    @Test func `of many workers with many copies exactly one passes each notification`() async throws {
        try await TestDatabase.use { database async throws in
            let uuids = (0..<200).map { _ in UUID() }
            let passed = try await withThrowingTaskGroup(of: [UUID].self) { group in
                for worker in 0..<4 {
                    group.addTask {
                        let store = SeenNotificationStore(TestDatabase.connection(database))
                        var passed: [UUID] = []
                        for start in stride(from: 0, to: 200, by: 50) {
                            let batch = uuids.shuffled().prefix(120).enumerated().map { index, uuid in
                                Self.sighting(uuid, Int64(worker * 100_000 + start * 200 + index))
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

    @Test func `old sightings are forgotten`() async throws {
        try await TestDatabase.use { database async throws in
            let store = SeenNotificationStore(TestDatabase.connection(database))
            let uuid = UUID()
            _ = try await store.markSeen([Self.sighting(uuid, 1)])
            #expect(try await store.forget(before: Fixtures.now) == 0)
            #expect(try await store.forget(before: Fixtures.now.addingTimeInterval(1)) == 1)
            #expect(try await store.markSeen([Self.sighting(uuid, 2)]) == [true])
        }
    }

    @Test func `an empty batch is no work`() async throws {
        try await TestDatabase.use { database async throws in
            #expect(try await SeenNotificationStore(TestDatabase.connection(database)).markSeen([]) == [])
        }
    }
}
