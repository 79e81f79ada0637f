import Kafka
import Logging
import Testing

@Test func `what is produced is consumed`() async throws {
    let broker = try DevelopmentBroker(topics: [("things", 2)])
    let producer = try Producer(broker.configuration, logger: Logger(label: "test"))
    let written = try await producer.send(ProducerRecord(topic: "things", key: [1], value: [2, 3]))
    let consumer = try Consumer(broker.configuration, group: "readers", logger: Logger(label: "test"))
    try await consumer.subscribe(to: ["things"])
    var found: [ConsumerRecord] = []
    while found.isEmpty {
        switch try await consumer.turn(limit: 10, wait: .seconds(1)) {
        case .records(let records): found = records
        case .assigned(let partitions):
            try await consumer.assign(partitions.map { TopicPartitionOffset($0, offset: TopicPartitionOffset.beginning) })
        case .revoked: try await consumer.unassign()
        case .idle: break
        }
    }
    #expect(found.map(\.value) == [[2, 3]])
    #expect(found.map(\.partition) == [written.partition])
    #expect(await consumer.close(deadline: .seconds(5)))
    await producer.close(deadline: .seconds(5))
}
