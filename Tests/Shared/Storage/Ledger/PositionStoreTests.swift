import Contracts
import Records
import Storage
import TestSupport
import Testing

@Suite struct PositionStoreTests {
    static let (zero, one) = (Int32(0), Int32(1))

    static func position(_ partition: Int32, _ offset: Int64) -> LogPosition {
        LogPosition(topic: Fixtures.topic, partition: partition, offset: offset)
    }

    @Test func `PositionStore begins a partition without a stored offset at its low watermark`() async throws {
        try await TestDatabase.use { database async throws in
            let store = PositionStore(TestDatabase.connection(database))
            let marks = [Self.position(1, 40), Self.position(0, 3)]
            let stored = try await store.establish(cluster: "c", group: "g", lowWatermarks: marks)
            #expect(stored == [Self.position(0, 3), Self.position(1, 40)])
        }
    }

    @Test func `PositionStore keeps the stored offset of a partition`() async throws {
        try await TestDatabase.use { database async throws in
            let store = PositionStore(TestDatabase.connection(database))
            _ = try await store.establish(cluster: "c", group: "g", lowWatermarks: [Self.position(0, 3)])
            let stored = try await store.establish(cluster: "c", group: "g", lowWatermarks: [Self.position(0, 99)])
            #expect(stored == [Self.position(0, 3)])
            #expect(try await store.all(cluster: "c", group: "g") == stored)
        }
    }

    @Test func `PositionStore stores where a group begins, and replaces an offset only when told`() async throws {
        try await TestDatabase.use { database async throws in
            let store = PositionStore(TestDatabase.connection(database))
            #expect(try await !store.isKnown(group: "g"))
            _ = try await store.establish(cluster: "c", group: "g", lowWatermarks: [Self.position(0, 3)])
            #expect(try await store.isKnown(group: "g"))
            let begin = [
                StoredPosition(next: Self.position(0, 9), evidence: "8:a"),
                StoredPosition(next: Self.position(1, 0), evidence: nil),
            ]
            #expect(try await store.begin(cluster: "c", group: "g", at: begin, replacing: false) == 1)
            #expect(try await store.all(cluster: "c", group: "g") == [Self.position(0, 3), Self.position(1, 0)])
            #expect(try await store.begin(cluster: "c", group: "g", at: begin, replacing: true) == 2)
            let partitions = [(topic: Fixtures.topic, partition: Self.zero), (Fixtures.topic, Self.one)]
            #expect(try await store.stored(cluster: "c", group: "g", partitions: partitions) == begin)
        }
    }

    @Test func `Clusters and groups have separate offsets`() async throws {
        try await TestDatabase.use { database async throws in
            let store = PositionStore(TestDatabase.connection(database))
            _ = try await store.establish(cluster: "c", group: "g", lowWatermarks: [Self.position(0, 3)])
            let partitions = [(topic: Fixtures.topic, partition: Self.zero), (Fixtures.topic, Self.one)]
            let own = try await store.positions(cluster: "c", group: "g", partitions: partitions)
            #expect(own == [Self.position(0, 3)])
            #expect(try await store.positions(cluster: "d", group: "g", partitions: partitions) == [])
            #expect(try await store.positions(cluster: "c", group: "h", partitions: partitions) == [])
            _ = try await store.establish(cluster: "c", group: "i", lowWatermarks: [Self.position(1, 4)])
            let all = try await store.all(cluster: "c", groups: ["g", "h", "i"])
            #expect(all == ["g": [Self.position(0, 3)], "i": [Self.position(1, 4)]])
        }
    }
}
