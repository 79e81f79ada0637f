import Chassis
import Contracts
import Kafka

import struct Foundation.Date

/// Records of Kafka topics, read as a member of a consumer group.
public actor KafkaSource: Source {
    private let consumer: Consumer
    private let worker: String
    private let starting: any StartingPositions
    private let limit: Int
    private let wait: Duration
    private let checkInterval: Duration
    private var nextCheck: ContinuousClock.Instant
    private let logger: Logger
    private let topic: String
    private var assigned: [TopicPartition] = []
    /// The first offset that is not settled, of the partitions in which it is known.
    private var unsettled: [TopicPartition: Place] = [:]
    /// The same once the current batch is settled.
    private var behindBatch: [TopicPartition: Place] = [:]

    private struct Place {
        var offset: Int64
        /// Of the record at that offset, or of the last before it.
        var timestamp: Date?
    }

    /// - Parameters:
    ///   - consumer: subscribed already.
    ///   - worker: its name in metrics.
    ///   - starting: where a partition is read from when it is assigned and after a rewind.
    ///   - limit: maximum number of records in a batch.
    ///   - wait: how long ``next()`` waits for the first record.
    ///   - topic: the subscribed one, for the lag of the group while this member has no partition.
    ///   - checkInterval: how often an idle source checks whether its stored position was changed.
    public init(
        _ consumer: Consumer, for worker: String, startingAt starting: any StartingPositions, limit: Int = 500,
        wait: Duration = .seconds(1), of topic: String, checkInterval: Duration = .seconds(5),
        logger: Logger
    ) {
        self.consumer = consumer
        self.worker = worker
        self.starting = starting
        self.limit = limit
        self.wait = wait
        self.topic = topic
        self.checkInterval = checkInterval
        nextCheck = .now + checkInterval
        self.logger = logger
    }

    /// Answers the group's assignments and revocations meanwhile.
    public func next() async throws -> Batch? {
        // The caller has settled the batch before, or has called ``rewind()``.
        unsettled.merge(behindBatch) { $1 }
        behindBatch = [:]
        switch try await consumer.turn(limit: limit, wait: wait) {
        case .idle:
            try await checkPosition()
            return nil
        case .records(let records):
            for record in records {
                let partition = record.topicPartition
                if behindBatch[partition] == nil {
                    unsettled[partition] = Place(offset: record.offset, timestamp: record.timestamp)
                }
                behindBatch[partition] = Place(offset: record.offset + 1, timestamp: record.timestamp)
            }
            return Batch(records: records.map(Batch.Record.init))
        case .assigned(let partitions):
            take(partitions, "assigned")
            // An empty assignment needs an answer, too: without one the consumer would repeat it for ever.
            if partitions.isEmpty { try await consumer.assign([]) } else { try await rewind() }
            return nil
        case .revoked(let partitions):
            take([], "revoked")
            logger.debug("Revoked", metadata: ["partitions": "\(partitions)"])
            try await consumer.unassign()
            return nil
        }
    }

    /// Assigns again rather than seeks: an assignment discards what was fetched and not yet read, whatever its state.
    public func rewind() async throws {
        behindBatch = [:]
        guard !assigned.isEmpty else { return }
        let positions = try await starting.positions(of: assigned)
        for position in positions where position.offset >= 0 {
            guard unsettled[position.topicPartition]?.offset != position.offset else { continue }
            unsettled[position.topicPartition] = Place(offset: position.offset)
        }
        try await consumer.assign(positions)
    }

    /// A busy worker notices at the next settlement that its stored position was changed; an idle one checks.
    private func checkPosition() async throws {
        guard !assigned.isEmpty, nextCheck <= .now else { return }
        nextCheck = .now + checkInterval
        guard try await starting.haveChanged(for: assigned) else { return }
        logger.warning("Stored Kafka offset was changed, as by restoring a backup; continuing from there")
        try await rewind()
    }

    /// Leaves the group.
    public func close() async throws {
        take([], "released")
        await consumer.close(deadline: .seconds(10))
    }

    private func take(_ partitions: [TopicPartition], _ change: String) {
        assigned = partitions
        unsettled = [:]
        behindBatch = [:]
        Metric.rebalances.counter(worker, change).increment()
        logger.info("Partitions \(change)", metadata: ["worker": "\(worker)", "owned": "\(partitions.count)"])
    }
}

