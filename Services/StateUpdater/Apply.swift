import Chassis
import Contracts
import Kafka
import Pipeline
import Storage

import struct Foundation.Date

/// Kafka to Postgres: one database transaction applies the batch and moves the stored position.
struct Apply: Settlement {
    let ledger: LedgerStore
    let positions: StoredPositions
    let connection: WorkerConnection
    let now: @Sendable () -> Date
    let logger: Logger

    func settle(_ processed: ProcessedBatch<Update>) async throws -> Settled {
        // Before the position moves: a record leaves the batch only when it is safe somewhere.
        try await connection.producer.send(connection.rejections.records(of: processed))
        let moves = try await positions.moves(for: processed.spans)
        let recordedAt = now()
        let entries = processed.forwarded.map(\.output)
        switch try await ledger.apply(entries, moving: moves, recordedAt: recordedAt) {
        case .fenced:
            return .fenced
        case .applied(let applied):
            await positions.moved(moves)
            count(applied, entries, recordedAt)
            applied.shared.forEach(tell)
            await commit(processed.spans)
            return .settled
        }
    }

    /// For lag views only, so a failure is not worth more than a line.
    private func commit(_ spans: [Span]) async {
        do {
            try await connection.consumer.commit(spans.map { TopicPartitionOffset($0.partition, offset: $0.next) })
        } catch {
            logger.debug("Kafka does not know how far we are", metadata: ["error": "\(error)"])
        }
    }

    /// Never silent: an Apple account that feeds several accounts of the app may be a family's, or a trade.
    private func tell(_ shared: SharedAccountNotice) {
        Metric.sharedAccounts.counter(shared.bundleId).increment()
        logger.warning(
            "Two accounts of the app live on one Apple account; see storekeeper customers shared",
            metadata: [
                "app": "\(shared.bundleId)", "environment": "\(shared.key.environment.rawValue)",
                "purchase": "\(shared.key.originalTransactionId)",
            ])
    }

    private func count(_ applied: Applied, _ entries: [LedgerEntry], _ recordedAt: Date) {
        for (outcome, count) in [
            ("inserted", applied.inserted), ("repeated", applied.repeated), ("advanced", applied.advanced),
            ("stale", applied.stale), ("conflicting", applied.conflicting),
        ] where count > 0 {
            Metric.ledgerOutcomes.counter(outcome).increment(by: count)
        }
        let latency = Metric.webhookToState.timer()
        // What Apple's history or an operator brings was received long ago.
        for notification in entries.map(\.notification) where notification.source == .webhook {
            if notification.notificationType != "TEST" {
                Metric.genuineNotifications.counter(notification.bundleId, notification.environment.rawValue)
                    .increment()
            }
            latency.recordSeconds(recordedAt.timeIntervalSince(notification.receivedAt))
        }
    }
}
