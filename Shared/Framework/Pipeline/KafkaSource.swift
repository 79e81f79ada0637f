import Chassis
import Kafka
import Records

import struct Foundation.Date

/// Records of Kafka topics, read as a member of a consumer group.
public actor KafkaSource: Source {
    let consumer: Consumer
    private let worker: String
    private let starting: any StartingPositions
    let reader: Consumer
    private let check: PositionCheck
    private let limit: Int
    private let wait: Duration
    private let checkInterval: Duration
    private var nextCheck: ContinuousClock.Instant
    private var nextComparison: ContinuousClock.Instant
    private let now: @Sendable () -> Date
    private let logger: Logger
    let topic: String
    var assigned: [TopicPartition] = []
    /// The first offset that is not settled, of the partitions in which it is known.
    var unsettled: [TopicPartition: Place] = [:]
    /// The same once the current batch is settled.
    private var behindBatch: [TopicPartition: Place] = [:]
    /// Of the records before `unsettled`. Kept when a partition is revoked, because a broker forgets the committed offsets of
    /// a topic that is deleted.
    private var evidence: [TopicPartition: PositionEvidence] = [:]
    private var needsOtherClient = false
    /// Until the first assignment is answered, the client knows of the topic only what it is now.
    private var isNewClient = true
    private var isComparing = false
    private var finished: Comparison?
    /// Of partitions; a comparison that began before the last one is outdated.
    private var assignments = 0

    struct Place {
        var offset: Int64
        /// Of the record at that offset, or of the last before it.
        var timestamp: Date?
        /// Stored with the offset.
        var evidence: PositionEvidence?
    }

    private struct Comparison {
        var positions: [TopicPartitionOffset]
        var findings: [TopicPartition: PositionCheck.Finding]
    }

    /// - Parameters:
    ///   - consumer: subscribed already.
    ///   - worker: its name in metrics.
    ///   - reader: has not subscribed; reads single records, to notice that the topic was deleted and created again.
    ///   - starting: where a partition is read from when it is assigned and after a rewind.
    ///   - limit: maximum number of records in a batch.
    ///   - wait: how long ``next()`` waits for the first record.
    ///   - topic: the subscribed one, for the lag of the group while this member has no partition.
    ///   - checkInterval: how often the source checks whether the topic is the one that it has read, and an idle one whether
    ///     its stored position was changed.
    ///   - now: the clock that dates a restart at the beginning of a partition.
    public init(
        _ consumer: Consumer, reader: Consumer, for worker: String, startingAt starting: any StartingPositions,
        limit: Int = 500, wait: Duration = .seconds(1), of topic: String, checkInterval: Duration = .seconds(5),
        now: @escaping @Sendable () -> Date, logger: Logger
    ) {
        self.consumer = consumer
        self.worker = worker
        self.starting = starting
        self.limit = limit
        self.wait = wait
        self.topic = topic
        self.checkInterval = checkInterval
        self.now = now
        self.reader = reader
        check = PositionCheck(reader: reader)
        nextCheck = .now + checkInterval
        nextComparison = nextCheck
        self.logger = logger
    }

    /// Answers the group's assignments and revocations meanwhile.
    public func next() async throws -> Batch? {
        // The caller has settled the batch before, or has called ``rewind()``.
        unsettled.merge(behindBatch) { $1 }
        for (partition, place) in behindBatch { evidence[partition] = place.evidence ?? evidence[partition] }
        behindBatch = [:]
        guard try await !beginsAgain() else { return nil }
        let turn = try await noticingTopic { try await consumer.turn(limit: limit, wait: wait) }
        switch turn {
        case .idle:
            try await checkPosition()
            return nil
        case .records(let records):
            return batch(of: records)
        case .assigned(let partitions):
            take(partitions, "assigned")
            // An empty assignment needs an answer, too: without one the consumer would repeat it for ever.
            if partitions.isEmpty { try await assign([]) } else { try await rewind() }
            return nil
        case .revoked(let partitions):
            take([], "revoked")
            logger.debug("Revoked", metadata: ["partitions": "\(partitions)"])
            try await noticingTopic { try await consumer.unassign() }
            return nil
        }
    }

    private func batch(of records: [ConsumerRecord]) -> Batch {
        var first: [TopicPartition: ConsumerRecord] = [:]
        var last: [TopicPartition: ConsumerRecord] = [:]
        for record in records {
            if first[record.topicPartition] == nil { first[record.topicPartition] = record }
            last[record.topicPartition] = record
        }
        for (partition, record) in first {
            unsettled[partition] = Place(offset: record.offset, timestamp: record.timestamp)
        }
        for (partition, record) in last {
            let read = (evidence[partition] ?? PositionEvidence()).adding(
                first: PositionEvidence.Record(first[partition] ?? record), last: PositionEvidence.Record(record))
            behindBatch[partition] = Place(
                offset: record.offset + 1, timestamp: record.timestamp, evidence: read.forgettingRestart(at: now()))
        }
        var batch = Batch(records: records.map(Batch.Record.init))
        batch.evidence = behindBatch.compactMapValues(\.evidence)
        return batch
    }

    /// Assigns again rather than seeks: an assignment discards what was fetched and not yet read, whatever its state.
    public func rewind() async throws {
        behindBatch = [:]
        forgetComparison()
        if needsOtherClient {
            // Throws as long as the topic is missing.
            _ = try await reader.partitions(of: topic)
            return try await reopen()
        }
        guard !assigned.isEmpty else { return }
        let (positions, hasRestarted) = try await noticingTopic {
            try await compared(starting.positions(of: assigned))
        }
        guard !hasRestarted || isNewClient else { return try await reopen() }
        for position in positions {
            let partition = position.topicPartition
            evidence[partition] = PositionEvidence(text: position.metadata)
            guard unsettled[partition]?.offset != position.offset else { continue }
            unsettled[partition] = position.offset >= 0 ? Place(offset: position.offset) : nil
        }
        try await assign(positions)
        isNewClient = false
    }

    private func assign(_ positions: [TopicPartitionOffset]) async throws {
        try await noticingTopic { try await consumer.assign(positions) }
    }

    /// A busy worker notices at the next settlement that its stored position was changed; an idle one checks.
    private func checkPosition() async throws {
        guard !assigned.isEmpty, nextCheck <= .now else { return }
        nextCheck = .now + checkInterval
        guard try await starting.haveChanged(for: assigned) else { return }
        logger.warning("Stored Kafka offset was changed, as by restoring a backup; continuing from there")
        try await rewind()
    }

    /// Compares, beside the reading, what was read with what the topic has.
    /// - Returns: whether it has others, so that reading has begun again.
    private func beginsAgain() async throws -> Bool {
        if let finished {
            self.finished = nil
            guard !finished.findings.values.contains(where: \.isDifferent) else {
                try await rewind()
                return true
            }
            if finished.findings.values.contains(.unknown) { try await reader.reopen() }
            for position in finished.positions where finished.findings[position.topicPartition]?.isSame == true {
                let compared = PositionEvidence(text: position.metadata)
                evidence[position.topicPartition] = evidence[position.topicPartition]?.confirmed(compared)
            }
        }
        if !isComparing, nextComparison <= .now { compare() }
        return false
    }

    private func compare() {
        nextComparison = .now + checkInterval
        let positions = assigned.compactMap { partition -> TopicPartitionOffset? in
            guard let evidence = evidence[partition], !evidence.records.isEmpty else { return nil }
            return TopicPartitionOffset(partition, offset: unsettled[partition]?.offset ?? 0, metadata: evidence.text)
        }
        guard !positions.isEmpty else { return }
        isComparing = true
        Task { [check, assignments] in
            // A broker that cannot be asked is asked again; the worker's own requests tell of it.
            let findings = (try? await check.findings(of: positions)) ?? [:]
            isComparing = false
            if assignments == self.assignments { finished = Comparison(positions: positions, findings: findings) }
        }
    }

    /// Remembers where the topic does not exist, or the client cannot be used any more: the next rewind begins with another client.
    private func noticingTopic<Value: Sendable>(_ body: () async throws -> Value) async throws -> Value {
        do {
            return try await body()
        } catch let error as KafkaError where error.meaning == .missing || error.meaning == .fatal {
            needsOtherClient = true
            throw error
        }
    }

    private func reopen() async throws {
        take([], "released")
        try await reader.reopen()
        try await consumer.reopen()
        needsOtherClient = false
        isNewClient = true
    }

    /// The positions, and whether partitions are not the ones that were read, so that their beginning is stored now.
    private func compared(
        _ stored: [TopicPartitionOffset]
    ) async throws -> (positions: [TopicPartitionOffset], hasRestarted: Bool) {
        var positions = stored
        for index in positions.indices {
            let position = positions[index]
            let known = PositionEvidence(text: position.metadata)
            guard known != PositionEvidence() else {
                // Another program has committed it, such as a tool that resets offsets.
                positions[index].metadata = evidence[position.topicPartition]?.text
                continue
            }
            if position.offset > known.end { positions[index].offset = known.end }
            if 0..<position.offset ~= known.end { warn(position, read: known.end) }
        }
        let findings = try await check.findings(of: positions)
        if findings.values.contains(.unknown) { try await reader.reopen() }
        var restarted: [TopicPartitionOffset] = []
        for index in positions.indices {
            let position = positions[index]
            switch findings[position.topicPartition] {
            case .different(let low):
                positions[index] = TopicPartitionOffset(
                    position.topicPartition, offset: low, metadata: PositionEvidence(restartedAt: now()).text)
                restarted.append(positions[index])
            case .same(let low):
                if 0..<low ~= position.offset { warn(position, low: low) }
                let isPlace = position.offset >= 0 || position.offset == TopicPartitionOffset.beginning
                if isPlace { positions[index].offset = max(position.offset, low) }
            case .unknown, nil: break
            }
        }
        guard !restarted.isEmpty else { return (positions, false) }
        try await starting.restart(restarted)
        report(restarted)
        for position in restarted { evidence[position.topicPartition] = PositionEvidence(text: position.metadata) }
        return (positions, true)
    }

    /// An offset that was changed by hand would skip the records between the last that was read and itself.
    private func warn(_ position: TopicPartitionOffset, read: Int64) {
        logger.error(
            "The stored offset is ahead of the records that were read; reading continues behind the last of them",
            metadata: [
                "topic": "\(position.topic)", "partition": "\(position.partition)",
                "stored_offset": "\(position.offset)", "next_offset": "\(read)",
            ])
    }

    private func report(_ restarted: [TopicPartitionOffset]) {
        logger.error(
            """
            The topic was deleted and created again, or it lost records: it does not have those that were read. Reading it \
            from its beginning, which repeats nothing; the runbook says how to recover what it lost
            """,
            metadata: [
                "topic": "\(topic)", "worker": "\(worker)",
                "partitions": "\(restarted.map(\.partition).sorted())",
            ])
        Metric.topicRestarts.counter(worker, topic).increment()
    }

    /// Kafka deleted records that the group had not read. The worker continues, because waiting restores none of them.
    private func warn(_ position: TopicPartitionOffset, low: Int64) {
        logger.error(
            "Kafka deleted records before this group read them; the runbook says how to recover them",
            metadata: [
                "topic": "\(position.topic)", "partition": "\(position.partition)",
                "first_deleted_offset": "\(position.offset)", "next_offset": "\(low)",
            ])
        Metric.recordsExpired.counter(position.topic).increment(by: Int(clamping: low - position.offset))
    }

    /// Leaves the group.
    public func close() async throws {
        take([], "released")
        await reader.close(deadline: .zero)
        await consumer.close(deadline: .seconds(10))
    }

    private func forgetComparison() {
        assignments += 1
        finished = nil
    }

    private func take(_ partitions: [TopicPartition], _ change: String) {
        assigned = partitions
        forgetComparison()
        unsettled = [:]
        behindBatch = [:]
        Metric.rebalances.counter(worker, change).increment()
        logger.info("Partitions \(change)", metadata: ["worker": "\(worker)", "owned": "\(partitions.count)"])
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
