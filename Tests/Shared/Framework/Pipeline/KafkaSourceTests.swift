import Development
import Foundation
import Kafka
import Logging
import Synchronization
import TestSupport
import Testing

@testable import Chassis
@testable import Contracts
@testable import Pipeline

@Suite(.hangLimit) struct KafkaSourceTests {
    @Test func `KafkaSource without a partition gets one empty assignment, and waits`() async throws {
        let harness = try await SourceHarness(records: 5)
        let members = [try await harness.member(), try await harness.member()]
        let spare = try await memberWithoutPartition(members)
        let source = harness.source(spare)
        #expect(try await source.next() == nil)
        let turn = try await spare.turn(limit: 1, wait: .zero)
        guard case .idle = turn else {
            Issue.record("it is told again: \(turn)")
            return
        }
        for member in members { await member.close(deadline: .seconds(5)) }
    }

    @Test func `Worker without partitions complains where no instance of its group settles what waits`() async throws {
        let harness = try await SourceHarness(records: 5)
        let members = [try await harness.member(), try await harness.member()]
        let spare = try await memberWithoutPartition(members)
        let source = harness.source(spare)
        #expect(try await source.next() == nil)
        let clock = ManualClock()
        let health = Health(instant: { clock.instant })
        let progress = WorkerProgress("worker", health: health, instant: { clock.instant })
        let reporter = LagReporter(source, worker: "test", progress: progress, now: { Date() })
        var report = LagReport()
        await reporter.publish(&report, askingBroker: true)
        clock.advance(by: .seconds(61))
        await reporter.publish(&report, askingBroker: true)
        let sentence =
            "worker owns no partition although 5 records wait in in, of which no instance has committed any for 61 s"
        #expect(health.notReady == [sentence])
        #expect(health.hung.isEmpty, "the others may be waiting for a dependency")
        let other = try #require(members.first { $0 !== spare })
        try await commit([TopicPartitionOffset(harness.partition, offset: 2)], by: other)
        await reporter.publish(&report, askingBroker: true)
        #expect(health.notReady.isEmpty, "another instance settles")
        for member in members { await member.close(deadline: .seconds(5)) }
    }

    /// Lets the group divide one partition between two members; the one without it has not answered yet.
    private func memberWithoutPartition(_ members: [Consumer]) async throws -> Consumer {
        while true {
            for member in members {
                let turn = try await member.turn(limit: 1, wait: .milliseconds(10))
                if case .assigned([]) = turn { return member }
                try await answer(turn, of: member)
            }
        }
    }

    private func answer(_ turn: ConsumerTurn, of member: Consumer) async throws {
        switch turn {
        case .assigned(let partitions):
            try await member.assign(CommittedPositions(member).positions(of: partitions))
        case .revoked: try await member.unassign()
        case .records, .idle: break
        }
    }

    /// The member may not have joined the group's newest generation yet.
    private func commit(_ offsets: [TopicPartitionOffset], by member: Consumer) async throws {
        while true {
            do {
                return try await member.commit(offsets)
            } catch let error as KafkaError where error.meaning == .fenced {
                try await answer(try await member.turn(limit: 1, wait: .milliseconds(10)), of: member)
            }
        }
    }

    @Test func `KafkaSource counts records as waiting until they are committed, also those of the current batch`()
        async throws
    {
        let harness = try await SourceHarness(records: 5)
        let source = harness.source(try await harness.member())
        let batch = try await harness.batch(from: source)
        // As many as a fetch brought, and not more than were requested.
        #expect((1...3).contains(batch.records.count))
        let dated = try #require(batch.records.first?.timestamp)
        let lag = try #require(try await source.lag(now: dated.addingTimeInterval(60)).first)
        #expect(lag.records == 5)
        #expect(lag.seconds == 60)
        // Retried after a failure: nothing is settled yet.
        try await source.rewind()
        let settled = try await harness.batch(from: source).records.count
        #expect(try await source.lag(now: dated).first?.records == 5)
        // The next batch was requested: those are settled.
        _ = try await harness.batch(from: source)
        #expect(try await source.lag(now: dated).first?.records == 5 - Int64(settled))
        while try await source.next() != nil {}
        let end = KafkaSource.Lag(partition: harness.partition, records: 0, seconds: 0)
        #expect(try await source.lag(now: dated) == [end])
        try await source.close()
        #expect(try await source.lag(now: dated) == [])
    }

    @Test func `Marker of a transaction at the end of a partition does not wait`() async throws {
        let harness = try await SourceHarness(records: 5)
        try await harness.broker.writeTransactionMarker(to: harness.partition)
        let member = try await harness.member()
        let source = harness.source(member)
        var read = 0
        while read < 5 { read += try await harness.batch(from: source).records.count }
        try await commit([TopicPartitionOffset(harness.partition, offset: 5)], by: member)
        // The client may meet the end later than the last record.
        let end = KafkaSource.Lag(partition: harness.partition, records: 0, seconds: 0)
        while try await source.lag(now: Date(), askingBroker: true) != [end] { _ = try await source.next() }
        #expect(try await source.groupBacklog() == nil)
        try await harness.write(1)
        #expect(try await source.groupBacklog()?.records == 2, "the marker is before the next record")
        #expect(try await harness.batch(from: source).records.map(\.position.offset) == [6])
        #expect(try await source.lag(now: Date(), askingBroker: true).first?.records == 1)
        try await source.close()
    }
}

