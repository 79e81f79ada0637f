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
        /// Records ever written to the topics.
        var written: Int64 = 0

        /// Adds another stage of the same measurement.
        mutating func add(_ other: Measurement) {
            waiting.merge(other.waiting) { $0 + $1 }
            isSettled = isSettled && other.isSettled
            pressure = max(pressure, other.pressure)
            dropped += other.dropped
            written += other.written
        }

        /// Whether nothing waits, and nothing was written since an earlier one.
        func isIdle(since earlier: Measurement?) -> Bool { isSettled && written == earlier?.written }
    }

    private static let interval: Duration = .milliseconds(200)

    private let readers: [Reader]
    private let positions: PositionStore?
    private let forgets: Bool
    private let newest = Mutex<Measurement?>(nil)

    /// - Parameters:
    ///   - positions: the stored offsets of services that have them. With a new database these read the topic from its beginning,
    ///     whatever offset Kafka has; nil uses Kafka's.
    ///   - forgets: whether to count dropped records: those of a real broker are deleted by retention.
    init(
        _ configuration: KafkaConfiguration, positions: PositionStore? = nil, forgets: Bool, logger: Logger
    ) throws {
        self.positions = positions
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
    /// - Parameter idle: pause before the next measurement while nothing is written (default: the same as otherwise).
    func watch(idle: Duration? = nil) async {
        while !Task.isCancelled {
            let before = measurement
            try? await refresh()
            let isIdle = measurement?.isIdle(since: before) ?? false
            try? await Task.sleep(for: isIdle ? idle ?? Self.interval : Self.interval)
        }
        await close()
    }

    /// Measures once.
    func refresh() async throws {
        let stored = try await storedOffsets()
        var measurement = try await withThrowingTaskGroup(of: Measurement.self) { group in
            for reader in readers { group.addTask { try await reader.measurement(stored) } }
            return try await group.reduce(into: Measurement()) { $0.add($1) }
        }
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

    /// By group, with one statement for all.
    private func storedOffsets() async throws -> [String: [LogPosition]] {
        guard let positions else { return [:] }
        let groups = ServiceKind.allCases.filter(\.storesOffsets).flatMap(\.readings).map(\.group)
        return try await positions.all(cluster: try await readers[0].clusterId(), groups: groups)
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

        /// - Parameter stored: the stored offsets of all groups at its beginning.
        func measurement(_ stored: [String: [LogPosition]]) async throws -> Measurement {
            let before = try await places(stored)
            let marks = try await consumer.watermarks(partitions)
            var lags = lags(before, marks)
            let isSettled = lags.allSatisfy { $0.records == 0 }
            if !isSettled {
                // Reading the watermarks takes a while, during which the group commits.
                let later = try await positions?.all(cluster: try await clusterId(), groups: [group])
                lags = self.lags(try await places(later ?? [:]), marks)
            }
            loss.measurement(at: lags)
            let records = lags.map(\.records)
            return Measurement(
                waiting: [kind: records.reduce(0, +)], isSettled: isSettled,
                pressure: (records.max() ?? 0) * Int64(records.count), dropped: loss.records,
                written: marks.reduce(0) { $0 + $1.high })
        }

        private func places(_ stored: [String: [LogPosition]]) async throws -> [TopicPartitionOffset?] {
            if positions == nil { return try await consumer.committed(partitions) }
            let offsets = Dictionary(
                uniqueKeysWithValues: (stored[group] ?? []).map {
                    (TopicPartition(topic: $0.topic, partition: $0.partition), $0.offset)
                })
            return partitions.map { partition in
                offsets[partition].map { TopicPartitionOffset(partition, offset: $0) }
            }
        }

        /// Of the broker that all of them read.
        func clusterId() async throws -> String { try await consumer.clusterId() }

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
