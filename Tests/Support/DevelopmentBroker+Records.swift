import Development
import Kafka
import Logging

extension DevelopmentBroker {
    /// The first records of a topic with one partition, as many as asked for; waits for them.
    public func records(_ count: Int, of topic: String) async throws -> [ConsumerRecord] {
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        let consumer = try Consumer(configuration, group: "test", logger: logger)
        try await consumer.assign([
            TopicPartitionOffset(topic: topic, partition: 0, offset: TopicPartitionOffset.beginning)
        ])
        var records: [ConsumerRecord] = []
        while records.count < count {
            if case .records(let more) = try await consumer.turn(limit: count, wait: .seconds(1)) { records += more }
        }
        _ = await consumer.close(deadline: .seconds(5))
        return records
    }
}
