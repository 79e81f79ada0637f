import Foundation
import Kafka
import Logging
import Testing

@testable import Contracts
@testable import Pipeline

@Suite(.timeLimit(.minutes(1))) struct LagReporterTests {
    private let partitions = (0..<2).map { TopicPartition(topic: "in", partition: $0) }

    @Test func `a partition that was taken away is told to be at its end, once`() {
        var report = LagReport()
        let behind = partitions.map { KafkaSource.Lag(partition: $0, records: 4000, seconds: 120) }
        #expect(report.next(behind) == behind)
        #expect(
            report.next([behind[0]]) == [behind[0], KafkaSource.Lag(partition: partitions[1], records: 0, seconds: 0)])
        #expect(report.next([behind[0]]) == [behind[0]])
        #expect(report.next(behind) == behind)
    }

    @Test func `records count until they are settled, also those in hand`() async throws {
        let bench = try await Bench(records: 5)
        let source = try await bench.source(limit: 3)
        let batch = try await bench.batch(from: source)
        #expect(batch.records.count == 3)
        let dated = try #require(batch.records.first?.timestamp)
        let lag = try #require(try await source.lag(now: dated.addingTimeInterval(60)).first)
        #expect(lag.records == 5)
        #expect(lag.seconds == 60)
        // Tried again after a failure: nothing is settled yet.
        try await source.rewind()
        _ = try await bench.batch(from: source)
        #expect(try await source.lag(now: dated).first?.records == 5)
        // Asked for more: the three are settled.
        _ = try await bench.batch(from: source)
        #expect(try await source.lag(now: dated).first?.records == 2)
        while try await source.next() != nil {}
        let end = KafkaSource.Lag(partition: bench.partition, records: 0, seconds: 0)
        #expect(try await source.lag(now: dated) == [end])
        try await source.close()
        #expect(try await source.lag(now: dated) == [])
    }
}

/// A topic with one partition and some records.
private struct Bench {
    let partition = TopicPartition(topic: "in", partition: 0)
    private let broker: DevelopmentBroker
    private let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    init(records: Int) async throws {
        broker = try DevelopmentBroker(topics: [("in", 1)])
        let producer = try Producer(broker.configuration, logger: logger)
        try await producer.send((0..<records).map { ProducerRecord(topic: "in", key: nil, value: Array("\($0)".utf8)) })
    }

    func source(limit: Int) async throws -> KafkaSource {
        let consumer = try Consumer(broker.configuration, group: "lag", logger: logger)
        try await consumer.subscribe(to: ["in"])
        return KafkaSource(consumer, for: "test", startingAt: CommittedPositions(), limit: limit, logger: logger)
    }

    /// The next batch, after what the group has to say.
    func batch(from source: KafkaSource) async throws -> Batch {
        while true {
            if let batch = try await source.next() { return batch }
        }
    }
}
