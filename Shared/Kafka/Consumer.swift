import Logging
import Threads

/// A member of a consumer group, on a thread of its own, which its calls may block.
///
/// It decides nothing: rebalances are turns that the caller answers, so that positions can be looked up in a database in
/// between, and nothing is committed by itself.
///
/// Dropping a consumer without `close` is a crash as far as the group is concerned: it notices after the session timeout.
public actor Consumer {
    /// Where to read if there is no position, or it is not in the log any more.
    public enum OffsetReset: String, Sendable {
        /// From the first record there is. Repeats, never skips.
        case earliest
        /// Nowhere: the turn throws with meaning `positionLost`, and a person decides.
        case error
    }

    private let thread = DedicatedThread(name: "kafka-consume")
    private let logger: Logger
    private let onStatistics: (@Sendable (KafkaStatistics) -> Void)?
    private var handle: ConsumerHandle?
    private var state = TurnState()
    private var paused: [TopicPartition] = []
    /// How often partitions were given back since the start: what was remembered about them before is void.
    public private(set) var revocations = 0
    /// What librdkafka reported and tries again by itself; nil once a record came.
    public private(set) var lastError: KafkaError?

    /// The thread of its own.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// Does not connect.
    /// - Parameter onStatistics: called on the consumer's thread every `statistics.interval.ms` (10 s if not set).
    /// - Throws: `KafkaConfigurationError`.
    public init(
        _ configuration: KafkaConfiguration, group: String, offsetReset: OffsetReset = .earliest, logger: Logger,
        onStatistics: (@Sendable (KafkaStatistics) -> Void)? = nil
    ) throws {
        try configuration.validate()
        var settings = configuration.consumerSettings(group: group, offsetReset: offsetReset)
        settings.emitStatistics(onStatistics != nil)
        self.logger = logger
        self.onStatistics = onStatistics
        handle = try ConsumerHandle(settings: settings, logger: logger)
    }

    /// Joins the group; the partitions come as a turn.
    public func subscribe(to topics: [String]) throws {
        try opened().subscribe(to: topics)
    }

    /// Waits for something to happen, then takes what else is there, up to the limit.
    ///
    /// Must be called more often than `max.poll.interval.ms` (5 minutes), or `keepAlive` in its stead: otherwise the member
    /// is put out of the group.
    /// - Throws: `KafkaError` for what librdkafka does not retry by itself; the consumer stays usable unless the meaning is
    ///   `fatal`.
    public func turn(limit: Int, wait: Duration) throws -> ConsumerTurn {
        let handle = try opened()
        try resume(handle)
        var records = state.takeHeld(limit: limit)
        let end = ContinuousClock.now + wait
        if records.isEmpty, let turn = try state.next() { return turn }
        while records.count < max(limit, 1), !state.isRebalancing {
            guard let occurrence = handle.poll(within: records.isEmpty ? end - .now : .zero) else {
                if records.isEmpty, end > .now { continue }
                break
            }
            if case .record(let record) = occurrence {
                records.append(record)
                lastError = nil
            } else if let event = event(of: occurrence) {
                state.postpone(event)
                break
            }
        }
        if !records.isEmpty { return .records(records) }
        return try state.next() ?? .idle
    }

    /// Stays in the group while the caller cannot take records, as during a database's outage: reading pauses until the
    /// next turn.
    /// - Returns: false if a rebalance waits: what is in hand is about to belong to someone else, take the next turn.
    @discardableResult
    public func keepAlive() throws -> Bool {
        let handle = try opened()
        if paused.isEmpty, !state.isRebalancing {
            let partitions = try handle.assignment()
            if !partitions.isEmpty { try handle.setPaused(true, partitions) }
            paused = partitions
        }
        switch handle.poll(within: .zero) {
        case .record(let record): state.hold(record)
        case .some(let occurrence):
            if let event = event(of: occurrence) { state.postpone(event) }
        case nil: break
        }
        return !state.isRebalancing
    }

    /// Takes partitions, each at its position: the answer to `assigned`, with all of its partitions.
    /// - Parameter positions: offsets, or `TopicPartitionOffset.beginning`, `.end`, `.committed`.
    public func assign(_ positions: [TopicPartitionOffset]) throws {
        try opened().assign(positions)
        paused = []
        state.answered()
    }

    /// Gives all partitions back: the answer to `revoked`.
    public func unassign() throws {
        revocations += 1
        try opened().assign(nil)
        paused = []
        state.answered()
    }

    /// What is being read.
    public func assignment() throws -> [TopicPartition] { try opened().assignment() }

    /// Stores the group's positions at the broker and waits for its answer.
    /// - Parameters:
    ///   - offsets: of the **next** records.
    ///   - patience: how long the coordinator may take; past it the offsets may be stored all the same, which is harmless.
    /// - Throws: `KafkaError`; with meaning `fenced` the partitions are, or are about to be, someone else's.
    public func commit(_ offsets: [TopicPartitionOffset], patience: Duration = .seconds(10)) throws {
        guard !offsets.isEmpty else { return }
        try opened().commit(offsets, timeout: patience)
    }

    /// Reads on elsewhere; what was polled ahead is dropped. Only in partitions that are being read: right after `assign`
    /// it may throw `retry`, so give the position to `assign` then.
    public func seek(_ positions: [TopicPartitionOffset]) throws {
        guard !positions.isEmpty else { return }
        let handle = try opened()
        try handle.seek(positions, timeout: Self.patience)
        state.forget(Set(positions.map(\.topicPartition)))
    }

    /// The group's positions at the broker, nil where there is none; in the order asked.
    public func committed(_ partitions: [TopicPartition]) throws -> [TopicPartitionOffset?] {
        guard !partitions.isEmpty else { return [] }
        return try opened().client.committed(partitions, timeout: Self.patience)
    }

    /// The first offset in the log and the one after the last, asked of the broker.
    public func watermarks(_ partition: TopicPartition) throws -> (low: Int64, high: Int64) {
        try opened().client.watermarks(partition, timeout: Self.patience)
    }

    /// The same from the last fetch, for lag without asking; nil before there was one.
    public func knownWatermarks(_ partition: TopicPartition) throws -> (low: Int64, high: Int64)? {
        try opened().knownWatermarks(partition)
    }

    /// The cluster's id; positions belong to it.
    public func clusterId() throws -> String {
        try opened().client.clusterId(timeout: Self.patience)
    }

    /// Gives the partitions back and leaves the group. A second call does nothing.
    ///
    /// The coordinator may be away: then the deadline ends the wait, the group notices after the session timeout, and
    /// nothing is lost, because nothing relies on leaving. A call under way on this consumer comes first (10 s at most, or its own wait).
    /// - Returns: false if the deadline passed; the caller logs it.
    @discardableResult
    public func close(deadline: Duration) -> Bool {
        guard let closing = handle.take() else { return true }
        state = TurnState()
        let hasLeft = closing.close(deadline: deadline)
        if !hasLeft { logger.warning("the consumer could not leave its group in time; the group notices by itself") }
        return hasLeft
    }

    /// The effective value of a librdkafka setting.
    func setting(_ name: String) throws -> String? { try opened().client.setting(name) }

    // MARK: Inside

    /// How long a question to the broker may take.
    private static let patience = Duration.seconds(10)

    private func opened() throws -> ConsumerHandle {
        guard let handle else { throw KafkaError.closed("consumer") }
        return handle
    }

    private func resume(_ handle: ConsumerHandle) throws {
        guard !paused.isEmpty else { return }
        try handle.setPaused(false, paused)
        paused = []
    }

    /// What the caller has to hear about; nil for what is dealt with here.
    private func event(of occurrence: ConsumerHandle.Occurrence) -> TurnState.Deferred? {
        switch occurrence {
        case .assigned(let partitions): return .turn(.assigned(partitions))
        case .revoked(let partitions): return .turn(.revoked(partitions))
        case .statistics(let statistics):
            onStatistics?(statistics)
            return nil
        case .failure(let error):
            switch error.meaning {
            case .retry, .fenced:
                // librdkafka tries again by itself; a lost membership comes as a revoke.
                logger.warning("consumer: \(error)", metadata: ["code": "\(error.name)"])
                lastError = error
                return nil
            case .positionLost, .missing, .unacceptable, .refused, .fatal:
                return .failure(error)
            }
        case .record, .other: return nil
        }
    }
}
