import CRDKafka
import Development
import TestSupport
import Testing

@testable import Kafka

/// A producer and a misbehaving broker, which only the development broker can be.
@Suite struct ProducerTroubleTests {
    let broker: DevelopmentBroker
    let place = TopicPartition(topic: "things", partition: 0)
    let record = ProducerRecord(topic: "things", key: nil, value: [1])

    init() throws { broker = try DevelopmentBroker(topics: [("things", 1)], logger: quiet) }

    private func producer(_ overrides: [String: String] = [:]) throws -> Producer {
        try Producer(broker.configuration.with(overrides), logger: quiet)
    }

    private func written() async throws -> Int64 {
        try await Consumer(broker.configuration, group: "counters", logger: quiet).watermarks([place])[0].high
    }

    /// After some errors the client rejects a topic until it has read its metadata again.
    private func recovered(_ producer: Producer) async throws -> TopicPartitionOffset {
        let end = TookTooLong.limit
        while true {
            do {
                return try await producer.send(record)
            } catch let error as KafkaError where error.meaning == .rejected && ContinuousClock.now < end {
                try await producer.warmUp(topic: record.topic)
            }
        }
    }

    @Test(arguments: [
        (RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED.rawValue, KafkaError.Meaning.rejected),
        (RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE.rawValue, .unacceptable),
        (RD_KAFKA_RESP_ERR_INVALID_REQUIRED_ACKS.rawValue, .rejected),
        (RD_KAFKA_RESP_ERR_INVALID_RECORD.rawValue, .unacceptable),
    ])
    func `Producer throws for a delivery that the broker rejects`(code: Int32, meaning: KafkaError.Meaning) async throws
    {
        let producer = try producer()
        broker.inject([code], into: .produce)
        let error = try await failure { _ = try await producer.send(record) }
        #expect(error.code == code)
        #expect(error.meaning == meaning)
        #expect(try await recovered(producer).offset == 0, "the next one is written")
    }

    @Test(
        arguments: [
            RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION, RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS,
            RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT, RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE, RD_KAFKA_RESP_ERR__TRANSPORT,
        ].map(\.rawValue))
    func `Producer retries temporary errors by itself`(code: Int32) async throws {
        let producer = try producer(["message.timeout.ms": "60000"])
        broker.inject([code], into: .produce)
        _ = try await producer.send(record)
        #expect(KafkaError(code: code).meaning == .retry)
        #expect(try await written() >= 1)
    }

    @Test func `Producer writes records without a key to partitions of brokers that it reaches`() async throws {
        let cluster = try DevelopmentBroker(brokers: 3, topics: [("spread", 6)], logger: quiet)
        for partition: Int32 in 0..<6 {
            try cluster.setLeader(of: TopicPartition(topic: "spread", partition: partition), broker: partition % 3 + 1)
        }
        let producer = try Producer(cluster.configuration, logger: quiet)
        try await producer.warmUp(topic: "spread")
        let record = ProducerRecord(topic: "spread", key: nil, value: [1])
        func send() async throws -> Int32 {
            try await producer.send(record, deadline: .hangLimit, elsewhereAfter: .milliseconds(200)).partition
        }
        var reached: Set<Int32> = []
        while reached.count < 6 { reached.insert(try await send()) }
        try cluster.takeDown(broker: 2)
        reached = []
        for _ in 0..<60 { reached.insert(try await send()) }
        #expect(reached.isSubset(of: [0, 2, 3, 5]))
        await producer.close(deadline: .zero)
    }

    @Test func `Producer keeps the partition of a key although its broker is unreachable`() async throws {
        let cluster = try DevelopmentBroker(brokers: 3, topics: [("spread", 6)], logger: quiet)
        let producer = try Producer(cluster.configuration, logger: quiet)
        let keyed = ProducerRecord(topic: "spread", key: [7], value: [1])
        let place = try await producer.send(keyed).partition
        try cluster.takeDown()
        async let second = producer.send(keyed, deadline: .hangLimit, elsewhereAfter: .milliseconds(1))
        try cluster.bringUp()
        #expect(try await second.partition == place)
        await producer.close(deadline: .zero)
    }

    @Test func `Producer throws the failure of a batch when nothing of it is in flight any more`() async throws {
        let producer = try producer()
        broker.inject([RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED.rawValue], into: .produce)
        let error = try await failure { try await producer.send(Array(repeating: record, count: 20)) }
        #expect(error.meaning == .rejected)
        let count = try await written()
        #expect(count < 20)
        #expect(try await recovered(producer).offset == count)
    }

    @Test func `Producer sends nothing before its topics are as expected, and creates none`() async throws {
        let producer = try Producer(broker.configuration, requiring: ["things": 1, "others": 2], logger: quiet)
        let other = ProducerRecord(topic: "others", key: nil, value: [1])
        #expect(try await failure { _ = try await producer.send(other) }.meaning == .retry)
        #expect(try await failure { try await producer.warmUp() }.meaning == .missing)
        #expect(try await KafkaAdmin(broker.configuration, logger: quiet).topics()["others"] == nil)
        try broker.createTopic("others", partitions: 1)
        #expect(try await failure { try await producer.warmUp() }.message.contains("1 of 2 partitions"))
        #expect(try await failure { try await producer.send([other]) }.meaning == .retry)
        let content = try Producer(broker.configuration, requiring: ["things": 1, "others": 1], logger: quiet)
        try await content.warmUp()
        _ = try await content.send(other)
    }

