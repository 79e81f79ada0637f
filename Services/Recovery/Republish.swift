import Chassis
import Contracts
import Kafka
import Pipeline
import Storage

import struct Foundation.Date

/// Puts what is lacking back on the line, then writes down what was seen in one transaction, then moves the position.
///
/// A crash between any two of these repeats the batch: what was published twice meets the ledger's key, and what was written
/// down is not counted again.
struct Republish: Settlement {
    let items: RecoveryItemStore
    let connection: WorkerConnection
    let tracing: Tracing
    let now: @Sendable () -> Date

    func settle(_ processed: ProcessedBatch<Recover>) async throws -> Settled {
        // As the records' header has it, so that a refusal of exactly these can be told from an older one.
        let time = Date(milliseconds: now().milliseconds)
        let pages = processed.forwarded.map(\.output)
        let missing = processed.forwarded.flatMap { record, page in
            page.items.filter { $0.state == .missing }.map { compared in
                ProducerRecord(
                    Topics.received,
                    ReceivedNotification(
                        signedPayload: compared.item.signedPayload, source: .history, receivedAt: time,
                        traceparent: tracing.traceparent(below: record)))
            }
        }
        let unreadable = connection.rejections.records(of: processed) + letters(processed, at: time)
        try await connection.producer.send(missing + unreadable)
        let attempts = pages.flatMap(\.attempts)
        try await items.record(pages.map { $0.seen(at: time) }, attempts: attempts)
        count(pages, attempts)
        return try await connection.consumer.commit(processed)
    }

    /// What cannot be looked for is put aside with its bytes, and the page goes on.
    private func letters(_ processed: ProcessedBatch<Recover>, at time: Date) -> [ProducerRecord] {
        processed.forwarded.flatMap { record, page in
            page.items.filter { $0.state == .unreadable }.map { compared in
                let original = ReceivedNotification(
                    signedPayload: compared.item.signedPayload, source: .history, receivedAt: time)
                return ProducerRecord(
                    Topics.rejected,
                    DeadLetter(
                        original: original.record(), stage: ServiceName.recovery.rawValue,
                        reason: RecoverReason.unreadable.rawValue,
                        message: "what Apple listed \(ComparedPage.unreadable)", position: record.position,
                        refusedAt: time, attempts: processed.batch.attempt, build: BuildInformation.version))
            }
        }
    }

    private func count(_ pages: [ComparedPage], _ attempts: [RecordedAttempt]) {
        for item in pages.flatMap(\.items) { Metric.historyItems.counter("\(item.state)").increment() }
        for attempt in attempts { Metric.sendAttempts.counter(attempt.result).increment() }
    }
}
