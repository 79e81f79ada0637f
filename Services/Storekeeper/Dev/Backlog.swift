import Contracts
import Kafka
import Logging
import Storage
import Synchronization

/// How much waits before each stage, asked of the broker again and again.
final class Backlog: Sendable {
    /// One look.
    struct Measurement: Sendable, Equatable {
        /// Counts the looks from 1.
        var number = 0
        /// Records that wait before each stage.
        var waiting: [ServiceKind: Int64] = [:]
        /// Whether nothing at all waited when the look began. The other figures are newer and cannot say that.
        var isSettled = true
        /// The records that would wait if each partition had as many as the fullest: it is a partition that forgets.
        var pressure: Int64 = 0
        /// See ``DroppedRecords``.
        var dropped: Int64 = 0

        /// Two stages of the same look.
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
    ///   - positions: where the state-updater stands. With a new database it reads the topic from its beginning, whatever
    ///     Kafka's copy of its position says; nil trusts that copy.
    ///   - forgets: whether what the broker drops is to be counted. Of a real one it is what has grown old.
    init(
        _ configuration: KafkaConfiguration, positions: PositionStore? = nil, forgets: Bool, logger: Logger
    ) throws {
        self.forgets = forgets
        readers = try ServiceKind.allCases.flatMap { role in
            try role.readings.map {
                try Reader(
                    role, $0.route, $0.group, configuration, role == .stateUpdater ? positions : nil, logger)
            }
        }
    }

    /// Nil before the first look.
    var look: Measurement? { newest.withLock { $0 } }

    /// Waits until nothing waits; at once with a broker that is new.
    func becomesEmpty() async throws {
        while look?.isSettled != true { try await Task.sleep(for: Self.interval) }
    }

    /// Looks until cancelled. A look that fails is left out: the broker may be starting or gone.
    func watch() async {
        while !Task.isCancelled {
            try? await refresh()
            try? await Task.sleep(for: Self.interval)
        }
        await close()
    }

    /// Looks once.
    func refresh() async throws {
        var look = try await Self.look(readers)
        if !forgets { look.dropped = 0 }
        newest.withLock { newest in
            look.number = (newest?.number ?? 0) + 1
            newest = look
        }
    }

    /// Lets go of the broker.
    func close() async {
        for reader in readers { await reader.close() }
    }

    private static func look(_ readers: [Reader]) async throws -> Measurement {
        try await withThrowingTaskGroup(of: Measurement.self) { group in
            for reader in readers { group.addTask { try await reader.look() } }
            return try await group.reduce(into: Measurement()) { $0.add($1) }
        }
    }

    /// Reads a group's positions without being a member.
    private actor Reader {
        private let role: ServiceKind
        private let partitions: [TopicPartition]
        private let group: String
        private let consumer: Consumer
        private let positions: PositionStore?
        private var loss = DroppedRecords()

        init(
            _ role: ServiceKind, _ route: Route, _ group: String, _ configuration: KafkaConfiguration,
            _ positions: PositionStore?, _ logger: Logger
        ) throws {
            self.role = role
            self.group = group
            self.positions = positions
            partitions = (0..<route.partitions).map { TopicPartition(topic: route.name, partition: Int32($0)) }
            consumer = try Consumer(configuration, group: group, logger: logger)
        }

        func look() async throws -> Measurement {
            let before = try await places()
            var marks: [(low: Int64, high: Int64)] = []
            for partition in partitions { marks.append(try await consumer.watermarks(partition)) }
            // One question per partition takes a while, in which much is read.
            let after = try await places()
            let lags = lags(after, marks)
            loss.look(at: lags)
            let records = lags.map(\.records)
            return Measurement(
                waiting: [role: records.reduce(0, +)],
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
            _ committed: [TopicPartitionOffset?], _ marks: [(low: Int64, high: Int64)]
        ) -> [PartitionLag] {
            zip(zip(partitions, committed), marks).map { asked, marks in
                PartitionLag(partition: asked.0, committed: asked.1?.offset, low: marks.low, end: marks.high)
            }
        }

        func close() async { await consumer.close(deadline: .seconds(1)) }
    }
}
