import Development
import Foundation
import Kafka
import Logging
import Records
import ServiceLifecycle
import Synchronization
import TestSupport
import Testing

@testable import Chassis
@testable import Contracts
@testable import Pipeline

/// Every kind of request of a worker, with every error by which a broker asks for another attempt: afterwards everything is
/// settled, without help. Prints a matrix, one row per request and error, with the seconds until everything was settled.
///
/// Without `STOREKEEPER_SWEEP` each request meets a cut connection and every third of its errors, the next request others: most
/// of the time is the pause after an error, and many errors have the same one. With `STOREKEEPER_SWEEP=30` it meets each error,
/// also ten times in a row, and for so many seconds. Ten times take a minute where the worker itself retries, because its pauses
/// grow. `STOREKEEPER_SWEEP_REQUESTS=fetch,produce` chooses rows.
@Suite struct ErrorSweepTests {
    /// The protocol's numbers, and librdkafka's for a connection that is cut.
    private static let cut = DevelopmentBroker.disconnect

    struct Row: Sendable, CustomTestStringConvertible {
        var request: DevelopmentBroker.Request
        var errors: [Int32]
        /// Makes the client send such a request.
        var trigger: (error: Int32, request: DevelopmentBroker.Request)?
        /// The request is made once in a worker's lifetime only.
        var isOfTheStart = false
        var testDescription: String { "\(request)" }
    }

    // The broker's errors that are called retriable in the protocol, and those with which it tells a member to join again.
    static let rows = [
        Row(request: .apiVersions, errors: [cut, 7, 13], trigger: (cut, .fetch)),
        Row(request: .produce, errors: [cut, 2, 3, 5, 6, 7, 9, 13, 19, 20, 56, 74, 75, 100]),
        Row(request: .fetch, errors: [cut, 3, 5, 6, 7, 9, 13, 56, 70, 71, 74, 75, 78, 100, 103]),
        Row(request: .listOffsets, errors: [cut, 3, 5, 6, 7, 9, 13, 56, 74, 75, 78], isOfTheStart: true),
        Row(request: .metadata, errors: [cut, 3, 5, 7, 13, 72], trigger: (6, .fetch)),
        Row(request: .offsetCommit, errors: [cut, 3, 7, 13, 14, 15, 16, 22, 25, 27]),
        Row(request: .offsetFetch, errors: [cut, 7, 13, 14, 15, 16, 22, 25, 88]),
        Row(request: .findCoordinator, errors: [cut, 7, 13, 14, 15, 72], trigger: (16, .heartbeat)),
        Row(request: .joinGroup, errors: [cut, 7, 13, 14, 15, 16, 22, 25, 79], trigger: (27, .heartbeat)),
        Row(request: .syncGroup, errors: [cut, 7, 13, 14, 15, 16, 22, 25, 27], trigger: (27, .heartbeat)),
        Row(request: .heartbeat, errors: [cut, 7, 13, 14, 15, 16, 22, 25, 27]),
    ]

    static var chosenRows: [Row] {
        let environment = ProcessInfo.processInfo.environment
        let names = environment["STOREKEEPER_SWEEP_REQUESTS"]?.split(separator: ",")
        return rows.enumerated().map { number, row -> Row in
            guard environment["STOREKEEPER_SWEEP"] == nil else { return row }
            var row = row
            row.errors = row.errors.indices.filter { $0 == 0 || ($0 + number) % 3 == 0 }.map { row.errors[$0] }
            return row
        }.filter { row in names?.contains { $0 == "\(row.request)" } ?? true }
    }

    @Test(arguments: chosenRows) func `Worker settles everything after any retriable error of a request`(row: Row)
        async throws
    {
        let seconds = ProcessInfo.processInfo.environment["STOREKEEPER_SWEEP"].flatMap { Int($0) }
        var harness = try await SweepHarness()
        var repetitions: [SweepHarness.Repetition] = [.times(1)]
        if let seconds { repetitions += [.times(10), .seconds(seconds)] }
        for error in row.errors {
            var cells: [String] = []
            for repetition in repetitions {
                if row.isOfTheStart {
                    #expect(try await harness.stop() == 0)
                    harness = try await SweepHarness()
                }
                let took = try await harness.settles(error, repetition, in: row)
                cells.append(Self.seconds(took))
            }
            print("sweep: | \(row.request) | \(Self.name(error)) | \(cells.joined(separator: " | ")) |")
        }
        #expect(try await harness.stop() == 0)
    }

    @Test(arguments: [cut, 7, 13, 14, 15, 16, 25]) func `Worker ends in order after any error of its leaving the group`(
        error: Int32
    ) async throws {
        let harness = try await SweepHarness()
        _ = try await harness.settles(0, .times(0), in: Row(request: .leaveGroup, errors: []))
        let start = ContinuousClock.now
        #expect(try await harness.stop(leavingMeets: error) == 0)
        print("sweep: | leaveGroup | \(Self.name(error)) | \(Self.seconds(ContinuousClock.now - start)) |")
    }

    private static func seconds(_ duration: Duration) -> String {
        (duration / .seconds(1)).formatted(.number.precision(.fractionLength(1)))
    }

    private static func name(_ error: Int32) -> String {
        error == cut ? "connection cut" : "\(error) \(KafkaError(code: error).name)"
    }
}

/// A broker and a worker between two topics, whose stage can be made to fail.
private final class SweepHarness: Sendable {
    enum Repetition: CustomStringConvertible {
        case times(Int)
        case seconds(Int)

