import Contracts
import Kafka
import Logging
import Synchronization

/// How much waits before each stage, asked of the broker again and again.
final class Backlog: Sendable {
    /// One look.
    struct Look: Sendable, Equatable {
        /// Counts the looks from 1.
        var number = 0
        /// Records that wait before each stage.
        var waiting: [Role: Int64] = [:]
        /// See ``Loss``.
        var dropped: Int64 = 0

        var total: Int64 { waiting.values.reduce(0, +) }
    }

    private static let interval: Duration = .milliseconds(200)

    private let readers: [Reader]
    private let newest = Mutex<Look?>(nil)

    init(_ configuration: KafkaConfiguration, logger: Logger) throws {
        readers = try Role.allCases.compactMap { role in
            try role.reading.map { try Reader(role, $0.route, $0.group, configuration, logger) }
        }
    }

    /// Nil before the first look.
    var look: Look? { newest.withLock { $0 } }

    /// Waits until nothing waits; at once with a broker that is new.
    func becomesEmpty() async throws {
        while look?.total != 0 { try await Task.sleep(for: Self.interval) }
    }

    /// Looks until cancelled. A look that fails is left out: the broker may be starting or gone.
    func watch() async {
        while !Task.isCancelled {
            if var look = try? await Self.look(readers) {
                newest.withLock { newest in
                    look.number = (newest?.number ?? 0) + 1
                    newest = look
                }
            }
            try? await Task.sleep(for: Self.interval)
        }
        for reader in readers { await reader.close() }
    }

    private static func look(_ readers: [Reader]) async throws -> Look {
        try await withThrowingTaskGroup(of: (Role, Int64, Int64).self) { group in
            for reader in readers { group.addTask { try await reader.look() } }
            var look = Look()
            for try await (role, waiting, dropped) in group {
                look.waiting[role] = waiting
                look.dropped += dropped
            }
            return look
        }
    }

    /// Reads a group's positions without being a member.
    private actor Reader {
        private let role: Role
        private let partitions: [TopicPartition]
        private let consumer: Consumer
        private var loss = Loss()

        init(
            _ role: Role, _ route: Route, _ group: String, _ configuration: KafkaConfiguration, _ logger: Logger
        ) throws {
            self.role = role
            partitions = (0..<route.partitions).map { TopicPartition(topic: route.name, partition: Int32($0)) }
            consumer = try Consumer(configuration, group: group, logger: logger)
        }

        func look() async throws -> (Role, Int64, Int64) {
            let committed = try await consumer.committed(partitions)
            var lags: [PartitionLag] = []
            for (partition, committed) in zip(partitions, committed) {
                let (low, high) = try await consumer.watermarks(partition)
                lags.append(PartitionLag(partition: partition, committed: committed?.offset, low: low, end: high))
            }
            loss.look(at: lags)
            return (role, lags.reduce(0) { $0 + $1.records }, loss.records)
        }

        func close() async { await consumer.close(deadline: .seconds(1)) }
    }
}
