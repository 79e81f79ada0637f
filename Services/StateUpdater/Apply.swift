import Bootstrap
import Chassis
import Contracts
import Kafka
import Pipeline
import Storage

import struct Foundation.Date

/// Applies a batch to the ledger and the state, and moves the stored Kafka offsets in the same database transaction.
struct Apply: Settlement {
    let ledger: LedgerStore
    let outbox: OutboxStore
    let positions: StoredPositions
    let connection: WorkerConnection
    let now: @Sendable () -> Date
    let logger: Logger

    func settle(_ processed: ProcessedBatch<Update>) async throws -> Settled {
        // Dead letters are published before the offsets move, so that no record is lost.
        try await connection.deadLetters.write(processed)
        let moves = try await positions.moves(for: processed.spans)
        let recordedAt = now()
        let entries = processed.forwarded.map(\.output)
        switch try await ledger.apply(entries, moving: moves, recordedAt: recordedAt) {
        case .fenced:
            return .fenced
        case .applied(let applied):
            await positions.moved(moves)
            Self.count(applied, entries, recordedAt)
            applied.shared.forEach(report)
            if applied.advanced > 0 { await announce() }
            await commit(processed.spans)
            return .settled
        }
    }

    /// A publisher that misses it looks by itself a moment later.
    private func announce() async {
        do {
            try await outbox.announce()
        } catch {
            logger.debug("Could not announce changes to publishers", metadata: ["error": "\(error)"])
        }
    }

    /// Commits to Kafka for lag views only, so a failure is logged and not retried.
    private func commit(_ spans: [Span]) async {
        do {
            try await connection.consumer.commit(spans.map(\.position))
        } catch {
            logger.debug("Could not commit offsets to Kafka; lag views are behind", metadata: ["error": "\(error)"])
        }
    }

    /// Reports an Apple account that several accounts of the app use: it may be a family's, or purchases may be resold.
    private func report(_ shared: SharedAccountNotice) {
        Metric.sharedAccounts.counter(shared.bundleId).increment()
        logger.warning(
            "Two accounts of the app use one Apple account; storekeeper customers shared shows which of them has access",
            metadata: [
                "app": "\(shared.bundleId)", "environment": "\(shared.key.environment.rawValue)",
                "purchase": "\(shared.key.originalTransactionId)",
            ])
    }

    static func count(_ applied: Applied, _ entries: [LedgerEntry], _ recordedAt: Date) {
        for (outcome, count) in [
            ("inserted", applied.inserted), ("repeated", applied.repeated), ("advanced", applied.advanced),
            ("stale", applied.stale), ("conflicting", applied.conflicting),
        ] where count > 0 {
            Metric.ledgerOutcomes.counter(outcome).increment(by: count)
        }
        let latency = Metric.webhookToState.timer()
        // Notifications from Apple's history or an operator have no latency to measure.
        for notification in entries.map(\.notification) where notification.source == .webhook {
            if notification.isVersion1 {
                Metric.version1Notifications.counter(notification.bundleId).increment()
            }
            if notification.isGenuine {
                Metric.genuineNotifications.counter(notification.bundleId, notification.environment.rawValue)
                    .increment()
            }
            if let signedDate = notification.signedDate {
                Metric.deliveryDelay.timer(notification.notificationType).recordSeconds(
                    max(0, notification.receivedAt.timeIntervalSince(signedDate)))
            }
            latency.recordSeconds(max(0, recordedAt.timeIntervalSince(notification.receivedAt)))
        }
    }
}
