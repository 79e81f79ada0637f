import Logging
import Threads

import struct Foundation.Date

/// A member of a consumer group, on a thread of its own, which its calls may block.
///
/// It decides nothing: rebalances are turns that the caller answers, so that the caller can look up positions in a database in
/// between, and it commits nothing by itself.
///
/// Dropping a consumer without `close` is a crash as far as the group is concerned: the group notices after the session timeout.
public actor Consumer {
    /// Where to read if there is no position, or it is no longer in the partition.
    public enum OffsetReset: String, Sendable {
        /// From the first record there is. Repeats, never skips.
        case earliest
        /// Nowhere: the turn throws with meaning `positionLost`, and an operator decides.
        case error
    }

    /// Bytes of keys, values and headers after which a turn takes no further record. A worker holds its records several times, as read, decoded and
    /// encoded, and 500 records of a megabyte would be more than its container has.
    public static let turnBytes = 4 << 20

    private let thread = DedicatedThread(name: "kafka-consume")
    private let logger: Logger
    private let settings: [String: String]
    private var topics: [String] = []
    private var handle: ConsumerHandle?
    private var state = TurnState()
    /// How often partitions were revoked since the start: state kept about them before is invalid.
    public private(set) var revocations = 0
    /// The error that librdkafka reported and retries by itself; nil once a record came.
    public private(set) var lastError: KafkaError?

    /// Of each partition that was read to its end, the offsets from behind its last record to that end: none of them is
    /// a record. A producer's transactions leave markers there, which no client returns.
    public private(set) var emptyEnds: [TopicPartition: Range<Int64>] = [:]
    /// The offset behind the last record that was read of each partition, or at which reading began.
    private var reached: [TopicPartition: Int64] = [:]

    /// The consumer's own thread.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// Does not connect.
    /// - Throws: `KafkaConfigurationError`.
    public init(
        _ configuration: KafkaConfiguration, group: String, offsetReset: OffsetReset = .earliest, logger: Logger
    ) throws {
        try configuration.validate()
        var settings = configuration.consumerSettings(group: group, offsetReset: offsetReset)
        settings.emitStatistics(false)
        self.logger = logger
        self.settings = settings
        handle = try ConsumerHandle(settings: settings, logger: logger)
    }

    /// Joins the group; the partitions come as a turn.
    public func subscribe(to topics: [String]) throws {
        try opened().subscribe(to: topics)
        self.topics = topics
    }

    /// Waits for an event, then takes what else is there, up to the limit and to ``turnBytes``.
    ///
    /// Must be called more often than `max.poll.interval.ms` (5 minutes): otherwise the member is removed from the
    /// group.
    /// - Throws: `KafkaError` for what librdkafka does not retry by itself; the consumer stays usable unless the meaning is
    ///   `fatal`.
    public func turn(limit: Int, wait: Duration) throws -> ConsumerTurn {
        try turn(limit: limit, wait: wait, waitsBehindEnd: true)
    }

    private func turn(limit: Int, wait: Duration, waitsBehindEnd: Bool) throws -> ConsumerTurn {
        let handle = try opened()
        var records: [ConsumerRecord] = []
        var bytes = 0
        let end = ContinuousClock.now + wait
        if let turn = try state.next() { return turn }
        var mayWaitForFirst = true
        while records.count < max(limit, 1), bytes < Self.turnBytes, !state.isRebalancing {
            let mayWait = records.isEmpty && !state.isFailing && mayWaitForFirst
            guard let occurrence = handle.poll(within: mayWait ? end - .now : .zero) else {
                if mayWait, end > .now { continue }
                break
            }
            if case .record(let record) = occurrence {
                if let last = records.last, last.partition != record.partition || last.topic != record.topic {
                    reached[last.topicPartition] = last.offset + 1
                }
                bytes += record.byteCount
                records.append(record)
                lastError = nil
            } else if case .end(let end) = occurrence {
                if let last = records.last { reached[last.topicPartition] = last.offset + 1 }
                note(end)
                mayWaitForFirst = waitsBehindEnd
            } else if let event = event(of: occurrence) {
                // The errors of all partitions come together, and are one.
                state.postpone(event)
            }
        }
        guard let last = records.last else { return try state.next() ?? .idle }
        reached[last.topicPartition] = last.offset + 1
        return .records(records)
    }

    private func note(_ end: TopicPartitionOffset) {
        let begin = reached[end.topicPartition]
        emptyEnds[end.topicPartition] = begin.flatMap { $0 <= end.offset ? $0..<end.offset : nil }
    }

    /// Takes partitions, each at its position: the answer to `assigned`, with all of its partitions.
    /// - Parameter positions: offsets, or `TopicPartitionOffset.beginning`, `.end`, `.committed`.
    public func assign(_ positions: [TopicPartitionOffset]) throws {
        try opened().assign(positions)
        state.answered()
        guard !positions.isEmpty else { return }
        emptyEnds = [:]
        reached = [:]
        for position in positions {
            if position.offset == TopicPartitionOffset.beginning { reached[position.topicPartition] = 0 }
            if position.offset >= 0 { reached[position.topicPartition] = position.offset }
        }
    }

    /// Returns all partitions: the answer to `revoked`.
    public func unassign() throws {
        revocations += 1
        try opened().assign(nil)
        state.answered()
    }

    /// Leaves the group and joins it as another client, which remembers nothing of the topic.
    ///
    /// A client does not look for a topic that was deleted for minutes, and distrusts one that was created again, because its
    /// leaders count from the beginning.
    public func reopen() throws {
        close(deadline: .seconds(5))
        let opened = try ConsumerHandle(settings: settings, logger: logger)
        handle = opened
        lastError = nil
        emptyEnds = [:]
        reached = [:]
        revocations += 1
        if !topics.isEmpty { try opened.subscribe(to: topics) }
    }

    /// The record at each offset, or the first one after it. For a consumer that has not subscribed.
    ///
    /// Blocks this consumer up to the time limit. Partitions without a record there, or whose broker does not answer in time, are
    /// left out; the former are in ``emptyEnds`` until the next assignment.
    public func firstRecords(
        at positions: [TopicPartitionOffset], within limit: Duration
    ) throws -> [TopicPartition: ConsumerRecord] {
        guard !positions.isEmpty else { return [:] }
        let deadline = ContinuousClock.now + limit
        try assign(positions)
        defer { try? assign([]) }
        var found: [TopicPartition: ConsumerRecord] = [:]
        while ContinuousClock.now < deadline,
            positions.contains(where: { found[$0.topicPartition] == nil && emptyEnds[$0.topicPartition] == nil })
        {
            guard
                case .records(let records) = try turn(limit: 1000, wait: deadline - .now, waitsBehindEnd: false)
            else { continue }
            for record in records where found[record.topicPartition] == nil {
                found[record.topicPartition] = record
            }
        }
        return found
    }

    /// ``emptyEnds`` of the partitions that hold no record from a position on. For a consumer that has not subscribed.
    ///
    /// Blocks this consumer up to the time limit; partitions whose broker does not answer in time are left out.
    public func emptyEnds(
        behind positions: [TopicPartitionOffset], within limit: Duration
    ) throws -> [TopicPartition: Range<Int64>] {
        guard !positions.isEmpty else { return [:] }
        let found = try firstRecords(at: positions, within: limit)
        return emptyEnds.filter { found[$0.key] == nil }
    }

    /// Partitions that the group has given to this member and that were answered for.
    public func assignment() throws -> [TopicPartition] { try opened().assignment() }

    /// Commits the group's positions and waits for the broker's answer.
    /// - Parameters:
    ///   - offsets: of the **next** records.
    ///   - patience: timeout of the coordinator; after it the offsets may be committed all the same, which is harmless.
    /// - Throws: `KafkaError`; with meaning `fenced` the partitions belong, or are about to belong, to another member.
    public func commit(_ offsets: [TopicPartitionOffset], patience: Duration = .seconds(10)) throws {
        guard !offsets.isEmpty else { return }
        try opened().commit(offsets, timeout: patience)
    }

    /// The group's committed positions, nil where there is none; in the order asked.
    public func committed(_ partitions: [TopicPartition]) throws -> [TopicPartitionOffset?] {
        guard !partitions.isEmpty else { return [] }
        return try opened().client.committed(partitions, timeout: Self.patience)
    }

    /// Every partition that the topic has now.
    public func partitions(of topic: String) throws -> [TopicPartition] {
        let metadata = try Metadata(of: try opened().client, topic: topic, timeout: Self.patience)
        return TopicPartition.all(of: topic, count: try metadata.partitionCount(of: topic))
    }

    /// The offset of a partition's first record, and the one after its last.
    public typealias Watermarks = (low: Int64, high: Int64)

    /// The watermarks of the partitions, asked of the brokers; in the order asked.
    public func watermarks(
        _ partitions: [TopicPartition], within patience: Duration = Consumer.patience
    ) throws -> [Watermarks] {
        guard !partitions.isEmpty else { return [] }
        return try opened().client.watermarks(partitions, timeout: patience)
    }

    /// The offset of the first record of each partition that was written at a moment or later, by the records' timestamps; nil where there is
    /// none. In the order asked.
    public func offsets(of partitions: [TopicPartition], since moment: Date) throws -> [Int64?] {
        guard !partitions.isEmpty else { return [] }
        // A negative time would be one of the protocol's special ones.
        let milliseconds = max(0, Int64((moment.timeIntervalSince1970 * 1000).rounded(.up)))
        let found = try opened().client.offsets(milliseconds, of: partitions, timeout: Self.patience)
        return found.map { $0 < 0 ? nil : $0 }
    }

    /// The watermarks as of the last fetch, for lag without a request; nil before the first fetch.
    public func knownWatermarks(_ partition: TopicPartition) throws -> Watermarks? {
        try opened().knownWatermarks(partition)
    }

    /// The cluster's id; positions belong to it.
    public func clusterId() throws -> String {
        try opened().client.clusterId(timeout: Self.patience)
    }

    /// Returns the partitions and leaves the group. A second call does nothing.
    ///
    /// If the coordinator is unavailable, the deadline ends the wait, the group notices after the session timeout, and
    /// nothing is lost, because nothing relies on leaving. A call in progress on this consumer comes first (10 s at most, or its own timeout).
    /// - Returns: false if the deadline passed; the caller logs it.
    @discardableResult
    public func close(deadline: Duration) -> Bool {
        guard let closing = handle.take() else { return true }
        state = TurnState()
        let hasLeft = closing.close(deadline: deadline)
        if !hasLeft {
            logger.warning(
                "Kafka consumer could not leave its group in time; the group removes it after the session timeout")
        }
        return hasLeft
    }

    /// The effective value of a librdkafka setting.
    func setting(_ name: String) throws -> String? { try opened().client.setting(name) }

    // MARK: Internal

    /// Timeout of a request to the broker.
    public static let patience = Duration.seconds(10)

    private func opened() throws -> ConsumerHandle {
        guard let handle else { throw KafkaError.closed("consumer") }
        return handle
    }

    /// The error that the caller must handle; nil for what is handled here.
    private func event(of occurrence: ConsumerHandle.Occurrence) -> TurnState.Deferred? {
        switch occurrence {
        case .assigned(let partitions): return .turn(.assigned(partitions))
        case .revoked(let partitions): return .turn(.revoked(partitions))
        case .failure(let error):
            switch error.meaning {
            case .retry, .fenced:
                // librdkafka retries by itself; a lost membership arrives as a revocation.
                logger.warning("Kafka consumer: \(error)", metadata: ["code": "\(error.name)"])
                lastError = error
                return nil
            case .positionLost, .missing, .unacceptable, .rejected, .fatal:
                return .failure(error)
            }
        case .record, .end, .other: return nil
        }
    }
}
