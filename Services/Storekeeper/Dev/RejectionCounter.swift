import Contracts
import Kafka
import Logging
import Synchronization

/// The dead letters of a run, read as they come: the development broker does not keep them for long.
final class RejectionCounter: Sendable {
    private let consumer: Consumer
    private let start: [TopicPartitionOffset]
    private let letters = Mutex<[RunCheck.Refused]>([])

    /// Where reading begins.
    enum Start {
        case beginning
        /// At what is written from now on; what was there belongs to an earlier run.
        case end
    }

    init(_ configuration: KafkaConfiguration, from origin: Start = .end, logger: Logger) async throws {
        let route = Topics.rejected.route
        consumer = try Consumer(configuration, group: "\(ServiceName.storekeeper.group).dev", logger: logger)
        var start: [TopicPartitionOffset] = []
        for partition in 0..<Int32(route.partitions) {
            let partition = TopicPartition(topic: route.name, partition: partition)
            let (low, high) = try await consumer.watermarks(partition)
            start.append(TopicPartitionOffset(partition, offset: origin == .end ? high : low))
        }
        self.start = start
        // No member of the group: assigned by ourselves, so that nobody shares the partitions with us.
        try await consumer.assign(start)
    }

    /// All so far, in the order they were read.
    var all: [RunCheck.Refused] { letters.withLock { $0 } }

    /// Of those that are whole enough to say.
    var uuids: Set<String> { Set(all.compactMap(\.uuid)) }

    var count: Int { letters.withLock { $0.count } }

    /// Reads until cancelled.
    func watch() async {
        while !Task.isCancelled {
            do {
                guard case .records(let records) = try await consumer.turn(limit: 500, wait: .milliseconds(200)) else {
                    continue
                }
                let refused = records.map { Self.refused($0) }
                letters.withLock { $0 += refused }
            } catch {
                // The broker is away; the consumer reconnects by itself.
                try? await Task.sleep(for: .milliseconds(500))
            }
        }
        await consumer.close(deadline: .seconds(1))
    }

    private static func refused(_ record: ConsumerRecord) -> RunCheck.Refused {
        guard let letter = try? DeadLetter(WireRecord(record)) else {
            return RunCheck.Refused(uuid: nil, reason: "no dead letter")
        }
        // Believed for the comparison with our own book only.
        return RunCheck.Refused(uuid: DeadLetterContents(letter).notificationUUID, reason: letter.reason)
    }
}
