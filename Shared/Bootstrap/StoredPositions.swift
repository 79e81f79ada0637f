import Chassis
import Contracts
import Kafka
import Pipeline
import Records
import Storage

/// The consumer group's offsets in the database. Kafka's committed offsets are for lag views only: the stored offset moves
/// in the same transaction as the state, so neither can be ahead of the other.
package actor StoredPositions: StartingPositions {
    private let store: PositionStore
    private let consumer: Consumer
    private let group: String
    private let logger: Logger
    private var cluster: String?
    /// The offsets that the database held at the last read or write: the expected values of the next compare-and-set.
    private var known: [TopicPartition: Int64] = [:]
    /// Partitions with a stored offset that their topic does not have, as they were logged.
    package private(set) var orphans: [TopicPartition] = []

    /// - Parameter group: as in Kafka.
    package init(_ store: PositionStore, consumer: Consumer, group: String, logger: Logger) {
        self.logger = logger
        self.store = store
        self.consumer = consumer
        self.group = group
    }

    /// An offset without evidence was stored when the partition was first assigned, and nothing was read since: it is the
    /// beginning.
    package func positions(of partitions: [TopicPartition]) async throws -> [TopicPartitionOffset] {
        let cluster = try await clusterId()
        try await nameOrphans(of: Set(partitions.map(\.topic)), in: cluster)
        var stored = try await self.stored(partitions, in: cluster)
        let new = partitions.filter { stored[$0] == nil }
        if !new.isEmpty {
            let ends = zip(new, try await consumer.watermarks(new))
            _ = try await store.establish(
                cluster: cluster, group: group,
                lowWatermarks: ends.map {
                    LogPosition(topic: $0.0.topic, partition: $0.0.partition, offset: $0.1.low)
                })
            stored.merge(try await self.stored(new, in: cluster)) { $1 }
        }
        known = stored.mapValues(\.next.offset)
        return try partitions.map { partition in
            guard let position = stored[partition] else { throw PositionLost(partition: partition) }
            guard let evidence = position.evidence else {
                return TopicPartitionOffset(partition, offset: TopicPartitionOffset.beginning)
            }
            return TopicPartitionOffset(partition, offset: position.next.offset, metadata: evidence)
        }
    }

    /// Nothing reads a partition that does not exist; what was stored for it is of a topic with more of them.
    private func nameOrphans(of topics: Set<String>, in cluster: String) async throws {
        var existing: Set<TopicPartition> = []
        for topic in topics { existing.formUnion(try await consumer.partitions(of: topic)) }
        let stored = try await store.all(cluster: cluster, group: group)
        let orphans = stored.map { TopicPartition(topic: $0.topic, partition: $0.partition) }
            .filter { topics.contains($0.topic) && !existing.contains($0) }
        if !orphans.isEmpty, orphans != self.orphans {
            logger.warning(
                """
                Stored Kafka offsets are of partitions that the topic does not have, and are ignored: it was created again with \
                fewer; storekeeper offsets reset deletes them
                """, metadata: ["partitions": "\(orphans)"])
        }
        self.orphans = orphans
    }

    private func stored(
        _ partitions: [TopicPartition], in cluster: String
    ) async throws -> [TopicPartition: StoredPosition] {
        let stored = try await store.stored(
            cluster: cluster, group: group, partitions: partitions.map { ($0.topic, $0.partition) })
        return Dictionary(
            uniqueKeysWithValues: stored.map {
                (TopicPartition(topic: $0.next.topic, partition: $0.next.partition), $0)
            })
    }

    /// Stores where partitions begin that hold other records than those that were read.
    package func restart(_ positions: [TopicPartitionOffset]) async throws {
        let moves = try await moves(
            for: positions.map {
                Span(
                    partition: $0.topicPartition, first: $0.offset, next: $0.offset,
                    evidence: PositionEvidence(text: $0.metadata))
            })
        guard try await store.move(moves) == moves.count else {
            throw PositionLost(partition: positions[0].topicPartition)
        }
        moved(moves)
    }

    /// Whether the stored offsets differ from the known ones: the database was restored from a backup, or another worker
    /// moved them.
    package func haveChanged(for partitions: [TopicPartition]) async throws -> Bool {
        let stored = try await store.positions(
            cluster: try await clusterId(), group: group, partitions: partitions.map { ($0.topic, $0.partition) })
        let offsets = Dictionary(
            uniqueKeysWithValues: stored.map { (TopicPartition(topic: $0.topic, partition: $0.partition), $0.offset) })
        return partitions.contains { offsets[$0] != known[$0] }
    }

    /// The offset moves of a batch.
    package func moves(for spans: [Span]) async throws -> [PositionMove] {
        let cluster = try await clusterId()
        return try spans.map { span in
            guard let expected = known[span.partition] else { throw PositionLost(partition: span.partition) }
            return PositionMove(
                cluster: cluster, group: group, topic: span.partition.topic, partition: span.partition.partition,
                expected: expected, next: span.next, evidence: span.evidence?.text)
        }
    }

    /// After the transaction that moved them was committed.
    package func moved(_ moves: [PositionMove]) {
        for move in moves {
            known[TopicPartition(topic: move.topic, partition: move.partition)] = move.next
        }
    }

    private func clusterId() async throws -> String {
        if let cluster { return cluster }
        let id = try await consumer.clusterId()
        cluster = id
        return id
    }
}

/// The offset of a partition is unknown: Kafka revoked the partition between two turns, or another worker has moved it.
package struct PositionLost: Error, CustomStringConvertible {
    package var partition: TopicPartition

    /// What happened, and what is done.
    package var description: String { "the offset of \(partition) is unknown; reading it again from the database" }
}
