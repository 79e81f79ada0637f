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
    private var assigned: [TopicPartition] = []
    /// The first place that is not settled, of the partitions in which it is known.
    private var unsettled: [TopicPartition: Place] = [:]
    /// Where that will be once the batch in hand is settled.
    private var behindBatch: [TopicPartition: Place] = [:]

    private struct Place {
        var offset: Int64
        /// Of the record that stands there, or of the last before it.
        var timestamp: Date?
    }

    /// - Parameters:
    ///   - consumer: subscribed already.
    ///   - worker: who reads, in metrics.
    ///   - starting: where a partition is read from when it is assigned and after a rewind.
    ///   - limit: records in a batch at most.
    ///   - wait: how long ``next()`` waits for the first record.
    ///   - checkInterval: how often an idle source asks whether its position was changed by others.
    public init(
        _ consumer: Consumer, for worker: String, startingAt starting: any StartingPositions, limit: Int = 500,
        wait: Duration = .milliseconds(200), checkInterval: Duration = .seconds(5), logger: Logger
    ) {
        self.consumer = consumer
        self.worker = worker
        self.starting = starting
        self.limit = limit
        self.wait = wait
        self.checkInterval = checkInterval
        nextCheck = .now + checkInterval
        self.logger = logger
    }

    /// Answers the group's assignments and revocations on the way.
    public func next() async throws -> Batch? {
        // Whoever asks for more has settled what it had, or has called ``rewind()`` before.
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
            // None wants an answer, too: without one the consumer would give the same assignment out for ever.
            if partitions.isEmpty { try await consumer.assign([]) } else { try await rewind() }
            return nil
        case .revoked(let partitions):
            take([], "revoked")
            logger.debug("Revoked", metadata: ["partitions": "\(partitions)"])
            try await consumer.unassign()
            return nil
        }
    }

    /// Assigns anew rather than seeks: an assignment discards what was fetched and not yet read, whatever its state.
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

    /// A worker that handles records notices at the next settlement that its position was changed; an idle one asks.
    private func checkPosition() async throws {
        guard !assigned.isEmpty, nextCheck <= .now else { return }
        nextCheck = .now + checkInterval
        guard try await starting.haveChanged(for: assigned) else { return }
        logger.warning("Stored position was changed, as by restoring a backup; reading on from there")
        try await rewind()
    }

    /// Leaves the group.
    public func close() async throws {
        take([], "closed")
        await consumer.close(deadline: .seconds(10))
    }

    private func take(_ partitions: [TopicPartition], _ change: String) {
        assigned = partitions
        unsettled = [:]
        behindBatch = [:]
        Metric.rebalances.counter(worker, change).increment()
        logger.info("Partitions \(change)", metadata: ["partitions": "\(partitions.count)"])
    }
}

extension KafkaSource {
    /// How far settling is behind in one partition.
    struct Lag: Sendable, Equatable {
        var partition: TopicPartition
        var records: Int64
        /// Age of the record that is worked on; zero at the end of the log.
        var seconds: Double
    }

    /// Of every partition that is read: what is in hand is not settled yet.
    /// - Parameter askingBroker: asks for the end of every partition. Otherwise the last fetch has told it, except where
    ///   there was none yet.
    func lag(now: Date, askingBroker: Bool = false) async throws -> [Lag] {
        var lags: [Lag] = []
        for partition in assigned {
            let known = askingBroker ? nil : try await consumer.knownWatermarks(partition)
            let (low, high) = if let known { known } else { try await consumer.watermarks(partition) }
            // Taken away meanwhile.
            guard assigned.contains(partition) else { continue }
            // Read from the beginning where no position is known.
            let place = unsettled[partition]
            let records = max(0, high - max(place?.offset ?? low, low))
            let age = place?.timestamp.map { max(0, now.timeIntervalSince($0)) } ?? 0
            lags.append(Lag(partition: partition, records: records, seconds: records > 0 ? age : 0))
        }
        return lags
    }

    /// What the client reported since it last delivered a record, and tries again by itself.
    var clientError: String? {
        get async { await consumer.lastError.map { "\($0)" } }
    }
}

/// Says where to begin reading.
public protocol StartingPositions: Sendable {
    /// One position per partition. Throws where a dependency was unavailable; the partitions then stay unread until it answers.
    func positions(of partitions: [TopicPartition]) async throws -> [TopicPartitionOffset]

    /// Whether the positions differ from those that reading has reached. Asked every few seconds while no record comes.
    func haveChanged(for partitions: [TopicPartition]) async throws -> Bool
}

extension StartingPositions {
    /// No: Kafka refuses to reset the offsets of a group that has members.
    public func haveChanged(for partitions: [TopicPartition]) -> Bool { false }
}

/// The offsets committed to Kafka; the earliest record where there is none.
///
/// Asked for here rather than left to the client as `TopicPartitionOffset.committed`: where the coordinator has just moved,
/// librdkafka (2.0 to 2.15 at least) drops its question, and the partition delivers nothing until the process ends.
public struct CommittedPositions: StartingPositions {
    private let consumer: Consumer

    /// - Parameter consumer: of the group.
    public init(_ consumer: Consumer) { self.consumer = consumer }

    /// - Throws: `KafkaError` where the coordinator does not answer or is none any more; the worker asks again.
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