/// A database that is restored to an older backup moves the position back under a source that has nothing to read.
@Suite(.hangLimit) struct ChangedPositionTests {
    private final class Stored: StartingPositions {
        private let offset = Mutex((stored: Int64(0), known: Int64(0)))

        func restore() { offset.withLock { $0.stored = 0 } }
        func settle(_ next: Int64) { offset.withLock { $0 = (next, next) } }

        func positions(of partitions: [TopicPartition]) -> [TopicPartitionOffset] {
            offset.withLock { offset in
                offset.known = offset.stored
                return partitions.map { TopicPartitionOffset($0, offset: offset.stored) }
            }
        }

        func restart(_ positions: [TopicPartitionOffset]) { settle(positions[0].offset) }

        func haveChanged(for partitions: [TopicPartition]) -> Bool { offset.withLock { $0.stored != $0.known } }
    }

    @Test func `KafkaSource reads again from a stored position that was moved back while it was idle`() async throws {
        let harness = try await SourceHarness(records: 5)
        let stored = Stored()
        let source = harness.source(try await harness.member(), startingAt: stored, checkInterval: .zero)
        var read = 0
        while read < 5 { read += try await harness.batch(from: source).records.count }
        stored.settle(5)
        #expect(try await source.next() == nil)
        stored.restore()
        let again = try await harness.batch(from: source)
        #expect(again.records.first?.position.offset == 0)
        try await source.close()
    }

    @Test func `KafkaSource begins with another client where its own takes no partitions any more`() async throws {
        let harness = try await SourceHarness(records: 5)
        let member = try await harness.member()
        let source = harness.source(member, startingAt: Stored())
        _ = try await harness.batch(from: source)
        await member.close(deadline: .seconds(5))
        await #expect(throws: KafkaError.self) { try await source.rewind() }
        try await source.rewind()
        #expect(try await harness.batch(from: source).records.first?.position.offset == 0)
        try await source.close()
    }
}

/// The report of a worker whose client hangs, with the hang that librdkafka provides: it drops its request for committed
/// offsets when the coordinator has moved.
@Suite(.hangLimit) struct HangingWorkerTests {
    /// Leaves the request to the client.
    private struct LeftToTheClient: StartingPositions {
        func positions(of partitions: [TopicPartition]) -> [TopicPartitionOffset] {
            partitions.map { TopicPartitionOffset($0, offset: TopicPartitionOffset.committed) }
        }

        func restart(_ positions: [TopicPartitionOffset]) {}
    }

    @Test func `Worker that owns partitions and gets no records is not alive after a minute`() async throws {
        let harness = try await SourceHarness(records: 5)
        let source = harness.source(try await harness.member(), startingAt: LeftToTheClient())
        _ = try await harness.batch(from: source)
        harness.broker.inject([16, 16], into: .offsetFetch)
        try await source.rewind()
        let clock = ManualClock()
        let health = Health(instant: { clock.instant })
        let progress = WorkerProgress("worker", health: health, instant: { clock.instant })
        let reporter = LagReporter(source, worker: "test", progress: progress, now: { Date() })
        var report = LagReport()
        await reporter.publish(&report, askingBroker: true)
        #expect(health.hung.isEmpty)
        clock.advance(by: .seconds(61))
        #expect(try await source.next() == nil)
        await reporter.publish(&report, askingBroker: true)
        let sentence = "worker has processed no record for 61 s although 5 wait in 1 partitions of in; "
        #expect(health.hung.first?.hasPrefix(sentence) == true, "\(health.hung)")
        #expect(health.notReady == health.hung)
        try await source.close()
    }
}

/// A topic with one partition and some records.
private struct SourceHarness {
    let partition = TopicPartition(topic: "in", partition: 0)
    let broker: DevelopmentBroker
    let reader: Consumer
    private let logger = Logger.quiet

    init(records: Int) async throws {
        broker = try DevelopmentBroker(topics: [("in", 1)])
        reader = try Consumer(broker.configuration.fetchingLittle, group: "group", logger: logger)
        try await write(records)
    }

    func write(_ records: Int) async throws {
        let producer = try Producer(broker.configuration, logger: logger)
        try await producer.send((0..<records).map { ProducerRecord(topic: "in", key: nil, value: Array("\($0)".utf8)) })
    }

    /// Of one group, subscribed.
    func member() async throws -> Consumer {
        let consumer = try Consumer(broker.configuration, group: "group", logger: logger)
        try await consumer.subscribe(to: ["in"])
        return consumer
    }

    /// Takes three records at a time.
    func source(
        _ member: Consumer, startingAt starting: (any StartingPositions)? = nil,
        checkInterval: Duration = .seconds(5)
    ) -> KafkaSource {
        KafkaSource(
            member, reader: reader, for: "test", startingAt: starting ?? CommittedPositions(member), limit: 3,
            of: partition.topic, checkInterval: checkInterval, now: { Date() }, logger: logger)
    }

    /// The next batch, after the group's assignment.
    func batch(from source: KafkaSource) async throws -> Batch {
        while true {
            if let batch = try await source.next() { return batch }
        }
    }
}
