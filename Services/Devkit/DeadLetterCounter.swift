import Commands
import Contracts
import Kafka
import Logging
import Operations
import Records
import Synchronization

/// Reads a run's dead letters as they arrive: the embedded broker does not keep them for long.
final class DeadLetterCounter: Sendable {
    private let consumer: Consumer
    private let start: [TopicPartitionOffset]
    private let deadLetters = Mutex<[RunCheck.Rejected]>([])

    /// Where reading begins.
    enum Start {
        case beginning
        /// At new records; existing ones belong to an earlier run.
        case end
    }

    init(_ configuration: KafkaConfiguration, from origin: Start = .end, logger: Logger) async throws {
        let route = Topics.rejected.route
        consumer = try Consumer(configuration, group: "\(ServiceName.storekeeper.group).dev", logger: logger)
        let partitions = TopicPartition.all(of: route.name, count: route.partitions)
        start = zip(partitions, try await consumer.watermarks(partitions)).map { partition, watermarks in
            TopicPartitionOffset(partition, offset: origin == .end ? watermarks.high : watermarks.low)
        }
        // Assigned without a group, so that no other consumer shares the partitions.
        try await consumer.assign(start)
    }

    /// All so far, in the order of reading.
    var all: [RunCheck.Rejected] { deadLetters.withLock { $0 } }

    /// The uuids of readable dead letters.
    var uuids: Set<String> { Set(all.compactMap(\.uuid)) }

    var count: Int { deadLetters.withLock { $0.count } }

    /// Reads until cancelled.
    func watch() async {
        while !Task.isCancelled {
            do {
                guard case .records(let records) = try await consumer.turn(limit: 500, wait: .milliseconds(200)) else {
                    continue
                }
                let rejected = records.map { Self.rejected($0) }
                deadLetters.withLock { $0 += rejected }
            } catch {
                // The broker is away; the consumer reconnects by itself.
                try? await Task.sleep(for: .milliseconds(500))
            }
        }
        await consumer.close(deadline: .seconds(1))
    }

    private static func rejected(_ record: ConsumerRecord) -> RunCheck.Rejected {
        guard let deadLetter = try? DeadLetter(WireRecord(record)) else {
            return RunCheck.Rejected(uuid: nil, reason: "not a dead letter")
        }
        // Unverified; compared with the run record only.
        return RunCheck.Rejected(uuid: DeadLetterContents(deadLetter).notificationUUID, reason: deadLetter.reason)
    }
}
