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
        let deadLetters = try await log.selected(selection, auditLog, in: context)
        await log.close()
        let operation = try ReplayDeadLetters(deadLetters, of: log.cluster)
        let plan = try await operation.plan(on: connection)
        var summary = ReplaySummary(dryRun: isDry, found: plan.found, known: plan.known)
        guard !isDry else { return try summary.show(plan.sentence, output, in: context) }
        context.warn(plan.sentence)
        let producer = try Producer(configuration, logger: .silent)
        do {
            try await operation.perform(
                through: producer, sealedBy: try RecordSeal(context), on: connection,
                by: try audit.performer(in: context))
            await producer.close(deadline: .seconds(5))
        } catch {
            await producer.close(deadline: .seconds(5))
            throw error
        }
        summary.sent = deadLetters.count
        try summary.show(
            "\(deadLetters.count.counted("dead letter")) sent through the pipeline again.", output, in: context)
    }
}
