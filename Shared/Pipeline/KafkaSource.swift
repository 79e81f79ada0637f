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
    private let logger: Logger
    private var assigned: [TopicPartition] = []
    /// The last record read of each partition.
    private var last: [TopicPartition: ConsumerRecord] = [:]

    /// - Parameters:
    ///   - consumer: subscribed already.
    ///   - worker: who reads, in metrics.
    ///   - starting: where a partition is read from when it is assigned and after a rewind.
    ///   - limit: records in a batch at most.
    ///   - wait: how long ``next()`` waits for the first record.
    public init(
        _ consumer: Consumer, for worker: String, startingAt starting: any StartingPositions, limit: Int = 500,
        wait: Duration = .milliseconds(200), logger: Logger
    ) {
        self.consumer = consumer
        self.worker = worker
        self.starting = starting
        self.limit = limit
        self.wait = wait
        self.logger = logger
    }

    /// Answers the group's assignments and revocations on the way.
    public func next() async throws -> Batch? {
        switch try await consumer.turn(limit: limit, wait: wait) {
        case .idle:
            return nil
        case .records(let records):
            for record in records { last[record.topicPartition] = record }
            return Batch(records: records.map(Batch.Record.init))
        case .assigned(let partitions):
            take(partitions, "assigned")
            try await rewind()
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
        guard !assigned.isEmpty else { return }
        try await consumer.assign(try await starting.positions(of: assigned))
    }

    /// Leaves the group.
    public func close() async throws {
        take([], "closed")
        await consumer.close(deadline: .seconds(10))
    }

    private func take(_ partitions: [TopicPartition], _ change: String) {
        assigned = partitions
        last = [:]
        Metric.rebalances.counter(worker, change).increment()
        logger.info("Partitions \(change)", metadata: ["partitions": "\(partitions.count)"])
    }
}

extension KafkaSource {
    /// How far reading is behind in one partition.
    struct Lag: Sendable {
        var partition: TopicPartition
        var records: Int64
        /// Age of the record that was read last; zero at the end of the log.
        var seconds: Double
    }

    /// Of every partition that is read, by what the last fetch said of its end.
    func lag(now: Date) async throws -> [Lag] {
        var lags: [Lag] = []
        for partition in assigned {
            guard let end = try await consumer.knownWatermarks(partition)?.high else { continue }
            guard let last = last[partition], last.offset + 1 < end else {
                lags.append(Lag(partition: partition, records: 0, seconds: 0))
                continue
            }
            lags.append(
                Lag(
                    partition: partition, records: end - last.offset - 1,
                    seconds: last.timestamp.map { max(0, now.timeIntervalSince($0)) } ?? 0))
        }
        return lags
    }
}

/// Says where to begin reading.
public protocol StartingPositions: Sendable {
    /// One position per partition. Throws where the world failed; the partitions then stay unread until it answers.
    func positions(of partitions: [TopicPartition]) async throws -> [TopicPartitionOffset]
}

/// The offsets committed to Kafka; the earliest record where there is none.
public struct CommittedPositions: StartingPositions {
    /// All fields.
    public init() {}

    /// Asks nobody: the client looks the offsets up when it begins to fetch.
    public func positions(of partitions: [TopicPartition]) -> [TopicPartitionOffset] {
        partitions.map { TopicPartitionOffset($0, offset: TopicPartitionOffset.committed) }
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
