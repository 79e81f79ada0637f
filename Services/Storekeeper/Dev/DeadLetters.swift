import AppStore
import Contracts
import Kafka
import Logging
import StrictJSON
import Synchronization

/// The dead letters of a run, read as they come: the development broker does not keep them for long.
final class DeadLetters: Sendable {
    private let consumer: Consumer
    private let start: [TopicPartitionOffset]
    private let letters = Mutex<[Check.Refused]>([])

    /// Begins at what is written from now on; what was there belongs to an earlier run.
    init(_ configuration: KafkaConfiguration, logger: Logger) async throws {
        let route = Topics.rejected.route
        consumer = try Consumer(configuration, group: "\(Service.storekeeper.group).dev", logger: logger)
        var start: [TopicPartitionOffset] = []
        for partition in 0..<Int32(route.partitions) {
            let partition = TopicPartition(topic: route.name, partition: partition)
            start.append(TopicPartitionOffset(partition, offset: try await consumer.watermarks(partition).high))
        }
        self.start = start
        // No member of the group: assigned by ourselves, so that nobody shares the partitions with us.
        try await consumer.assign(start)
    }

    /// All so far, in the order they were read.
    var all: [Check.Refused] { letters.withLock { $0 } }

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

    private static func refused(_ record: ConsumerRecord) -> Check.Refused {
        let wire = WireRecord(
            key: record.key, value: record.value, headers: record.headers.map { WireHeader($0.name, $0.value) })
        guard let letter = try? DeadLetter(wire) else { return Check.Refused(uuid: nil, reason: "no dead letter") }
        return Check.Refused(uuid: uuid(in: letter.original.value), reason: letter.reason)
    }

    /// What a payload calls itself, believed for the comparison with our own book only.
    static func uuid(in signedPayload: [UInt8]) -> String? {
        guard let jws = CompactJWS(signedPayload[...]), let payload = Base64.decode(jws.payload, .url),
            let document = try? JSONDocument(payload)
        else { return nil }
        return document.root["notificationUUID"]?.string?.lowercased()
    }
}
