import CRDKafka
import Logging
import Synchronization
import Threads

/// Writes records and confirms them only when all in-sync replicas have them.
///
/// A fatal error (only an idempotent producer has them) fails all waiting sends; the next `send` creates another client.
public final class Producer: Sendable {
    private struct State {
        var pump: DeliveryPump
        var retired = 0
        var isClosed = false
        /// Whether the required topics were found as expected.
        var isVerified: Bool
    }

    private let state: Mutex<State>
    private let required: [String: Int]
    private let makePump: @Sendable () throws -> DeliveryPump

    /// Does not connect: an unavailable broker shows in `warmUp`, or in the first `send`.
    /// - Parameter onStatistics: called on the producer's own thread every `statistics.interval.ms` (10 s if not set); must
    ///   return quickly.
    ///   - requiring: topics and the least number of partitions of each. Nothing is sent before ``warmUp()`` has seen them: a
    ///     broker with `auto.create.topics.enable` would create the topic of a record, with one partition.
    ///   - messageTimeout: timeout of a record's confirmation, unless the operator sets `message.timeout.ms`.
    ///     The default outlasts a broker that crashed (fenced after 9 s) and the election that follows.
    /// - Throws: `KafkaConfigurationError`.
    public init(
        _ configuration: KafkaConfiguration, requiring required: [String: Int] = [:],
        messageTimeout: Duration = .seconds(60), logger: Logger,
        onStatistics: (@Sendable (KafkaStatistics) -> Void)? = nil
    ) throws {
        try configuration.validate()
        var settings = configuration.producerSettings(messageTimeout: messageTimeout)
        settings.emitStatistics(onStatistics != nil)
        let makePump = { @Sendable [settings] in
            try DeliveryPump(settings: settings, logger: logger, onStatistics: onStatistics)
        }
        self.makePump = makePump
        self.required = required
        state = Mutex(State(pump: try makePump(), isVerified: required.isEmpty))
    }

    deinit { state.withLock { $0.pump.drain(within: .zero) } }

    /// Returns when the delivery report says "persisted".
    ///
    /// Without room in the queue it throws at once (`retry`), and the caller may repeat it. A cancelled or late sender
    /// stops waiting, its record does not stop: it may be written all the same.
    /// - Parameter deadline: exact to some 20 ms; nil waits for the report, which comes within `message.timeout.ms`.
    /// - Returns: the place of the record (its own offset, not the next).
    /// - Throws: `KafkaError`, `CancellationError`.
    public func send(_ record: ProducerRecord, deadline: Duration? = nil) async throws -> TopicPartitionOffset {
        try checkVerified()
        let pump = try runningPump()
        return try await send(record, by: pump) { delivery in
            if let deadline { pump.expire(delivery, at: .now + deadline) }
        }
    }

    /// Writes a record without a key to another partition where one does not confirm it in time, for readers that drop repeats: it
    /// may be written to each of them.
    ///
    /// A broker that this process alone does not reach keeps its partitions, and nothing but another partition helps. One that
    /// has not confirmed a record is avoided for ten seconds, unless all have not.
    /// - Parameters:
    ///   - deadline: of all attempts.
    ///   - patience: how long a partition may take.
    /// - Throws: as ``send(_:deadline:)``.
    public func send(
        _ record: ProducerRecord, deadline: Duration, elsewhereAfter patience: Duration
    ) async throws -> TopicPartitionOffset {
        try checkVerified()
        let end = ContinuousClock.now + deadline
        while true {
            let pump = try runningPump()
            do {
                return try await send(record, by: pump) { pump.expire($0, at: end, lateAt: .now + patience) }
            } catch is PartitionIsLate {}
        }
    }

    private func send(
        _ record: ProducerRecord, by pump: DeliveryPump, limiting limit: (PendingSend) -> Void
    ) async throws -> TopicPartitionOffset {
        let delivery = PendingSend()
        delivery.expect()
        try pump.enqueue(record, for: delivery)
        delivery.seal()
        limit(delivery)
        let report = try await delivery.outcome()
        return TopicPartitionOffset(topic: record.topic, partition: report.partition, offset: report.offset)
    }

    /// Enqueues all records, waiting for room where there is none, then waits for all reports.
    /// - Throws: the first failure, after every report has arrived: no record of the batch is in flight any more, some may be
    ///   written. `CancellationError` at once, with records possibly in flight.
    public func send(_ records: [ProducerRecord]) async throws {
        if let first = try await deliver(records).min(by: { $0.key < $1.key }) { throw first.value }
    }

