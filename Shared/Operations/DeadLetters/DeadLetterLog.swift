import Contracts
import Kafka
import Records

/// A dead letter with its position and readable contents.
package struct StoredDeadLetter: Sendable {
    package var id: DeadLetterID
    package var deadLetter: DeadLetter
    package var contents: DeadLetterContents

    package init(_ id: DeadLetterID, _ deadLetter: DeadLetter) {
        self.id = id
        self.deadLetter = deadLetter
        contents = DeadLetterContents(deadLetter)
    }
}

/// Reads the dead-letter topic without joining a consumer group or committing offsets.
package struct DeadLetterLog: Sendable {
    /// The cluster that the offsets belong to.
    package let cluster: String
    private let reader: TopicReader

    private static let topic = Topics.rejected

    package init(_ configuration: KafkaConfiguration) async throws {
        reader = try TopicReader(configuration, purpose: "dead-letters")
        cluster = try await reader.consumer.clusterId()
    }

    package func close() async { await reader.close() }

    /// The dead letters of the topic, partition by partition; records of any other form are skipped.
    /// - Parameter newest: maximum per partition; nil reads all of them.
    package func deadLetters(newest: Int64? = nil) async throws -> [StoredDeadLetter] {
        var bounds: [TopicPartition: Range<Int64>] = [:]
        let partitions = TopicPartition.all(of: Self.topic.name, count: Self.topic.route.partitions)
        for (partition, (low, high)) in zip(partitions, try await reader.consumer.watermarks(partitions)) {
            let first = newest.map { max(low, high - $0) } ?? low
            if first < high { bounds[partition] = first..<high }
        }
        return try await read(bounds)
    }

    /// Dead letters by id, in the order of ids.
    /// - Throws: `OperationError` with the first id that the topic does not hold.
    package func deadLetters(_ ids: Set<DeadLetterID>) async throws -> [StoredDeadLetter] {
        var bounds: [TopicPartition: Range<Int64>] = [:]
        let byPartition = Dictionary(grouping: ids) { TopicPartition(topic: Self.topic.name, partition: $0.partition) }
        let partitions = byPartition.keys.sorted()
        for (partition, (low, high)) in zip(partitions, try await reader.consumer.watermarks(partitions)) {
            let offsets = (byPartition[partition] ?? []).map(\.offset)
            if let outside = offsets.first(where: { !(low..<high).contains($0) }) {
                let number = partition.partition
                throw OperationError(
                    """
                    no dead letter \(number)/\(outside): partition \(number) of \(Self.topic.name) holds \
                    \(low == high ? "nothing" : "offsets \(low) to \(high - 1)"); its retention is 30 days
                    """)
            }
            if let first = offsets.min(), let last = offsets.max() { bounds[partition] = first..<(last + 1) }
        }
        let deadLetters = try await read(bounds).filter { ids.contains($0.id) }.sorted { $0.id < $1.id }
        guard deadLetters.count == ids.count else {
            throw OperationError("a record at these offsets of \(Self.topic.name) is not a dead letter of Storekeeper")
        }
        return deadLetters
    }

    private func read(_ bounds: [TopicPartition: Range<Int64>]) async throws -> [StoredDeadLetter] {
        try await reader.read(bounds).compactMap { record in
            (try? DeadLetter(WireRecord(record))).map {
                StoredDeadLetter(DeadLetterID(partition: record.partition, offset: record.offset), $0)
            }
        }
    }
}
