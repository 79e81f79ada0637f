import Foundation
import Testing

@testable import Kafka

@Suite struct ProducerTests {
    @Test func `Producer writes a record that is read as it was sent`() async throws {
        let cluster = try Cluster()
        let topic = try await cluster.topic()
        let sent = ProducerRecord(
            topic: topic, key: Array("key".utf8), value: [0, 1, 255],
            headers: [
                RecordHeader(name: "source", value: Array("tests".utf8)), RecordHeader(name: "empty", value: []),
                RecordHeader(name: "source", value: [0]),
            ],
            timestamp: Date(timeIntervalSince1970: 1_700_000_000.123))
        let producer = try cluster.producer()
        let place = try await producer.send(sent)
        #expect(place == TopicPartitionOffset(topic: topic, partition: 0, offset: 0))

        let consumer = try cluster.consumer()
        let record = try #require(
            try await consumer.records(1, of: topic, from: TopicPartitionOffset.beginning).first)
        #expect(record.topicPartition == place.topicPartition)
        #expect(record.offset == place.offset)
        #expect(record.key == sent.key)
        #expect(record.value == sent.value)
        #expect(record.headers == sent.headers)
        #expect(try #require(record.timestamp?.timeIntervalSince1970) == 1_700_000_000.123)
        await producer.close(deadline: .seconds(10))
    }

    @Test func `Producer distinguishes no key from an empty key, and writes an empty value`() async throws {
        let cluster = try Cluster()
        let topic = try await cluster.topic()
        let producer = try cluster.producer()
        try await producer.send([
            ProducerRecord(topic: topic, key: nil, value: []), ProducerRecord(topic: topic, key: [], value: []),
        ])
        let records = try await cluster.consumer().records(2, of: topic, from: TopicPartitionOffset.beginning)
        #expect(Set(records.map(\.key)) == [nil, []])
        #expect(records.allSatisfy { $0.value.isEmpty && $0.headers.isEmpty })
    }

    /// The hashes are those of Java's own client, so both put a key into the same partition.
    @Test(
        arguments: [
            ("21", -973_932_308), ("foobar", -790_332_482), ("a-little-bit-long-string", -985_981_536),
            ("a-little-bit-longer-string", -1_486_304_829), ("abc", 479_470_107),
        ] as [(String, Int32)])
    func `Producer chooses the partition that Java would choose`(key: String, hash: Int32) async throws {
        let cluster = try Cluster()
        let topic = try await cluster.topic(partitions: 10)
        let place = try await cluster.producer().send(
            ProducerRecord(topic: topic, key: Array(key.utf8), value: []))
        #expect(place.partition == (hash & Int32.max) % 10)
    }

    @Test func `Producer writes a batch completely and in order`() async throws {
        let cluster = try Cluster()
        let topic = try await cluster.topic()
        let producer = try cluster.producer()
        let values = (0..<5000).map { Array("\($0)".utf8) }
        try await producer.send(values.map { ProducerRecord(topic: topic, key: [7], value: $0) })
        let records = try await cluster.consumer()
            .records(values.count, of: topic, from: TopicPartitionOffset.beginning)
        #expect(records.map(\.value) == values)
        try await producer.send([])
    }

    @Test func `Producer waits for room with a batch larger than the queue`() async throws {
        let cluster = try Cluster()
        let topic = try await cluster.topic()
        let producer = try cluster.producer(["queue.buffering.max.messages": "10"])
        try await producer.send((0..<1000).map { _ in ProducerRecord(topic: topic, key: nil, value: [1]) })
        #expect(try await cluster.consumer().watermarks([TopicPartition(topic: topic, partition: 0)])[0].high == 1000)
    }

    @Test func `Producer answers many single senders at once`() async throws {
        let cluster = try Cluster()
        let topic = try await cluster.topic()
        let producer = try cluster.producer()
        let offsets = try await withThrowingTaskGroup(of: Int64.self) { group in
            for number in 0..<500 {
                group.addTask {
                    try await producer.send(ProducerRecord(topic: topic, key: nil, value: Array("\(number)".utf8)))
                        .offset
                }
            }
            return try await group.reduce(into: Set<Int64>()) { $0.insert($1) }
        }
        #expect(offsets == Set(0..<500))
    }

    @Test func `Producer throws for a record that cannot be enqueued, and writes the batch before it`() async throws {
        let cluster = try Cluster()
        let topic = try await cluster.topic()
        let producer = try cluster.producer(["message.max.bytes": "2000"])
        let small = ProducerRecord(topic: topic, key: nil, value: [1])
        let large = ProducerRecord(topic: topic, key: nil, value: [UInt8](repeating: 1, count: 4000))
        let error = try await failure { try await producer.send([small, large, small]) }
        #expect(error.meaning == .unacceptable)
        #expect(try await cluster.consumer().watermarks([TopicPartition(topic: topic, partition: 0)])[0].high == 1)
    }

    @Test func `Producer that is closed says so`() async throws {
        let cluster = try Cluster()
        let topic = try await cluster.topic()
        let producer = try cluster.producer()
        _ = try await producer.send(ProducerRecord(topic: topic, key: nil, value: [1]))
        await producer.close(deadline: .seconds(10))
        let record = ProducerRecord(topic: topic, key: nil, value: [2])
        #expect(try await failure { _ = try await producer.send(record) }.meaning == .fatal)
        #expect(try await failure { try await producer.send([record]) }.meaning == .fatal)
        #expect(try await failure { try await producer.warmUp(topic: topic) }.meaning == .fatal)
        await producer.close(deadline: .seconds(10))
    }

    @Test func `Producer knows the topic after warming up`() async throws {
        let cluster = try Cluster()
        let topic = try await cluster.topic()
        let producer = try cluster.producer()
        try await producer.warmUp(topic: topic)
        #expect(try await !producer.clusterId().isEmpty)
    }

    @Test func `Producer emits statistics on request`() async throws {
        let cluster = try Cluster()
        let topic = try await cluster.topic()
        let (statistics, heard) = AsyncStream<KafkaStatistics>.makeStream()
        let producer = try Producer(
            cluster.configuration.with(["statistics.interval.ms": "20"]), logger: quiet,
            onStatistics: { heard.yield($0) })
        _ = try await producer.send(ProducerRecord(topic: topic, key: nil, value: [1]))
        let connected = await statistics.first { $0.brokers.contains { $0.state == "UP" } }
        #expect(connected?.client.contains("producer") == true)
        await producer.close(deadline: .seconds(10))
    }

    @Test func `Producer has the project's settings`() async throws {
        let producer = try Producer(KafkaConfiguration(bootstrapServers: "127.0.0.1:1"), logger: quiet)
        let expected = [
            "acks": "-1", "partitioner": "murmur2_random", "compression.type": "zstd", "linger.ms": "0",
            "message.timeout.ms": "60000", "socket.nagle.disable": "true", "socket.keepalive.enable": "true",
            "queue.buffering.max.kbytes": "131072", "statistics.interval.ms": "0",
            "enable.idempotence": KafkaLibrary.version >= 0x0203_00ff ? "true" : "false",
        ]
        for (name, value) in expected { #expect(producer.setting(name) == value, "\(name)") }
        await producer.close(deadline: .zero)
    }
}