    /// Sends records and returns which are written, so that those need not be sent again.
    ///
    /// A record that cannot be enqueued stops the batch, so that fewer are repeated when it is sent again.
    /// - Returns: the results of the records that are not confirmed, by their place in the batch; a few of those may be
    ///   written all the same. Empty when all are.
    /// - Throws: `CancellationError` at once, with records possibly in flight; `KafkaError` if none was enqueued.
    public func deliver(_ records: [ProducerRecord]) async throws -> [Int: any Error] {
        guard !records.isEmpty else { return [:] }
        try checkVerified()
        let pump = try runningPump()
        let delivery = PendingSend()
        for (index, record) in records.enumerated() {
            delivery.expect()
            do {
                try await handOver(record, to: pump, for: delivery, index: index)
            } catch {
                delivery.refuse(error, index: index)
                for skipped in records.indices.dropFirst(index + 1) {
                    delivery.expect()
                    delivery.refuse(error, index: skipped)
                }
                break
            }
        }
        delivery.seal()
        do {
            _ = try await delivery.outcome()
            return [:]
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            return delivery.failures
        }
    }

    private func handOver(
        _ record: ProducerRecord, to pump: DeliveryPump, for delivery: PendingSend, index: Int
    ) async throws {
        while true {
            let served = pump.reportsServed
            do {
                return try pump.enqueue(record, for: delivery, index: index)
            } catch let error as KafkaError where error.code == RD_KAFKA_RESP_ERR__QUEUE_FULL.rawValue {
                try Task.checkCancellation()
                await pump.room(since: served)
            }
        }
    }

    /// Connects and learns the topic's leaders, so that the first record does not wait for it: awaited before
    /// readiness.
    /// - Throws: `KafkaError`; `missing` if the topic does not exist.
    public func warmUp(topic: String) async throws {
        let pump = try runningPump()
        _ = try await BlockingRequest().ask {
            try pump.withHandle { try $0.metadata(topic: topic, timeout: .seconds(10)) }
        }
    }

    /// Connects and compares the required topics, to be awaited before readiness.
    /// - Throws: `KafkaError`; `missing` if a topic does not exist or has too few partitions.
    public func warmUp() async throws {
        let pump = try runningPump()
        let found = try await BlockingRequest().ask {
            try pump.withHandle { try $0.partitionCounts(timeout: .seconds(10)) }
        }
        guard let found else { throw KafkaError.closed("producer") }
        for (topic, partitions) in required.sorted(by: { $0.key < $1.key }) {
            guard let count = found[topic] else {
                throw KafkaError(
                    RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART,
                    detail: "the topic \(topic) does not exist: run setup against this cluster")
            }
            guard count >= partitions else {
                throw KafkaError(
                    RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART,
                    detail:
                        "the topic \(topic) has \(count) of \(partitions) partitions: the broker may have created it "
                        + "by itself; delete it if it is empty and run setup, which names other differences")
            }
        }
        state.withLock { $0.isVerified = true }
        if let topic = required.keys.sorted().first { try await warmUp(topic: topic) }
    }

    /// The cluster's id; positions belong to it.
    public func clusterId() async throws -> String {
        let pump = try runningPump()
        let answer = try await BlockingRequest().ask { try pump.withHandle { try $0.clusterId(timeout: .seconds(10)) } }
        guard let answer else { throw KafkaError.closed("producer") }
        return answer
    }

    /// How often a client has turned fatal since the start.
    public var fatalErrors: Int { state.withLock { $0.retired + ($0.pump.fatalError == nil ? 0 : 1) } }

    /// Accepts nothing new, waits for what is in flight, and fails what is not written at the deadline, so that no sender is
    /// left waiting.
    public func close(deadline: Duration) async {
        let pump = state.withLock { state in
            state.isClosed = true
            return state.pump
        }
        pump.drain(within: deadline)
        await pump.ended()
    }

    /// The effective value of a librdkafka setting.
    func setting(_ name: String) -> String? {
        (try? runningPump())?.withHandle { $0.setting(name) } ?? nil
    }

    private func checkVerified() throws {
        guard state.withLock({ $0.isVerified }) else {
            throw KafkaError(
                RD_KAFKA_RESP_ERR__IN_PROGRESS, detail: "the topics have not been compared with the expected ones yet")
        }
    }

    private func runningPump() throws -> DeliveryPump {
        try state.withLock { state in
            guard !state.isClosed else { throw KafkaError.closed("producer") }
            if state.pump.fatalError != nil {
                let fresh = try makePump()
                state.retired += 1
                state.pump = fresh
            }
            return state.pump
        }
    }
}