extension KafkaSource {
    /// The lag of a partition.
    struct Lag: Sendable, Equatable {
        var partition: TopicPartition
        var records: Int64
        /// Age of the record that is processed; zero at the end of the partition.
        var seconds: Double
    }

    /// Of every assigned partition; the current batch counts as not settled.
    /// - Parameter askingBroker: asks for the end of every partition. Otherwise the last fetch is used, except where
    ///   there was none yet.
    func lag(now: Date, askingBroker: Bool = false) async throws -> [Lag] {
        let partitions = assigned
        var watermarks: [TopicPartition: Consumer.Watermarks] = [:]
        if !askingBroker {
            for partition in partitions { watermarks[partition] = try await consumer.knownWatermarks(partition) }
        }
        let unknown = partitions.filter { watermarks[$0] == nil }
        for (partition, asked) in zip(unknown, try await consumer.watermarks(unknown)) { watermarks[partition] = asked }
        return partitions.compactMap { partition in
            // Revoked meanwhile.
            guard assigned.contains(partition), let (low, high) = watermarks[partition] else { return nil }
            // Read from the beginning where no position is known.
            let place = unsettled[partition]
            let records = max(0, high - max(place?.offset ?? low, low))
            let age = place?.timestamp.map { max(0, now.timeIntervalSince($0)) } ?? 0
            return Lag(partition: partition, records: records, seconds: records > 0 ? age : 0)
        }
    }

    /// Whether the group has given it partitions.
    var hasPartitions: Bool { !assigned.isEmpty }

    /// What waits for the whole group, asked of the brokers; nil where nothing does.
    func groupBacklog() async throws -> StallDetector.Backlog? {
        let partitions = try await consumer.partitions(of: topic)
        let committed = try await consumer.committed(partitions)
        var backlog = StallDetector.Backlog(topic: topic, partitions: 0, records: 0, settledByGroup: 0)
        for (position, (low, high)) in zip(committed, try await consumer.watermarks(partitions)) {
            let settled = max(position?.offset ?? low, low)
            backlog.settledByGroup = (backlog.settledByGroup ?? 0) + settled
            guard high > settled else { continue }
            backlog.partitions += 1
            backlog.records += high - settled
        }
        return backlog.records > 0 ? backlog : nil
    }

    /// The error that the client reported since it last delivered a record, and retries by itself.
    var clientError: String? {
        get async { await consumer.lastError.map { "\($0)" } }
    }
}

/// Decides where reading begins.
public protocol StartingPositions: Sendable {
    /// One position per partition. Throws where a dependency was unavailable; the partitions are not read until it answers.
    func positions(of partitions: [TopicPartition]) async throws -> [TopicPartitionOffset]

    /// Whether the stored positions differ from those that reading has reached. Called every few seconds while no record arrives.
    func haveChanged(for partitions: [TopicPartition]) async throws -> Bool
}

extension StartingPositions {
    /// False: Kafka rejects a reset of the offsets of a group with members.
    public func haveChanged(for partitions: [TopicPartition]) -> Bool { false }
}

/// The offsets committed to Kafka; the earliest record where there is none.
///
/// Read here rather than left to the client as `TopicPartitionOffset.committed`: where the coordinator has just moved,
/// librdkafka (2.0 to 2.15 at least) drops its request, and the partition delivers nothing until the process ends.
public struct CommittedPositions: StartingPositions {
    private let consumer: Consumer

    /// - Parameter consumer: of the group.
    public init(_ consumer: Consumer) { self.consumer = consumer }

    /// - Throws: `KafkaError` where the coordinator does not answer or has moved; the worker retries.
    public func positions(of partitions: [TopicPartition]) async throws -> [TopicPartitionOffset] {
        zip(partitions, try await consumer.committed(partitions)).map { partition, committed in
            committed ?? TopicPartitionOffset(partition, offset: TopicPartitionOffset.beginning)
        }
    }
}

extension Batch.Record {
    init(_ record: ConsumerRecord) {
        self.init(
            wire: WireRecord(
                key: record.key, value: record.value, headers: record.headers.map { WireHeader($0.name, $0.value) }),
            position: LogPosition(topic: record.topic, partition: record.partition, offset: record.offset),
            timestamp: record.timestamp)
    }
}
