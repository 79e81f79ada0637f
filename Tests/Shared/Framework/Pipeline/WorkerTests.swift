import Development
import Foundation
import Kafka
import Logging
import Records
import Synchronization
import TestSupport
import Testing

@testable import Chassis
@testable import Contracts
@testable import Pipeline

@Suite(.hangLimit) struct WorkerTests {
    @Test func `Worker forwards or rejects a record before it commits its offset`() async throws {
        let harness = try await WorkerHarness()
        try await harness.write(["1", "2", "x", "4"])
        let (forwarded, deadLetters) = try await harness.whileWorking(Even()) {
            let forwarded = try await harness.read(harness.output.name, count: 2)
            let deadLetters = try await harness.read(Topics.rejected.name, count: 1)
            try await harness.drained()
            return (forwarded, deadLetters)
        }
        #expect(Set(forwarded.map { String(decoding: $0.value, as: UTF8.self) }) == ["2", "4"])
        #expect(try DeadLetter(WireRecord(#require(deadLetters.first))).reason == "bad")
    }

    @Test func `Worker processes a batch again after an outage until it succeeds`() async throws {
        let harness = try await WorkerHarness()
        try await harness.write((0..<20).map { String($0 * 2) })
        let outage = Outage(failures: 3)
        let forwarded = try await harness.whileWorking(outage) {
            try await harness.read(harness.output.name, count: 20)
        }
        #expect(Set(forwarded.map(\.value)).count == 20)
        #expect(outage.left.withLock { $0 } == 0)
        #expect(try await harness.lag() == 0)
    }

    @Test func `Worker repeats a failed settlement from the same position`() async throws {
        let harness = try await WorkerHarness()
        try await harness.write(["2", "4"])
        // The broker accepts the outputs and rejects the commit: the next attempt only commits.
        harness.broker.inject([16], into: .offsetCommit)
        let forwarded = try await harness.whileWorking(Even()) { try await harness.read(harness.output.name, count: 2) }
        #expect(Set(forwarded.map(\.value)).count == 2)
        #expect(try await harness.lag() == 0)
        #expect(try await harness.end(of: harness.output.name) == 2)
    }

    @Test func `Worker does not produce again what was delivered of a failed batch`() async throws {
        let harness = try await WorkerHarness()
        try await harness.write((0..<40).map { $0.isMultiple(of: 2) ? "\($0)" : "x\($0)" })
        // Not allowed, once: one of the two topics gets its part of the first batch, the other does not.
        harness.broker.inject([29], into: .produce)
        try await harness.whileWorking(Even()) {
            try await harness.drained()
        }
        #expect(try await harness.end(of: harness.output.name) == 20)
        #expect(try await harness.end(of: Topics.rejected.name) == 20)
    }

    @Test func `Worker writes a dead letter once, however often a database is away after it`() async throws {
        let harness = try await WorkerHarness()
        try await harness.write(["x"])
        let outage = Outage.Count(3)
        try await harness.whileWorking(Even(), settlingBy: { Storing(connection: $0, left: outage) }) {
            try await harness.drained()
        }
        #expect(outage.withLock { $0 } == 0)
        #expect(try await harness.end(of: Topics.rejected.name) == 1)
    }

    @Test func `Worker waits two seconds at most while its topic is missing, however often it has failed`() async throws
    {
        let source = MissingTopic(turns: 40)
        let clock = SkippingClock()
        let logger = Logger.quiet
        let worker = Worker(
            source: source, stage: Even(), settlement: AcceptingSettlement(),
            monitor: WorkerMonitor(
                worker: "test", health: Health(instant: { .now }),
                clock: ProcessClock(now: { Date() }, instant: { .now }), tracer: Tracer(isOn: false, random: { 7 }),
                logger: logger),
            clock: clock, logger: logger)
        let running = Task { try await worker.run() }
        await source.found()
        running.cancel()
        try await running.value
        #expect(clock.sleeps.count == 40)
        #expect(clock.sleeps.allSatisfy { $0 <= .seconds(2) })
    }

    @Test func `Worker continues when the coordinator has moved before it goes back to a failed batch`() async throws {
        let harness = try await WorkerHarness()
        try await harness.write((0..<20).map { String($0 * 2) })
        // NOT_COORDINATOR: librdkafka drops the request for the committed offsets and never repeats it.
        let outage = Outage(failures: 1) { harness.broker.inject([16, 16], into: .offsetFetch) }
        let forwarded = try await harness.whileWorking(outage) {
            try await harness.read(harness.output.name, count: 20)
        }
        #expect(Set(forwarded.map(\.value)).count == 20)
    }

