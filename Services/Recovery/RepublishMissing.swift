import Chassis
import Contracts
import Kafka
import Pipeline
import Records
import Storage

import struct Foundation.Date

/// Publishes missing notifications, then stores the compared pages in one transaction, then commits the offset.
///
/// A crash in between repeats the batch: the ledger's key absorbs duplicates, and stored pages are not counted again.
struct RepublishMissing: Settlement {
    let items: RecoveryItemStore
    let connection: WorkerConnection
    let tracing: PublishTracing
    let now: @Sendable () -> Date

    func settle(_ processed: ProcessedBatch<ComparePages>) async throws -> Settled {
        // In the header's precision, so that rejections of these records differ from earlier ones.
        let time = Date(milliseconds: now().milliseconds)
        let pages = processed.forwarded.map(\.output)
        let missing = processed.forwarded.flatMap { record, page in
            page.items.filter { $0.state == .missing }.map { compared in
                connection.seal.sealed(
                    ProducerRecord(
                        Topics.received,
                        ReceivedNotification(
                            signedPayload: compared.item.signedPayload, source: .history, receivedAt: time,
                            traceparent: tracing.traceparent(below: record))))
            }
        }
        try await connection.deadLetters.write(processed, items: unreadable(processed, at: time))
        try await connection.producer.send(missing)
        let attempts = pages.flatMap(\.attempts)
        try await items.record(pages.map { $0.seen(at: time) }, attempts: attempts)
        count(pages, attempts)
        return try await connection.consumer.commit(processed)
    }

    /// Unreadable items become dead letters; the page continues.
    private func unreadable(
        _ processed: ProcessedBatch<ComparePages>, at time: Date
    ) -> [(number: Int, deadLetter: DeadLetter)] {
        processed.forwarded.flatMap { record, page in
            page.items.enumerated().filter { $0.element.state == .unreadable }.map { number, compared in
                let original = ReceivedNotification(
                    signedPayload: compared.item.signedPayload, source: .history, receivedAt: time)
                let deadLetter = DeadLetter(
                    original: original.record(), stage: ServiceName.recovery.name,
                    reason: ComparisonReason.unreadable.rawValue,
                    message: "the payload in Apple's history \(ComparedPage.unreadable)", position: record.position,
                    rejectedAt: time, attempts: processed.batch.attempt, build: BuildInformation.version)
                return (number, deadLetter)
            }
        }
    }

    private func count(_ pages: [ComparedPage], _ attempts: [RecordedAttempt]) {
        for item in pages.flatMap(\.items) { Metric.historyItems.counter("\(item.state)").increment() }
        for attempt in attempts { Metric.sendAttempts.counter(attempt.result).increment() }
    }
}
