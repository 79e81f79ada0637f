import Kafka

/// Decides where reading begins.
public protocol StartingPositions: Sendable {
    /// One position per partition, with the ``PositionEvidence`` stored beside it as `metadata`. Throws where a dependency was unavailable; the partitions are not read until it answers.
    func positions(of partitions: [TopicPartition]) async throws -> [TopicPartitionOffset]

    /// Whether the stored positions differ from those that reading has reached. Called every few seconds while no record arrives.
    func haveChanged(for partitions: [TopicPartition]) async throws -> Bool

    /// Stores the beginning of partitions that were found to hold other records than those that were read.
    func restart(_ positions: [TopicPartitionOffset]) async throws
}

extension StartingPositions {
    /// False: Kafka rejects a reset of the offsets of a group with members.
    public func haveChanged(for partitions: [TopicPartition]) -> Bool { false }
}

/// The offsets committed to Kafka; the earliest record where there is none.
///
/// Read here rather than left to the client as `TopicPartitionOffset.committed`: where the coordinator has just moved,
/// librdkafka (2.0 to 2.15 at least) drops its request, and the partition delivers nothing until the process ends.
public struct CommittedPositions: StartingPositions {
    private let consumer: Consumer

    /// - Parameter consumer: of the group.
    public init(_ consumer: Consumer) { self.consumer = consumer }

    /// - Throws: `KafkaError` where the coordinator does not answer or has moved; the worker retries.
    public func positions(of partitions: [TopicPartition]) async throws -> [TopicPartitionOffset] {
        zip(partitions, try await consumer.committed(partitions)).map { partition, committed in
            committed ?? TopicPartitionOffset(partition, offset: TopicPartitionOffset.beginning)
        }
    }

    /// - Throws: `KafkaError`, with meaning `fenced` where the group is assigning the partitions again.
    public func restart(_ positions: [TopicPartitionOffset]) async throws { try await consumer.commit(positions) }
}