    @Test func `Worker gives memory back once nothing waits after a thousand records, and not after fewer`()
        async throws
    {
        let source = ScriptedSource(batches: [999, nil, 1, nil, nil, 400, nil, 600, nil])
        let atRelief = Mutex<[Int]>([])
        let logger = Logger.quiet
        let worker = Worker(
            source: source, stage: Even(), settlement: AcceptingSettlement(),
            monitor: WorkerMonitor(
                worker: "test", health: Health(instant: { .now }),
                clock: ProcessClock(now: { Date() }, instant: { .now }), tracer: Tracer(isOn: false, random: { 7 }),
                logger: logger),
            onRelief: { atRelief.withLock { $0.append(source.taken.withLock(\.self)) } }, logger: logger)
        let running = Task { try await worker.run() }
        await source.ended()
        running.cancel()
        try await running.value
        #expect(atRelief.withLock(\.self) == [4, 9])
    }

    @Test func `Worker writes a deferred record to its waiting topic with key and headers, and settles it`()
        async throws
    {
        let harness = try await WorkerHarness()
        let header = RecordHeader(name: Headers.source, value: Array("webhook".utf8))
        try await harness.write(["later"], headers: [header])
        let waiting = try await harness.whileWorking(Even()) {
            let waiting = try await harness.read(Topics.deferred.name, count: 1)
            try await harness.drained()
            return waiting
        }
        #expect(waiting.first?.value == Array("later".utf8))
        #expect(waiting.first?.headers == [header])
        #expect(try await harness.end(of: harness.output.name) == 0)
    }

    @Test func `Worker stops at a run of rejections and leaves the rest of the topic unchanged`() async throws {
        let harness = try await WorkerHarness(rejectionLimit: RejectionLimit(consecutive: 10))
        try await harness.write((0..<50).map { "x\($0)" })
        let stopped = await #expect(throws: RejectionLimitReached.self) {
            try await harness.whileWorking(Even()) { try await harness.becomesUnready() }
        }
        #expect(stopped?.counted == 10)
        // The records may have come in several batches, of which those before the tenth record are settled.
        let left = try await harness.lag()
        #expect(left > 40)
        #expect(try await harness.end(of: Topics.rejected.name) == 50 - left)
    }

    @Test func `Worker writes a span for each record in the trace that its header names`() async throws {
        let harness = try await WorkerHarness()
        let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
        try await harness.write(["x"], headers: [RecordHeader(name: Headers.traceparent, value: Array(trace.utf8))])
        try await harness.write(["x"])
        let span = try await harness.whileWorking(Even()) {
            while true {
                if let span = harness.tracer.take(10).spans.first { return span }
                try Task.checkCancellation()
                await Task.yield()
            }
        }
        #expect(span.context.traceId == "0af7651916cd43dd8448eb211c80319c")
        #expect(span.parent == 0xb7ad_6b71_6920_3331)
        #expect(span.name == "process in")
        #expect(span.failure == "bad")
    }

    @Test func `Worker shares partitions with another, and no record is missing`() async throws {
        let harness = try await WorkerHarness()
        let forwarded = try await harness.whileWorking(Even()) {
            let forwarded = try await harness.whileWorking(Even()) {
                try await harness.write((0..<500).map { String($0 * 2) })
                return try await harness.read(harness.output.name, count: 500)
            }
            // A commit that met the rebalance is repeated by the next owner of the partition.
            try await harness.drained()
            return forwarded
        }
        #expect(Set(forwarded.map(\.value)).count == 500)
    }
}

/// Its topic does not exist for so many turns.
private final class MissingTopic: Source {
    private let left: Mutex<Int>
    private let found = AsyncStream.makeStream(of: Void.self)
    private let further = AsyncStream.makeStream(of: Void.self)

    init(turns: Int) { left = Mutex(turns) }

    /// Returns when the worker has taken a turn after the last that failed.
    func found() async { for await _ in found.stream { return } }

    func next() async throws -> Batch? {
        let isMissing = left.withLock { left in
            left -= 1
            return left >= 0
        }
        // UNKNOWN_TOPIC_OR_PART.
        if isMissing { throw KafkaError(code: 3) }
        found.continuation.yield()
        // The worker is cancelled.
        for await _ in further.stream {}
        return nil
    }

    func rewind() {}
    func close() {}
}

/// Fails so many times as if a dependency were unavailable, then processes like ``Even``.
private struct Outage: Stage {
    struct Away: Error {}
    final class Count: Sendable {
        private let left: Mutex<Int>
        init(_ left: Int) { self.left = Mutex(left) }
        func withLock<Value>(_ body: (inout sending Int) -> sending Value) -> sending Value { left.withLock(body) }
    }
    let left: Count
    let onFailure: @Sendable () -> Void
    init(failures: Int, onFailure: @escaping @Sendable () -> Void = {}) {
        left = Count(failures)
        self.onFailure = onFailure
    }

    func process(_ deliveries: [Delivery<Even.Text>]) throws -> [StageResult<Even.Text, Even.Reason>] {
        let isAway = left.withLock { left in
            guard left > 0 else { return false }
            left -= 1
            return true
        }
        if isAway {
            onFailure()
            throw Away()
        }
        return Even().process(deliveries)
    }
}

/// Has its effects in a database that is away so many times.
private struct Storing: Settlement {
    let connection: WorkerConnection
    let left: Outage.Count