    @Test func `Producer reports a missing confirmation as a failure to retry`() async throws {
        let producer = try producer(["message.timeout.ms": "300"])
        try broker.takeDown()
        let error = try await failure { _ = try await producer.send(record) }
        #expect(error.code == RD_KAFKA_RESP_ERR__MSG_TIMED_OUT.rawValue)
        #expect(error.meaning == .retry)
    }

    @Test func `Producer stops waiting for a late sender and still writes its record`() async throws {
        let producer = try producer(["message.timeout.ms": "60000"])
        try broker.takeDown()
        let error = try await failure { _ = try await producer.send(record, deadline: .milliseconds(50)) }
        #expect(error.code == RD_KAFKA_RESP_ERR__TIMED_OUT.rawValue)
        #expect(error.meaning == .retry)
        try broker.bringUp()
        _ = try await producer.send(record)
        #expect(try await written() == 2)
    }

    @Test func `Producer with a full queue rejects a single record at once`() async throws {
        let producer = try producer(["queue.buffering.max.messages": "1", "message.timeout.ms": "60000"])
        try broker.takeDown()
        _ = try await failure { _ = try await producer.send(record, deadline: .milliseconds(20)) }
        let error = try await failure { _ = try await producer.send(record) }
        #expect(error.code == RD_KAFKA_RESP_ERR__QUEUE_FULL.rawValue)
        #expect(error.meaning == .retry)
    }

    @Test func `Producer stops waiting for a cancelled sender`() async throws {
        let producer = try producer(["message.timeout.ms": "60000"])
        try broker.takeDown()
        let single = Task { _ = try await producer.send(record) }
        let batch = Task { try await producer.send([record, record]) }
        single.cancel()
        batch.cancel()
        await #expect(throws: CancellationError.self) { try await single.value }
        await #expect(throws: CancellationError.self) { try await batch.value }
    }

    @Test func `Producer stops a batch that waits for room when it is cancelled`() async throws {
        let producer = try producer(["queue.buffering.max.messages": "1", "message.timeout.ms": "60000"])
        try broker.takeDown()
        let batch = Task { try await producer.send([record, record, record]) }
        batch.cancel()
        await #expect(throws: CancellationError.self) { try await batch.value }
    }

    @Test func `Producer fails what is not written when it closes`() async throws {
        let pump = try DeliveryPump(
            settings: broker.configuration.producerSettings(), logger: quiet, onStatistics: nil)
        try broker.takeDown()
        let delivery = PendingSend()
        delivery.expect()
        try pump.enqueue(record, for: delivery)
        delivery.seal()
        #expect(!delivery.isSettled)
        pump.drain(within: .milliseconds(100))
        await pump.ended()
        let error = try await failure { _ = try await delivery.outcome() }
        #expect(error.meaning == .retry)
        #expect(try await failure { try pump.enqueue(record, for: PendingSend()) }.meaning == .fatal)
    }

    @Test func `Producer lets records in flight arrive when it closes`() async throws {
        try broker.setRoundTrip(.milliseconds(100))
        let pump = try DeliveryPump(
            settings: broker.configuration.producerSettings(), logger: quiet, onStatistics: nil)
        let delivery = PendingSend()
        delivery.expect()
        try pump.enqueue(record, for: delivery)
        delivery.seal()
        pump.drain(within: .seconds(60))
        await pump.ended()
        #expect(try await delivery.outcome().offset == 0)
    }

    @Test func `Producer finds a broker again after an outage`() async throws {
        let producer = try producer(["message.timeout.ms": "60000"])
        _ = try await producer.send(record)
        try broker.takeDown()
        let waiting = Task { try await producer.send(record) }
        try broker.bringUp()
        _ = try await waiting.value
        #expect(try await written() >= 2)
    }

    @Test func `Producer fails the waiting sends after a fatal error, and the next record creates another client`()
        async throws
    {
        let producer = try producer(["enable.idempotence": "true"])
        broker.inject([RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED.rawValue], into: .initProducerId)
        let error = try await failure { _ = try await producer.send(record) }
        try await #require(throws: KafkaError.self) {
            // Until the client has noticed, records fail one by one.
            while producer.fatalErrors == 0 { _ = try await producer.send(record) }
            throw error
        }
        #expect(producer.fatalErrors == 1)
        #expect(try await producer.send(record).offset == 0)
        #expect(producer.fatalErrors == 1)
    }

    /// The reason for the deduplicator.
    @Test func `Producer without idempotence writes a record twice after a lost answer`() async throws {
        let producer = try producer([
            "enable.idempotence": "false", "message.timeout.ms": "60000", "request.timeout.ms": "2000",
            "socket.timeout.ms": "2000",
        ])
        try broker.inject(0, after: .seconds(20), into: .produce)
        _ = try await producer.send(record)
        #expect(try await written() == 2)
    }

    @Test func `Producer reports a missing topic as missing at every attempt`() async throws {
        let producer = try producer(["topic.metadata.propagation.max.ms": "1"])
        broker.setError(RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART.rawValue, ofTopic: "things")
        // With headers, because those could be freed twice after a failure to enqueue.
        var record = record
        record.headers = [RecordHeader(name: "a", value: [1])]
        for _ in 0..<100 {
            #expect(try await failure { _ = try await producer.send(record) }.meaning == .missing)
        }
        #expect(try await failure { try await producer.warmUp(topic: "things") }.meaning == .missing)
    }
}
