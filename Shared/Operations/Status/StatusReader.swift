import Foundation
import Kafka
import Postgres
import Storage

/// Reads the sections of the status screen independently.
package struct StatusReader: Sendable {
    package let database: PostgresConfiguration
    package let kafka: KafkaConfiguration
    /// Number of recent notifications for the latency.
    package let sample: Int

    package init(database: PostgresConfiguration, kafka: KafkaConfiguration, sample: Int) {
        self.database = database
        self.kafka = kafka
        self.sample = sample
    }

    package func report(at now: Date) async -> StatusReport {
        let connection = PostgresConnection(database, logger: .silent)
        async let stages = Section {
            try await StageLag(configuration: kafka, positions: PositionStore(connection)).stages(now: now)
        }
        async let topics = (try? await TopicProblems(configuration: kafka).sentences()) ?? []
        // One connection runs the queries in sequence, Kafka in parallel.
        let ledger = await Section { try await self.ledger(connection) }
        let rejected = await Section { try await self.rejected(connection, now) }
        let receivers = await Section { try await self.receivers(connection, now) }
        let recovery = await Section { try await RecoveryStatus(connection, now: now) }
        var report = StatusReport(
            at: now, stages: await stages, ledger: ledger, rejected: rejected, receivers: receivers, recovery: recovery)
        report.unknownDurations = (try? await self.unknownDurations(connection)) ?? []
        report.rejectedTransfers = (try? await self.rejectedTransfers(connection, now)) ?? []
        report.isYoung = (try? await isYoung(connection, now)) ?? false
        report.topicProblems = await topics
        report.attention = Attention().sentences(on: report)
        await connection.close()
        return report
    }

    /// A heartbeat is sent when its minute is over, and the scheduler stores it in its next round.
    private func isYoung(_ connection: PostgresConnection, _ now: Date) async throws -> Bool {
        guard let beginning = try await IncidentStore(connection).beginning() else { return false }
        // The database's clock may be slightly ahead.
        return (-60..<180).contains(now.timeIntervalSince(beginning))
    }

    private func unknownDurations(_ connection: PostgresConnection) async throws -> [StatusReport.UnknownDuration] {
        try await ProductStore(connection).durations().filter { $0.endless > 0 }.map {
            StatusReport.UnknownDuration(app: $0.bundleId, product: $0.productId, purchases: $0.endless)
        }
    }

    private func rejectedTransfers(
        _ connection: PostgresConnection, _ now: Date
    ) async throws -> [StatusReport.RejectedTransfers] {
        try await TransferStore(connection).rejected(since: now.addingTimeInterval(-86_400)).map {
            StatusReport.RejectedTransfers(
                app: $0.bundleId, environment: $0.environment.rawValue, purchases: $0.purchases)
        }
    }

    private func ledger(_ connection: PostgresConnection) async throws -> StatusReport.Ledger {
        let newest = try await IncidentStore(connection).newest()
        let milliseconds = try await StatusStore(connection).latencies(ofLast: sample)
            .map { ($0 * 1000).rounded() }.sorted()
        return StatusReport.Ledger(
            lastReceivedAt: newest?.receivedAt, lastRecordedAt: newest?.recordedAt, sample: milliseconds.count,
            webhookToStateP50: milliseconds.percentile(0.5), webhookToStateP99: milliseconds.percentile(0.99))
    }

    private func rejected(_ connection: PostgresConnection, _ now: Date) async throws -> [StatusReport.Rejected] {
        try await IncidentStore(connection).rejections(since: now.addingTimeInterval(-86_400)).map {
            StatusReport.Rejected(stage: $0.stage, reason: $0.reason, count: $0.count)
        }
    }

    private func receivers(_ connection: PostgresConnection, _ now: Date) async throws -> [StatusReport.Receiver] {
        try await IncidentStore(connection).receivers(since: now.addingTimeInterval(-3600)).map {
            StatusReport.Receiver(
                instance: $0.instance, lastMinute: $0.lastMinute, accepted: $0.accepted, rejected: $0.rejected)
        }
    }
}