    func settle(_ processed: ProcessedBatch<Even>) async throws -> Settled {
        try await connection.deadLetters.write(processed)
        let isAway = left.withLock { left in
            guard left > 0 else { return false }
            left -= 1
            return true
        }
        if isAway { throw Outage.Away() }
        return try await connection.consumer.commit(processed)
    }
}

/// A worker's variables and no others.
struct TestVariables: WorkerVariables {
    let brokers = Variable.kafkaBrokers
    let batch = Variable.batchLimit
    let rejectionRun = Variable.rejectionRun
    let rejectionRatio = Variable.rejectionRatio
    let recordKeys = Variable.recordKeys
    let kafkaSettings = Variable.kafkaSettings
}

/// A broker, a topic to read, a topic to write, and the parts of a worker between them.
private struct WorkerHarness {
    let broker: DevelopmentBroker
    let input: Topic<Even.Text>
    let output: Topic<Even.Text>
    let tracer = Tracer(isOn: true, random: { 7 })
    private let producer: Producer
    private let context: ServiceContext<TestVariables>
    private let logger = Logger.quiet

    init(rejectionLimit: RejectionLimit = RejectionLimit()) async throws {
        input = Topic("in", key: .none, partitions: 4, writers: [], readers: [])
        output = Topic("out", key: .none, partitions: 4, writers: [], readers: [])
        broker = try DevelopmentBroker(
            topics: ([input.route, output.route] + Topics.all).map { ($0.name, $0.partitions) })
        producer = try Producer(broker.configuration, logger: logger)
        var environment = broker.environment
        environment["STOREKEEPER_REJECTION_RUN"] = String(rejectionLimit.consecutive)
        context = ServiceContext(
            settings: try Settings(TestVariables(), environment: environment), logger: logger,
            health: Health(instant: { .now }), tracer: tracer, clock: ProcessClock(now: { Date() }, instant: { .now }),
            instance: "test", environment: environment)
    }

    func write(_ texts: [String], headers: [RecordHeader] = []) async throws {
        try await producer.send(
            texts.map {
                var record = ProducerRecord(input, Even.Text($0))
                record.headers += headers
                return record
            })
    }

    /// Runs a worker, runs the body, stops the worker in order; throws what the worker threw.
    func whileWorking<S: Stage, Value: Sendable>(
        _ stage: S, _ body: @Sendable () async throws -> Value
    ) async throws -> Value where S.Input == Even.Text, S.Output == Even.Text {
        try await whileWorking(
            stage, settlingBy: { KafkaSettlement<S>($0, to: output, deferringTo: Topics.deferred.route) }, body)
    }

    func whileWorking<S: Stage, Value: Sendable>(
        _ stage: S, settlingBy settlement: (WorkerConnection) -> any Settlement<S>,
        _ body: @Sendable () async throws -> Value
    ) async throws -> Value where S.Input == Even.Text {
        let connection = try await WorkerConnection(context, stage: .verifier, reading: input.route, of: Topics.plan)
        let parts = connection.services(running: stage, settlement: settlement(connection))
        return try await whileRunning(parts, logger: logger, body)
    }

    /// Reads a topic from its beginning until so many different values have arrived.
    func read(_ topic: String, count: Int) async throws -> [ConsumerRecord] {
        let consumer = try Consumer(broker.configuration, group: "reader-\(topic)", logger: logger)
        let partitions = try await KafkaAdmin(broker.configuration, logger: logger).topics()[topic] ?? 0
        try await consumer.assign(
            (0..<Int32(partitions)).map {
                TopicPartitionOffset(topic: topic, partition: $0, offset: TopicPartitionOffset.beginning)
            })
        var records: [ConsumerRecord] = []
        while Set(records.map(\.value)).count < count {
            guard case .records(let more) = try await consumer.turn(limit: 100, wait: .seconds(30)) else {
                Issue.record("\(topic) has \(records.count) of \(count) records and no more come")
                break
            }
            records += more
        }
        await consumer.close(deadline: .seconds(5))
        return records
    }

    /// Records that the group has not settled.
    func lag() async throws -> Int64 {
        try await KafkaAdmin(broker.configuration, logger: logger)
            .lag(group: ServiceName.verifier.group, topics: [input.name]).reduce(0) { $0 + $1.records }
    }

    /// Waits until the group has settled everything, or the test times out.
    func drained() async throws {
        while try await lag() > 0 {
            try Task.checkCancellation()
            await Task.yield()
        }
    }

    func end(of topic: String) async throws -> Int64 {
        try await KafkaAdmin(broker.configuration, logger: logger)
            .lag(group: "unused", topics: [topic]).reduce(0) { $0 + $1.end }
    }

    func becomesUnready() async throws {
        while !context.health.notReady.contains(where: { $0.contains("stopped") }) {
            try Task.checkCancellation()
            await Task.yield()
        }
    }
}

extension WireRecord {
    init(_ record: ConsumerRecord) { self = Batch.Record(record).wire }
}
