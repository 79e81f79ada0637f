import Contracts
import Kafka
import Records

/// Reads records of a topic without joining a consumer group or committing offsets.
package struct TopicReader: Sendable {
    let consumer: Consumer

    /// How long to wait for records that the watermarks announce.
    private static let patience: Duration = .seconds(20)

    /// - Parameter purpose: names the consumer's group, of which no broker hears.
    package init(_ configuration: KafkaConfiguration, purpose: String) throws {
        consumer = try Consumer(configuration, group: "\(ServiceName.storekeeper.group).\(purpose)", logger: .silent)
    }

    package func close() async { await consumer.close(deadline: .seconds(1)) }

    /// The record at an offset; nil names the newest of the partition, and without a partition the newest of all.
    /// - Throws: `OperationError` where the topic does not hold it.
    package func record(of route: Route, partition: Int32? = nil, offset: Int64? = nil) async throws -> ConsumerRecord {
        let partitions =
            partition.map { [TopicPartition(topic: route.name, partition: $0)] }
            ?? TopicPartition.all(of: route.name, count: route.partitions)
        var bounds: [TopicPartition: Range<Int64>] = [:]
        for (partition, (low, high)) in zip(partitions, try await consumer.watermarks(partitions)) {
            if let offset, !(low..<high).contains(offset) {
                throw OperationError(
                    "no record \(partition.partition)/\(offset): partition \(partition.partition) of \(route.name) holds "
                        + (low == high ? "nothing" : "offsets \(low) to \(high - 1)"))
            }
            if low < high { bounds[partition] = offset.map { $0..<($0 + 1) } ?? (high - 1)..<high }
        }
        let newest = try await read(bounds).max { ($0.timestamp ?? .distantPast) < ($1.timestamp ?? .distantPast) }
        guard let newest else { throw OperationError("\(route.name) holds no record") }
        return newest
    }

    /// The records of ranges. Call once: the assignment stays until the consumer closes.
    func read(_ bounds: [TopicPartition: Range<Int64>]) async throws -> [ConsumerRecord] {
        guard let topic = bounds.keys.first?.topic else { return [] }
        try await consumer.assign(bounds.map { TopicPartitionOffset($0.key, offset: $0.value.lowerBound) })
        var open = bounds
        var read: [ConsumerRecord] = []
        var lastRecord = ContinuousClock.now
        while !open.isEmpty {
            guard case .records(let records) = try await consumer.turn(limit: 500, wait: .seconds(1)) else {
                guard ContinuousClock.now - lastRecord < Self.patience else {
                    throw OperationError("Kafka returned no record of \(topic) within 20 s; check the broker's health")
                }
                continue
            }
            lastRecord = .now
            for record in records {
                guard let range = open[record.topicPartition] else { continue }
                if record.offset >= range.upperBound - 1 { open[record.topicPartition] = nil }
                if range.contains(record.offset) { read.append(record) }
            }
        }
        return read
    }
}

extension WireRecord {
    package init(_ record: ConsumerRecord) {
        self.init(
            key: record.key, value: record.value, headers: record.headers.map { WireHeader($0.name, $0.value) })
    }
}