        var description: String {
            switch self {
            case .times(let count): "\(count) times"
            case .seconds(let seconds): "for \(seconds) s"
            }
        }
    }

    struct NeverSettled: Error, CustomStringConvertible {
        var description: String
    }

    /// Fails as long as the gate is closed, so that the worker goes back and reads everything again.
    struct Gate: Stage {
        struct Closed: Error {}
        final class Switch: Sendable {
            let value = Mutex((isClosed: false, rejected: 0))
        }

        let state: Switch

        func process(_ deliveries: [Delivery<Even.Text>]) throws -> [StageResult<Even.Text, Even.Reason>] {
            let isClosed = state.value.withLock { state in
                state.rejected += state.isClosed ? 1 : 0
                return state.isClosed
            }
            guard !isClosed else { throw Closed() }
            return Even().process(deliveries)
        }
    }

    /// Counts what the worker has settled without a request to the broker, whose errors are meant for the worker.
    struct Observed: Settlement {
        final class Position: Sendable {
            let next = Mutex(Int64(0))
        }

        let inner: KafkaSettlement<Gate>
        let position: Position

        func settle(_ processed: ProcessedBatch<Gate>) async throws -> Settled {
            let settled = try await inner.settle(processed)
            if settled == .settled { position.next.withLock { $0 = processed.spans.map(\.next).max() ?? $0 } }
            return settled
        }
    }

    private let broker: DevelopmentBroker
    private let gate = Gate.Switch()
    private let settled = Observed.Position()
    private let producer: Producer
    private let admin: KafkaAdmin
    private let group: ServiceGroup
    private let running: Task<Void, any Error>
    private let logger = Logger.quiet
    private let next = Mutex(0)

    init() async throws {
        let input = Topic<Even.Text>("in", key: .none, partitions: 1, writers: [], readers: [])
        let output = Topic<Even.Text>("out", key: .none, partitions: 1, writers: [], readers: [])
        broker = try DevelopmentBroker(
            topics: ([input.route, output.route] + Topics.all).map { ($0.name, $0.partitions) }, logger: logger)
        producer = try Producer(broker.configuration, logger: logger)
        admin = try KafkaAdmin(broker.configuration, patience: .seconds(2), logger: logger)
        var environment = broker.environment
        environment["KAFKA_SESSION_TIMEOUT_MS"] = "2500"
        environment["KAFKA_HEARTBEAT_INTERVAL_MS"] = "300"
        let context = ServiceContext(
            settings: try Settings(TestVariables(), environment: environment), logger: logger,
            health: Health(instant: { .now }), tracer: Tracer(isOn: false, random: { 7 }),
            clock: ProcessClock(now: { Date() }, instant: { .now }), instance: "sweep", environment: environment)
        let connection = try await WorkerConnection(context, stage: .verifier, reading: input.route, of: Topics.plan)
        let services = connection.services(
            running: Gate(state: gate),
            settlement: Observed(inner: KafkaSettlement(connection, to: output), position: settled))
        let group = ServiceGroup(configuration: .init(services: services.map { .init(service: $0) }, logger: logger))
        self.group = group
        running = Task { try await group.run() }
    }

    /// - Returns: records that the group has not settled, by the broker.
    func stop(leavingMeets error: Int32? = nil) async throws -> Int64 {
        if let error { broker.inject([Int32](repeating: error, count: 100), into: .leaveGroup) }
        await group.triggerGracefulShutdown()
        try? await running.value
        return try await admin.lag(group: ServiceName.verifier.group, topics: ["in"]).reduce(0) { $0 + $1.records }
    }

    /// - Returns: the time from the end of the fault.
    func settles(_ error: Int32, _ repetition: Repetition, in row: ErrorSweepTests.Row) async throws -> Duration {
        let cell = "\(row.request) error \(error) \(repetition)"
        gate.value.withLock { $0 = (true, 0) }
        var end = try await send(4)
        if !row.isOfTheStart {
            try await until("\(cell): no batch failed") { gate.value.withLock { $0.rejected } > 0 }
        }
        let count = if case .times(let count) = repetition { count } else { 10_000 }
        broker.inject([Int32](repeating: error, count: count), into: row.request)
        if let trigger = row.trigger { broker.inject([trigger.error], into: trigger.request) }
        gate.value.withLock { $0.isClosed = false }
        if case .seconds(let seconds) = repetition {
            // As long as the fault lasts; what is settled in spite of it is settled.
            let over = ContinuousClock.now + .seconds(seconds)
            try await until("\(cell): the fault is over") { ContinuousClock.now >= over }
            broker.clearErrors(of: row.request)
            end = try await send(4)
        }
        let start = ContinuousClock.now
        try await until("\(cell): not settled") { settled.next.withLock { $0 } == end }
        broker.clearErrors(of: row.request)
        return ContinuousClock.now - start
    }

    /// - Returns: the offset behind the last record.
    private func send(_ count: Int) async throws -> Int64 {
        let first = next.withLock { next in
            next += count
            return next - count
        }
        try await producer.send(
            (first..<first + count).map { ProducerRecord(topic: "in", key: nil, value: Array("\($0 * 2)".utf8)) })
        return Int64(first + count)
    }

    private func until(_ what: String, _ isSo: () async throws -> Bool) async throws {
        // Ten requests that each meet their timeout of 10 s, and the pauses between them.
        let end = ContinuousClock.now + .hangLimit
        while try await !isSo() {
            guard ContinuousClock.now < end else { throw NeverSettled(description: what) }
            try Task.checkCancellation()
            await Task.yield()
        }
    }
}
