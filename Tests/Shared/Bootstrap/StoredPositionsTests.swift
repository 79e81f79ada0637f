import Contracts
import Development
import Foundation
import Kafka
import Logging
import Pipeline
import Records
import Storage
import TestSupport
import Testing

@testable import Bootstrap

@Suite struct StoredPositionsTests {
    /// One of ours with a single partition.
    static let topic = Topics.heartbeats.name
    static let partition = TopicPartition(topic: topic, partition: 0)

    /// A broker with `records` records in one partition of a topic, and a database.
    static func with(
        records: Int, _ body: @Sendable (StoredPositions, PositionStore, String) async throws -> Void
    ) async throws {
        try await PipelineHarness.with(topics: [Topics.heartbeats.route]) { harness in
            try await harness.producer.send(
                (0..<records).map { _ in ProducerRecord(topic: topic, key: nil, value: [1]) })
            let consumer = try Consumer(
                harness.broker.configuration, group: "g", offsetReset: .error, logger: .quiet)
            let store = PositionStore(harness.connection)
            let positions = StoredPositions(store, consumer: consumer, group: "g", logger: .quiet)
            try await body(positions, store, try await consumer.clusterId())
            await consumer.close(deadline: .seconds(5))
        }
    }

    @Test func `StoredPositions begins a new partition at the earliest record and stores its offset`() async throws {
        try await Self.with(records: 3) { positions, store, cluster in
            let begin = try await positions.positions(of: [Self.partition])
            #expect(begin == [TopicPartitionOffset(Self.partition, offset: TopicPartitionOffset.beginning)])
            let stored = try await store.all(cluster: cluster, group: "g")
            #expect(stored == [LogPosition(topic: Self.topic, partition: 0, offset: 0)])
        }
    }

    @Test func `StoredPositions expects each batch to begin where the last one ended`() async throws {
        try await Self.with(records: 3) { positions, _, cluster in
            _ = try await positions.positions(of: [Self.partition])
            let first = try await positions.moves(for: [Span(partition: Self.partition, first: 0, next: 2)])
            #expect(first.map(\.expected) == [0])
            #expect(first.map(\.cluster) == [cluster])
            await positions.moved(first)
            let second = try await positions.moves(for: [Span(partition: Self.partition, first: 2, next: 3)])
            #expect(second.map(\.expected) == [2])
        }
    }

    @Test func `StoredPositions notices that the database holds another offset than it moved to`() async throws {
        try await Self.with(records: 3) { positions, store, cluster in
            _ = try await positions.positions(of: [Self.partition])
            #expect(try await !positions.haveChanged(for: [Self.partition]))
            // As after restoring a backup from before the first record.
            _ = try await store.delete(cluster: cluster, group: "g", topic: Self.topic)
            #expect(try await positions.haveChanged(for: [Self.partition]))
            _ = try await positions.positions(of: [Self.partition])
            #expect(try await !positions.haveChanged(for: [Self.partition]))
        }
    }

    @Test func `StoredPositions moves no partition that is not assigned`() async throws {
        try await Self.with(records: 0) { positions, _, _ in
            await #expect(throws: PositionLost.self) {
                try await positions.moves(for: [Span(partition: Self.partition, first: 0, next: 1)])
            }
        }
    }

    @Test func `StoredPositions begins at an offset that was stored with evidence before anything was read`()
        async throws
    {
        try await Self.with(records: 3) { positions, store, cluster in
            let evidence = PositionEvidence([.init(offset: 1, digest: 7)]).text
            let begin = StoredPosition(
                next: LogPosition(topic: Self.topic, partition: 0, offset: 2), evidence: evidence)
            #expect(try await store.begin(cluster: cluster, group: "g", at: [begin], replacing: false) == 1)
            #expect(
                try await positions.positions(of: [Self.partition])
                    == [TopicPartitionOffset(Self.partition, offset: 2, metadata: evidence)])
            let moves = try await positions.moves(for: [Span(partition: Self.partition, first: 2, next: 3)])
            #expect(moves.map(\.expected) == [2])
        }
    }

    @Test func `StoredPositions ignores offsets of another cluster`() async throws {
        try await Self.with(records: 3) { positions, store, _ in
            _ = try await store.establish(
                cluster: "another", group: "g",
                lowWatermarks: [LogPosition(topic: Self.topic, partition: 0, offset: 2)])
            let begin = try await positions.positions(of: [Self.partition])
            #expect(begin.map(\.offset) == [TopicPartitionOffset.beginning])
        }
    }

    @Test func `StoredPositions ignores and names offsets of partitions that the topic does not have`() async throws {
        try await Self.with(records: 3) { positions, store, cluster in
            _ = try await store.establish(
                cluster: cluster, group: "g",
                lowWatermarks: [LogPosition(topic: Self.topic, partition: 1, offset: 2)])
            #expect(try await positions.positions(of: [Self.partition]).map(\.topicPartition) == [Self.partition])
            #expect(await positions.orphans == [TopicPartition(topic: Self.topic, partition: 1)])
        }
    }

    @Test func `StoredPositions keeps evidence beside the offset, and stores where a restart begins`()
        async throws
    {
        try await Self.with(records: 3) { positions, store, cluster in
            _ = try await positions.positions(of: [Self.partition])
            let evidence = PositionEvidence([.init(offset: 1, digest: 7)])
            let span = Span(partition: Self.partition, first: 0, next: 2, evidence: evidence)
            #expect(try await store.move(try await positions.moves(for: [span])) == 1)
            let continued = TopicPartitionOffset(Self.partition, offset: 2, metadata: evidence.text)
            #expect(try await positions.positions(of: [Self.partition]) == [continued])
            let restart = TopicPartitionOffset(
                Self.partition, offset: 0,
                metadata: PositionEvidence(restartedAt: Date(timeIntervalSince1970: 1)).text)
            try await positions.restart([restart])
            #expect(try await positions.positions(of: [Self.partition]) == [restart])
            #expect(try await store.all(cluster: cluster, group: "g").map(\.offset) == [0])
        }
    }
}
