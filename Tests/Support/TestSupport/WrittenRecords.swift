import Contracts
import Kafka
import Logging
import Records

/// All records of a topic.
package enum WrittenRecords {
    /// Those that it has now, partition by partition.
    package static func of(_ route: Route, at configuration: KafkaConfiguration) async throws -> [ConsumerRecord] {
        let consumer = try Consumer(
            configuration, group: "test", logger: .quiet)
        var expected: Int64 = 0
        var start: [TopicPartitionOffset] = []
        let partitions = TopicPartition.all(of: route.name, count: route.partitions)
        for (partition, (low, high)) in zip(partitions, try await consumer.watermarks(partitions)) {
            expected += high - low
            if high > low { start.append(TopicPartitionOffset(partition, offset: low)) }
        }
        guard expected > 0 else { return [] }
        try await consumer.assign(start)
        var records: [ConsumerRecord] = []
        let deadline = ContinuousClock.now + .hangLimit
        while records.count < expected, ContinuousClock.now < deadline {
            if case .records(let more) = try await consumer.turn(limit: 500, wait: .seconds(1)) { records += more }
        }
        await consumer.close(deadline: .seconds(1))
        return records
    }
}
