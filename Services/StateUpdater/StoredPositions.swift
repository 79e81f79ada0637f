import Chassis
import Contracts
import Kafka
import Pipeline
import Storage

/// The consumer group's offsets in the database. Kafka's committed offsets are for lag views only: the stored offset moves
/// in the same transaction as the state, so neither can be ahead of the other.
actor StoredPositions: StartingPositions {
    private let store: PositionStore
    private let consumer: Consumer
    private let group: String
    private let logger: Logger
    private var cluster: String?
    /// The offsets that the database held at the last read or write: the expected values of the next compare-and-set.
    private var known: [TopicPartition: Int64] = [:]

    init(_ store: PositionStore, consumer: Consumer, group: String, logger: Logger) {
        self.store = store
        self.consumer = consumer
        self.group = group
        self.logger = logger
    }

    func positions(of partitions: [TopicPartition]) async throws -> [TopicPartitionOffset] {
        let cluster = try await clusterId()
        let ends = Dictionary(uniqueKeysWithValues: zip(partitions, try await consumer.watermarks(partitions)))
        let stored = try await store.establish(
            cluster: cluster, group: group,
            lowWatermarks: ends.map {
                LogPosition(topic: $0.key.topic, partition: $0.key.partition, offset: $0.value.low)
            })
        known = [:]
        return try stored.map { position in
            let partition = TopicPartition(topic: position.topic, partition: position.partition)
            guard let (low, high) = ends[partition] else { throw PositionLost(partition: partition) }
            guard position.offset <= high else {
                throw PositionBeyondTopicEnd(position: position, high: high, cluster: cluster)
            }
            known[partition] = position.offset
            if position.offset < low { warn(position, low: low) }
            return TopicPartitionOffset(partition, offset: max(position.offset, low))
        }
    }

    /// Whether the stored offsets differ from the known ones: the database was restored from a backup, or another worker
    /// moved them.
    func haveChanged(for partitions: [TopicPartition]) async throws -> Bool {
        let stored = try await store.positions(
            cluster: try await clusterId(), group: group, partitions: partitions.map { ($0.topic, $0.partition) })
        let offsets = Dictionary(
            uniqueKeysWithValues: stored.map { (TopicPartition(topic: $0.topic, partition: $0.partition), $0.offset) })
        return partitions.contains { offsets[$0] != known[$0] }
    }

    /// The offset moves of a batch.
    func moves(for spans: [Span]) async throws -> [PositionMove] {
        let cluster = try await clusterId()
        return try spans.map { span in
            guard let expected = known[span.partition] else { throw PositionLost(partition: span.partition) }
            return PositionMove(
                cluster: cluster, group: group, topic: span.partition.topic, partition: span.partition.partition,
                expected: expected, next: span.next)
        }
    }

    func moved(_ moves: [PositionMove]) {
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

    /// Kafka deleted records that the group had not read. The worker continues, because waiting restores none of them.
    private func warn(_ position: LogPosition, low: Int64) {
        logger.error(
            "Kafka deleted records before this group read them; the runbook says how to recover them",
            metadata: [
                "topic": "\(position.topic)", "partition": "\(position.partition)",
                "first_deleted_offset": "\(position.offset)", "next_offset": "\(low)",
            ])
        Metric.recordsExpired.counter(position.topic).increment(by: Int(clamping: low - position.offset))
    }
}

/// The offset of a partition is unknown: Kafka revoked the partition between two turns.
struct PositionLost: Error, CustomStringConvertible {
    var partition: TopicPartition

    var description: String { "the offset of \(partition) is unknown; reading it again from the database" }
}

/// The partition ends before the stored offset: it lost records, or the topic was created again under the same cluster id.
struct PositionBeyondTopicEnd: FatalWorkerError, CustomStringConvertible {
    var position: LogPosition
    var high: Int64
    var cluster: String

    var description: String {
        """
        the stored offset of \(position.topic)/\(position.partition) is \(position.offset), but the partition in cluster \
        \(cluster) ends at \(high): it lost records or was created again. The service stops, so that no record is skipped. \
        To read the topic again from its beginning, which is harmless, run `storekeeper offsets reset` while this service \
        is stopped, and start it again
        """
    }
}
