import CRDKafka
import Development
import Foundation
import TestSupport
import Testing

@testable import Kafka

@Suite struct KafkaAdminTests {
    @Test func `KafkaAdmin leaves an existing topic unchanged`() async throws {
        let cluster = try Cluster()
        let topic = try await cluster.topic(partitions: 3)
        let outcomes = try await KafkaAdmin(cluster.configuration, logger: quiet).createTopics([
            TopicSpecification(name: topic, partitions: 7, replicationFactor: 1)
        ])
        #expect(outcomes.map(\.topic) == [topic])
        #expect(outcomes.map(\.outcome) == [.exists(partitions: 3)])
    }

    /// Whatever the broker's version answers to an unknown request; `setup` finds its topics there already.
    @Test func `DevelopmentBroker creates no topics for clients`() async throws {
        let broker = try DevelopmentBroker(logger: quiet)
        let admin = try KafkaAdmin(broker.configuration, patience: .seconds(1), logger: quiet)
        let error = try await failure {
            _ = try await admin.createTopics([
                TopicSpecification(
                    name: "things", partitions: 1, replicationFactor: 1, configuration: ["retention.ms": "1000"])
            ])
        }
        #expect([.retry, .rejected].contains(error.meaning))
        #expect(error.message.contains("create topics"))
    }

    @Test(arguments: [("kafka-1", "kafka-1:9092"), ("10.0.0.1", "10.0.0.1:9092"), ("fd00::1", "[fd00::1]:9092")])
    func `BrokerState has an address that clients can begin with`(host: String, address: String) {
        #expect(BrokerState(id: 1, host: host, port: 9092, isReachable: true).address == address)
    }

    @Test func `KafkaAdmin rejects an impossible specification before the broker sees it`() async throws {
        let cluster = try Cluster()
        let admin = try KafkaAdmin(cluster.configuration, logger: quiet)
        let impossible = TopicSpecification(name: cluster.group(), partitions: 1_000_000, replicationFactor: 1)
        #expect(try await failure { _ = try await admin.createTopics([impossible]) }.meaning == .rejected)
    }

    @Test func `KafkaAdmin lists topics and their partitions`() async throws {
        let cluster = try Cluster()
        let one = try await cluster.topic("one", partitions: 1)
        let five = try await cluster.topic("five", partitions: 5)
        let topics = try await KafkaAdmin(cluster.configuration, logger: quiet).topics()
        #expect(topics[one] == 1)
        #expect(topics[five] == 5)
    }

    @Test func `KafkaAdmin reports the lag of a group by its committed position`() async throws {
        let cluster = try Cluster()
        let topic = try await cluster.topic(partitions: 2)
        let producer = try cluster.producer()
        // Keys of both partitions.
        try await producer.send((0..<10).map { ProducerRecord(topic: topic, key: Array("\($0)".utf8), value: []) })
        let consumer = try cluster.consumer()
        try await consumer.subscribe(to: [topic])
        _ = try await consumer.records(10)
        let zero = TopicPartition(topic: topic, partition: 0)
        let end = try await consumer.watermarks([zero])[0].high
        try await consumer.commit([TopicPartitionOffset(zero, offset: end - 1)])

        let lag = try await KafkaAdmin(cluster.configuration, logger: quiet)
            .lag(group: cluster.group(), topics: [topic, "no-such-topic-\(topic)"])
        #expect(lag.map(\.partition) == [zero, TopicPartition(topic: topic, partition: 1)])
        #expect(lag.map(\.committed) == [end - 1, nil])
        #expect(lag.map(\.records) == [1, 10 - end])
        await consumer.close(deadline: .seconds(30))
    }

    @Test func `KafkaAdmin reports an unavailable cluster as an error to retry`() async throws {
        let admin = try KafkaAdmin(
            KafkaConfiguration(bootstrapServers: "127.0.0.1:1"), patience: .milliseconds(300), logger: quiet)
        #expect(try await failure { _ = try await admin.topics() }.meaning == .retry)
    }

    @Test func `KafkaAdmin repeats a request while a broker does not know a new topic`() async throws {
        let clock = SkippingClock()
        func request(_ error: rd_kafka_resp_err_t, times: Int) async throws {
            var failures = 0
            try await KafkaAdmin.repeatedWhileMissing(for: .seconds(15), on: clock) {
                guard failures < times else { return }
                failures += 1
                throw KafkaError(error, doing: "describe topics")
            }
        }
        try await request(RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART, times: 4)
        #expect(clock.sleeps.count == 4)
        let other = try await failure { try await request(RD_KAFKA_RESP_ERR__TIMED_OUT, times: 1) }
        #expect(other.meaning == .retry)
        #expect(clock.sleeps.count == 4)
        let missing = try await failure { try await request(RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART, times: .max) }
        #expect(missing.meaning == .missing)
        #expect(clock.now.offset >= .seconds(15))
    }

    @Test func `KafkaAdmin leaves out of the lag what retention has dropped`() {
        let place = TopicPartition(topic: "things", partition: 0)
        #expect(PartitionLag(partition: place, committed: 5, low: 10, end: 20).records == 10)
        #expect(PartitionLag(partition: place, committed: nil, low: 10, end: 20).records == 10)
        #expect(PartitionLag(partition: place, committed: 15, low: 10, end: 20).records == 5)
        #expect(PartitionLag(partition: place, committed: 30, low: 10, end: 20).records == 0)
    }
}
