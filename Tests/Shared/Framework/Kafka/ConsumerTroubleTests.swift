import CRDKafka
import Development
import Testing

@testable import Kafka

/// A consumer and a misbehaving broker, which only the development broker can be.
@Suite struct ConsumerTroubleTests {
    let broker: DevelopmentBroker
    let place = TopicPartition(topic: "things", partition: 0)

    init() async throws {
        broker = try DevelopmentBroker(topics: [("things", 1)], logger: quiet)
        let producer = try Producer(broker.configuration, logger: quiet)
        try await producer.send((0..<10).map { ProducerRecord(topic: "things", key: nil, value: [$0]) })
    }

    private func consumer(_ offsetReset: Consumer.OffsetReset = .earliest) throws -> Consumer {
        try Consumer(broker.configuration.inHaste, group: "readers", offsetReset: offsetReset, logger: quiet)
    }

    @Test(arguments: [
        (RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS.rawValue, KafkaError.Meaning.fenced),
        (RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION.rawValue, .fenced),
        (RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID.rawValue, .fenced),
        (RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED.rawValue, .rejected),
        (RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED.rawValue, .rejected),
    ])
    func `Consumer throws and classifies a commit that the broker rejects`(
        code: Int32, meaning: KafkaError.Meaning
    ) async throws {
        let consumer = try consumer()
        try await consumer.subscribe(to: ["things"])
        _ = try await consumer.records(10)
        broker.inject([code], into: .offsetCommit)
        let position = TopicPartitionOffset(place, offset: 10)
        let error = try await failure { try await consumer.commit([position]) }
        #expect(error.code == code)
        #expect(error.meaning == meaning)
        await consumer.close(deadline: .seconds(30))
    }

    @Test(
        arguments: [
            RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION, RD_KAFKA_RESP_ERR_UNKNOWN_LEADER_EPOCH,
            RD_KAFKA_RESP_ERR__TRANSPORT, RD_KAFKA_RESP_ERR_KAFKA_STORAGE_ERROR,
        ].map(\.rawValue))
    func `Consumer recovers from fetch errors by itself`(code: Int32) async throws {
        broker.inject([code], into: .fetch)
        let records = try await consumer().records(10, of: "things", from: 0)
        #expect(records.map(\.offset) == Array(0..<10))
    }

    @Test func `Consumer reports a position that the broker rejects as lost`() async throws {
        broker.inject([RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE.rawValue], into: .fetch)
        let consumer = try consumer(.error)
        #expect(try await failure { _ = try await consumer.records(1, of: "things", from: 0) }.meaning == .positionLost)
    }

    @Test(arguments: [
        (RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED.rawValue, KafkaError.Meaning.rejected),
        (RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART.rawValue, .missing),
    ])
    func `Consumer throws for a missing or forbidden topic`(
        code: Int32, meaning: KafkaError.Meaning
    ) async throws {
        broker.setError(code, ofTopic: "things")
        let consumer = try consumer()
        try await consumer.subscribe(to: ["things"])
        let error = try await failure { try await consumer.turns { _ in false } }
        #expect(error.code == code)
        #expect(error.meaning == meaning)
        // It stays usable: once the topic exists, its records arrive.
        broker.setError(0, ofTopic: "things")
        await consumer.close(deadline: .seconds(30))
    }

    @Test func `Consumer throws for a forbidden group`() async throws {
        broker.inject(
            Array(repeating: RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED.rawValue, count: 5), into: .findCoordinator)
        let consumer = try consumer()
        try await consumer.subscribe(to: ["things"])
        let error = try await failure { try await consumer.turns { _ in false } }
        #expect(error.meaning == .rejected)
        await consumer.close(deadline: .seconds(30))
    }

    @Test func `Consumer continues after an outage`() async throws {
        let consumer = try consumer()
        #expect(try await consumer.records(10, of: "things", from: 0).count == 10)
        try broker.takeDown()
        #expect(try await consumer.turn(limit: 10, wait: .milliseconds(200)) == .idle)
        try broker.bringUp()
        let producer = try Producer(broker.configuration, logger: quiet)
        _ = try await producer.send(ProducerRecord(topic: "things", key: nil, value: [10]))
        #expect(try await consumer.records(1).map(\.offset) == [10])
    }

    @Test func `Consumer closes without waiting for an unavailable coordinator`() async throws {
        let consumer = try consumer()
        try await consumer.subscribe(to: ["things"])
        _ = try await consumer.records(10)
        try broker.takeDown()
        // Whether librdkafka gives up before or at the deadline differs by version; that it returns is the point.
        await consumer.close(deadline: .milliseconds(300))
        #expect(try await failure { _ = try await consumer.assignment() }.meaning == .fatal)
    }

    @Test func `Consumer commits without waiting for an unavailable coordinator`() async throws {
        let consumer = try consumer()
        #expect(try await consumer.records(10, of: "things", from: 0).count == 10)
        try broker.takeDown()
        let position = TopicPartitionOffset(place, offset: 3)
        let error = try await failure { try await consumer.commit([position], patience: .milliseconds(100)) }
        #expect(error.meaning == .retry)
        // The late answer is dropped; the next commit has its own.
        try broker.bringUp()
        let end = TookTooLong.limit
        while try await consumer.committed([place]) != [position] {
            try #require(ContinuousClock.now < end)
            do {
                try await consumer.commit([position])
            } catch let error as KafkaError where error.meaning == .retry {
                // The coordinator has not been found again yet.
            }
        }
    }

    @Test func `Consumer inherits the partitions of a member that crashed`() async throws {
        func crash() async throws {
            let consumer = try consumer()
            try await consumer.subscribe(to: ["things"])
            #expect(try await consumer.records(10).count == 10)
            try await consumer.commit([TopicPartitionOffset(place, offset: 6)])
        }
        try await crash()
        let heir = try consumer()
        try await heir.subscribe(to: ["things"])
        #expect(try await heir.records(4).map(\.offset) == Array(6..<10))
        await heir.close(deadline: .seconds(30))
    }

    @Test func `Consumer leaves its group when it closes with an unanswered revocation`() async throws {
        let first = try consumer()
        try await first.subscribe(to: ["things"])
        _ = try await first.records(10)
        let second = try consumer()
        try await second.subscribe(to: ["things"])
        var turn = ConsumerTurn.idle
        let end = TookTooLong.limit
        while turn != .revoked([place]), ContinuousClock.now < end {
            turn = try await first.turn(limit: 10, wait: .milliseconds(500))
        }
        try #require(turn == .revoked([place]))
        #expect(await first.close(deadline: .seconds(30)))
        #expect(try await second.records(10, startingAt: 0).count == 10)
        await second.close(deadline: .seconds(30))
    }

    @Test func `Consumer gets a fenced commit while others rebalance`() async throws {
        let consumer = try consumer()
        let position = TopicPartitionOffset(place, offset: 3)
        broker.inject([RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS.rawValue], into: .offsetCommit)
        try await consumer.subscribe(to: ["things"])
        _ = try await consumer.records(10)
        #expect(try await failure { try await consumer.commit([position]) }.meaning == .fenced)
        try await consumer.commit([position])
        #expect(try await consumer.committed([place]) == [position])
        await consumer.close(deadline: .seconds(30))
    }
}
