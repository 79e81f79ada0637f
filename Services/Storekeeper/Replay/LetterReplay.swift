import Contracts
import Foundation
import Kafka
import Pipeline
import Storage

/// Puts dead letters back onto the line and writes down that somebody did.
struct LetterReplay {
    var kafka: KafkaOptions
    var database: DatabaseOptions
    var hand: HandOptions
    var output: OutputOptions
    var isDry: Bool

    func run(_ selection: LetterSelection, in surroundings: Surroundings) async throws {
        let configuration = try kafka.configuration(in: surroundings)
        let connection = try database.connection(for: "replay", in: surroundings)
        let log = try await DeadLetterLog(configuration)
        let trail = LetterTrail(store: OperatorActionStore(connection), cluster: log.cluster)
        let letters = try await log.selected(selection, trail, in: surroundings)
        await log.close()
        let uuids = letters.compactMap { $0.contents.notificationUUID.flatMap { UUID(uuidString: $0) } }
        let known = try await NotificationStore(connection).known(uuids)
        var summary = ReplaySummary(dryRun: isDry, found: letters.count, known: uuids.count { known.contains($0) })
        guard !isDry else {
            return try summary.show(
                "\(summary.plan("dead letter", "would go back onto the line")).", output, in: surroundings)
        }
        surroundings.warn("\(summary.plan("dead letter", isOne: "goes back onto the line", "go back onto the line")).")
        let producer = try Producer(configuration, logger: .silent)
        try await producer.send(letters.map { ProducerRecord(replaying: $0.letter) })
        await producer.close(deadline: .seconds(5))
        do {
            try await hand.record(
                LetterTrail.replayed, on: trail.subjects(letters), to: trail.store, in: surroundings)
        } catch {
            throw Failure(
                """
                \(letters.count.counted("dead letter")) went back onto the line, but the trail could not be written: \(error). \
                They show as open; to replay them once more is harmless.
                """)
        }
        summary.sent = letters.count
        try summary.show("\(letters.count.counted("dead letter")) went back onto the line.", output, in: surroundings)
    }
}

extension ProducerRecord {
    /// The signed payload of a dead letter at the beginning of the line; a record that holds none goes back where it
    /// stood, untouched.
    init(replaying letter: DeadLetter) {
        let original = letter.original
        let received = try? ReceivedNotification(original)
        let verified = try? VerifiedNotification(original)
        if letter.position.topic == Topics.received.name {
            self.init(
                Topics.received,
                ReceivedNotification(
                    signedPayload: original.value, source: .replay,
                    receivedAt: received?.receivedAt ?? letter.refusedAt, bundleId: received?.bundleId,
                    traceparent: received?.traceparent))
        } else if let verified {
            self.init(
                Topics.received,
                ReceivedNotification(
                    signedPayload: verified.signedPayload, source: .replay, receivedAt: verified.receivedAt,
                    bundleId: verified.bundleId, traceparent: verified.traceparent))
        } else {
            self.init(
                topic: letter.position.topic, key: original.key, value: original.value,
                headers: original.headers.map { RecordHeader(name: $0.name, value: $0.value) })
        }
    }
}
