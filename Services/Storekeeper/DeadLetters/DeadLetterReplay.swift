import Commands
import Contracts
import Foundation
import Kafka
import Operations
import Pipeline
import Storage

/// Sends dead letters through the pipeline again and records that in the audit log.
struct DeadLetterReplay {
    var kafka: KafkaOptions
    var database: DatabaseOptions
    var audit: AuditOptions
    var output: OutputOptions
    var isDry: Bool

    func run(_ selection: DeadLetterSelection, in context: CommandContext) async throws {
        let configuration = try kafka.configuration(in: context)
        let connection = try database.connection(for: "dead-letters replay", in: context)
        let log = try await DeadLetterLog(configuration)
        let auditLog = DeadLetterActions(store: OperatorActionStore(connection), cluster: log.cluster)
        let letters = try await log.selected(selection, auditLog, in: context)
        await log.close()
        let uuids = letters.compactMap { $0.contents.notificationUUID.flatMap { UUID(uuidString: $0) } }
        let known = try await NotificationStore(connection).known(uuids)
        var summary = ReplaySummary(dryRun: isDry, found: letters.count, known: uuids.count { known.contains($0) })
        guard !isDry else {
            return try summary.show(
                "\(summary.plan("dead letter", "would be sent through the pipeline again")).", output, in: context)
        }
        context.warn(
            "\(summary.plan("dead letter", isOne: "is sent through the pipeline again", "are sent through the pipeline again"))."
        )
        let producer = try Producer(configuration, logger: .silent)
        let seal = try RecordSeal(context)
        try await producer.send(
            letters.map { seal.sealed(ProducerRecord(replaying: $0.letter, authenticatedBy: seal)) })
        await producer.close(deadline: .seconds(5))
        do {
            try await audit.record(
                DeadLetterActions.replayed, on: auditLog.subjects(letters), to: auditLog.store, in: context)
        } catch {
            throw CommandError(
                """
                \(letters.count.counted("dead letter")) sent, but the audit log could not be written: \(error). They are still listed as open; \
                replaying them again is safe.
                """)
        }
        summary.sent = letters.count
        try summary.show(
            "\(letters.count.counted("dead letter")) sent through the pipeline again.", output, in: context)
    }
}
