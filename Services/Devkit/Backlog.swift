import Commands
import Contracts
import Kafka
import Logging
import Operations
import Records
import Storage
import Synchronization

/// The lag of each stage, polled from the broker.
final class Backlog: Sendable {
    /// One measurement.
    struct Measurement: Sendable, Equatable {
        /// Number of the measurement, from 1.
        var number = 0
        /// Unread records per stage.
        var waiting: [ServiceKind: Int64] = [:]
        /// Whether there was no lag at all when the measurement began; the other figures are newer.
        var isSettled = true
        /// The lag if every partition were as full as the fullest: the broker drops records per partition.
        var pressure: Int64 = 0
        /// See ``DroppedRecords``.
        var dropped: Int64 = 0

        /// Adds another stage of the same measurement.
        mutating func add(_ other: Measurement) {
            waiting.merge(other.waiting) { $0 + $1 }
            isSettled = isSettled && other.isSettled
            pressure = max(pressure, other.pressure)
            dropped += other.dropped
        }
    }

    private static let interval: Duration = .milliseconds(200)

    private let readers: [Reader]
    private let forgets: Bool
    private let newest = Mutex<Measurement?>(nil)

    /// - Parameters:
    ///   - positions: the stored offsets of services that have them. With a new database these read the topic from its beginning,
    ///     whatever offset Kafka has; nil uses Kafka's.
    ///   - forgets: whether to count dropped records: those of a real broker are deleted by retention.
    init(
        _ configuration: KafkaConfiguration, positions: PositionStore? = nil, forgets: Bool, logger: Logger
    ) throws {
        self.forgets = forgets
        readers = try ServiceKind.allCases.flatMap { kind in
            try kind.readings.map {
                try Reader(
                    kind, $0.route, $0.group, configuration, kind.storesOffsets ? positions : nil, logger)
            }
        }
    }

    /// Nil before the first measurement.
    var measurement: Measurement? { newest.withLock { $0 } }

    /// Waits until there is no lag.
    /// - Throws: `CommandError` where the lag has been the same for longer than the limit.
    func becomesEmpty(stallLimit: Duration) async throws {
        var progress = Progress(limit: stallLimit)
        while measurement?.isSettled != true {
            let waiting = (measurement?.waiting ?? [:]).filter { $0.value > 0 }
            if progress.stands(at: .now, ServiceKind.allCases.map { waiting[$0] ?? 0 }) {
                let lag = waiting.sorted { $0.key.rawValue < $1.key.rawValue }
                    .map { "\($0.value) wait for \($0.key.rawValue)" }.joined(separator: ", ")
                throw CommandError(
                    "records of earlier runs \(lag.isEmpty ? "cannot be counted" : "(\(lag))") stand still, so the run cannot "
                        + "begin; see the services' logs, or use other topics or another Kafka cluster")
            }
            try await Task.sleep(for: Self.interval)
        }
    }

    /// Measures until cancelled; skips failed measurements, as the broker may be starting or gone.
    func watch() async {
        while !Task.isCancelled {
            try? await refresh()
            try? await Task.sleep(for: Self.interval)
        }
        await close()
    }

    /// Measures once.
    func refresh() async throws {
        var measurement = try await Self.measurement(readers)
        if !forgets { measurement.dropped = 0 }
        newest.withLock { newest in
            measurement.number = (newest?.number ?? 0) + 1
            newest = measurement
        }
    }

    /// Disconnects from the broker.
    func close() async {
        for reader in readers { await reader.close() }
    }

    private static func measurement(_ readers: [Reader]) async throws -> Measurement {
        try await withThrowingTaskGroup(of: Measurement.self) { group in
            for reader in readers { group.addTask { try await reader.measurement() } }
            return try await group.reduce(into: Measurement()) { $0.add($1) }
        }
    }

    /// Reads a group's offsets without joining it.
    private actor Reader {
        private let kind: ServiceKind
        private let partitions: [TopicPartition]
        private let group: String
        private let consumer: Consumer
        private let positions: PositionStore?
        private var loss = DroppedRecords()

        init(
            _ kind: ServiceKind, _ route: Route, _ group: String, _ configuration: KafkaConfiguration,
            _ positions: PositionStore?, _ logger: Logger
        ) throws {
            self.kind = kind
            self.group = group
            self.positions = positions
            partitions = TopicPartition.all(of: route.name, count: route.partitions)
            consumer = try Consumer(configuration, group: group, logger: logger)
        }

        func measurement() async throws -> Measurement {
            let before = try await places()
            let marks = try await consumer.watermarks(partitions)
            // Reading the watermarks takes a while, during which the group commits.
            let after = try await places()
            let lags = lags(after, marks)
            loss.measurement(at: lags)
            let records = lags.map(\.records)
            return Measurement(
                waiting: [kind: records.reduce(0, +)],
                isSettled: self.lags(before, marks).allSatisfy { $0.records == 0 },
                pressure: (records.max() ?? 0) * Int64(records.count), dropped: loss.records)
        }

        private func places() async throws -> [TopicPartitionOffset?] {
            guard let positions else { return try await consumer.committed(partitions) }
            let stored = try await positions.positions(
                cluster: try await consumer.clusterId(), group: group,
                partitions: partitions.map { ($0.topic, $0.partition) })
            let offsets = Dictionary(uniqueKeysWithValues: stored.map { ($0.partition, $0.offset) })
            return partitions.map { partition in
                offsets[partition.partition].map { TopicPartitionOffset(partition, offset: $0) }
            }
        }

        private func lags(
            _ committed: [TopicPartitionOffset?], _ marks: [Consumer.Watermarks]
        ) -> [PartitionLag] {
            zip(zip(partitions, committed), marks).map { asked, marks in
                PartitionLag(partition: asked.0, committed: asked.1?.offset, low: marks.low, end: marks.high)
            }
        }

        func close() async { await consumer.close(deadline: .seconds(1)) }
    }
}
