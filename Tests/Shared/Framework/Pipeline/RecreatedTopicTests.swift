import Development
import Foundation
import Kafka
import Logging
import TestSupport
import Testing

@testable import Chassis
@testable import Contracts
@testable import Pipeline

/// A topic that is deleted and created again has the name of the old one, and its offsets mean other records.
@Suite(.hangLimit) struct RecreatedTopicTests {
    private static let topic = "things.to.read"

    @Test(arguments: [3, 8, 12, 40])
    func `KafkaSource reads a topic that was created again from its beginning, however many records it has`(
        records: Int
    ) async throws {
        let topics = try RecreatableTopics(topics: [(Self.topic, 1)])
        let harness = try RecreatedTopic(topics)
        let source = try await harness.source()
        try await harness.write((0..<8).map { "old \($0)" })
        #expect(try await harness.read(8, from: source) == (0..<8).map { "old \($0)" })

        topics.delete(Self.topic)
        try topics.create(Self.topic, partitions: 1)
        let new = (0..<records).map { "new \($0)" }
        try await harness.write(new)
        let read = try await harness.read(from: source) { Set($0).isSuperset(of: new) }
        #expect(Set(read).isSuperset(of: new))
        try await source.close()
    }

    @Test(arguments: [3, 8, 12, 40])
    func `Worker that starts later begins a topic that was created again at its beginning`(records: Int) async throws {
        let topics = try RecreatableTopics(topics: [(Self.topic, 1)])
        let harness = try RecreatedTopic(topics)
        let first = try await harness.source()
        try await harness.write((0..<8).map { "old \($0)" })
        _ = try await harness.read(8, from: first)
        let stored = try await harness.committed()
        try await first.close()

        topics.delete(Self.topic)
        try topics.create(Self.topic, partitions: 1)
        let new = (0..<records).map { "new \($0)" }
        try await harness.write(new)
        // Brokers forget it with the topic, unless the worker commits it once more.
        try await harness.commit(stored)
        let second = try await harness.source()
        #expect(try await harness.read(records, from: second) == new)
        try await second.close()
    }

    @Test func `KafkaSource fails while its topic is missing, and reads it once it is there again`() async throws {
        let topics = try RecreatableTopics(topics: [(Self.topic, 1)])
        let harness = try RecreatedTopic(topics)
        let source = try await harness.source()
        try await harness.write((0..<8).map { "old \($0)" })
        _ = try await harness.read(8, from: source)

        topics.delete(Self.topic)
        try await harness.missesTopic(source)
        try topics.create(Self.topic, partitions: 1)
        let new = (0..<3).map { "new \($0)" }
        try await harness.write(new)
        #expect(try await harness.read(3, from: source) == new)
        try await source.close()
    }

    @Test(arguments: [2, 1000])
    func `Stored offset that is ahead of the records that were read skips none`(ahead: Int64) async throws {
        let harness = try RecreatedTopic(RecreatableTopics(topics: [(Self.topic, 1)]))
        let first = try await harness.source()
        try await harness.write((0..<8).map { "old \($0)" })
        _ = try await harness.read(8, from: first)
        var stored = try await harness.committed()
        try await first.close()
        let new = (0..<5).map { "new \($0)" }
        try await harness.write(new)
        stored.offset += ahead
        try await harness.commit(stored)
        let second = try await harness.source()
        #expect(try await harness.read(5, from: second) == new)
        try await second.close()
    }

    @Test func `Worker that starts later continues in a topic that is the same`() async throws {
        let harness = try RecreatedTopic(RecreatableTopics(topics: [(Self.topic, 1)]))
        let first = try await harness.source()
        try await harness.write((0..<8).map { "old \($0)" })
        _ = try await harness.read(8, from: first)
        try await first.close()
        try await harness.write(["next"])
        let second = try await harness.source()
        #expect(try await harness.read(1, from: second) == ["next"])
        try await second.close()
    }
}

/// A topic with one partition behind a proxy, and a worker's loop over it.
private actor RecreatedTopic {
    private let topics: RecreatableTopics
    private let producer: Producer
    private let partition: TopicPartition
    private var member: Consumer?

    init(_ topics: RecreatableTopics, topic: String = "things.to.read") throws {
        self.topics = topics
        partition = TopicPartition(topic: topic, partition: 0)
        producer = try Producer(topics.configuration, logger: .quiet)
    }

    func write(_ values: [String]) async throws {
        // A client needs a moment to learn of a topic that was created again.
        var left = values[...]
        while !left.isEmpty {
            do {
                try await producer.send([
                    ProducerRecord(topic: partition.topic, key: nil, value: Array(left[left.startIndex].utf8))
                ])
                left = left.dropFirst()
            } catch let error as KafkaError where error.meaning == .missing || error.meaning == .retry {}
        }
    }

    func source() async throws -> KafkaSource {
        let member = try Consumer(topics.configuration, group: "readers", offsetReset: .error, logger: .quiet)
        try await member.subscribe(to: [partition.topic])
        self.member = member
        return KafkaSource(
            member, reader: try Consumer(topics.configuration.fetchingLittle, group: "readers", logger: .quiet),
            for: "test", startingAt: CommittedPositions(member), limit: 3, wait: .milliseconds(100),
            of: partition.topic, checkInterval: .zero, now: { Date() }, logger: .quiet)
    }

    func committed() async throws -> TopicPartitionOffset {
        try #require(try await member?.committed([partition]).first ?? nil)
    }

    func commit(_ position: TopicPartitionOffset) async throws {
        let client = try Consumer(topics.configuration, group: "readers", logger: .quiet)
        try await client.subscribe(to: [partition.topic])
        // Only a member of the group may commit, and joining takes turns.
        var isMember = false
        while true {
            do {
                if case .assigned(let partitions) = try await client.turn(limit: 1, wait: .milliseconds(100)) {
                    try await client.assign(partitions.map { TopicPartitionOffset($0, offset: 0) })
                    isMember = true
                }
                guard isMember else { continue }
                try await client.commit([position])
                break
            } catch is KafkaError {}
        }
        await client.close(deadline: .seconds(5))
    }

    func read(_ count: Int, from source: KafkaSource) async throws -> [String] {
        try await read(from: source) { $0.count >= count }
    }

    /// Reads until the source has met the missing topic both in a turn and in a rewind.
    func missesTopic(_ source: KafkaSource) async throws {
        while true {
            do { _ = try await source.next() } catch let error as KafkaError where error.meaning == .missing { break }
        }
        await #expect(throws: KafkaError.self) { try await source.rewind() }
    }

    /// As a worker does: settles each batch, and rewinds after an error.
    func read(from source: KafkaSource, until isEnough: ([String]) -> Bool) async throws -> [String] {
        var values: [String] = []
        var mustRewind = false
        while !isEnough(values) {
            do {
                if mustRewind { try await source.rewind() }
                mustRewind = false
                guard let batch = try await source.next() else { continue }
                let next = (batch.records.last?.position.offset ?? 0) + 1
                try await member?.commit([
                    TopicPartitionOffset(partition, offset: next, metadata: batch.evidence[partition]?.text)
                ])
                values += batch.records.map { String(decoding: $0.wire.value, as: UTF8.self) }
            } catch is KafkaError {
                mustRewind = true
            }
        }
        return values
    }
}
