import AppStore
import ArgumentParser
import Contracts
import Foundation
import Interpretation
import Pipeline
import Records
import SimulatedAppStore
import Storage

/// Notifications of many subscriptions as the state-updater gets them, repeated for other customers.
final class SampleBatches {
    private var entries: [LedgerEntry] = []
    private var records: [Batch.Record] = []
    let batch: Int
    /// Number of different batches.
    let batches = 20
    private var next = 0
    private var generation = 0

    init(batch: Int) throws {
        self.batch = batch
        let now = Date()
        var notifications = try GenuineNotifications(purchases: 2000, now: now)
        let verifier = try notifications.verifier()
        while entries.count < batches * batch {
            let received = ReceivedNotification(
                signedPayload: try notifications.next(), source: .webhook, receivedAt: now)
            let proven = try verifier.notification(received.signedPayload, now: now).get()
            guard let verified = VerifiedNotification(.notification(proven), received) else {
                throw ValidationError("a genuine notification was rejected")
            }
            let position = LogPosition(topic: Topics.unique.name, partition: 0, offset: Int64(entries.count))
            records.append(Batch.Record(wire: verified.record(), position: position, timestamp: now))
            entries.append(try LedgerEntry(verified, position: position))
        }
    }

    /// The records of the next batch, of the first customers.
    func nextRecords() -> [Batch.Record] {
        let first = next + batch > entries.count ? 0 : next
        return Array(records[first..<first + batch])
    }

    /// The next batch, of other customers once all batches were used.
    func nextBatch() -> [LedgerEntry] {
        if next + batch > entries.count {
            next = 0
            generation += 1
        }
        defer { next += batch }
        return entries[next..<next + batch].map { entry in
            var entry = entry
            let uuid = UUID()
            entry.notification.notificationUUID = uuid
            entry.notification.originalTransactionId? += "\(generation)"
            entry.notification.transactionId? += "\(generation)"
            entry.event?.version.notificationUUID = uuid
            entry.event?.key.originalTransactionId += "\(generation)"
            entry.event?.transaction?.transactionId += "\(generation)"
            entry.event?.renewalOriginalTransactionId? += "\(generation)"
            return entry
        }
    }
}
