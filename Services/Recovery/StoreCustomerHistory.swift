import Chassis
import Contracts
import Kafka
import Pipeline
import Storage

import struct Foundation.Date

/// Publishes recovered notifications, then stores the results, history revisions and postponed requests, then commits
/// the offset.
struct StoreCustomerHistory: Settlement {
    let answers: RecoveryAnswerStore
    let connection: WorkerConnection
    let tracing: PublishTracing
    let now: @Sendable () -> Date

    func settle(_ processed: ProcessedBatch<FetchCustomerHistory>) async throws -> Settled {
        let time = Date(milliseconds: now().milliseconds)
        var received: [ReceivedNotification] = []
        var answered = unanswered(processed, at: time)
        var attempts: [RecordedAttempt] = []
        var postponed: [PostponedRequest] = []
        for (record, asked) in processed.forwarded {
            switch asked {
            case .answered(let history):
                received += history.received(at: time) { tracing.traceparent(below: record) }
                answered.append(history.answer(at: time))
                attempts += history.attempts
            case .postponed(let request, let pause):
                postponed.append(
                    PostponedRequest(
                        request: request, pause: pause.length, reason: pause.reason.storable, postponedAt: time))
            }
        }
        try await connection.deadLetters.write(processed)
        try await connection.producer.send(
            received.map { connection.seal.sealed(ProducerRecord(Topics.received, $0)) })
        try await answers.record(answered, attempts: attempts, postponed: postponed)
        for answer in answered { Metric.recoveryRequests.counter(answer.outcome).increment() }
        Metric.recoveryRequests.counter("postponed").increment(by: postponed.count)
        return try await connection.consumer.commit(processed)
    }

    /// Stores the reason for a request without result, so that no window waits for it.
    private func unanswered(_ processed: ProcessedBatch<FetchCustomerHistory>, at time: Date) -> [RecoveryAnswer] {
        zip(processed.batch.records, processed.results).compactMap { record, result in
            let (reason, message): (CustomerHistoryReason, String?) =
                switch result {
                case .forward: (.undecodable, nil)
                case .discard(let reason): (reason, reason.advice)
                case .deadLetter(let reason, let message): (reason, message.storable)
                }
            guard reason != .undecodable else { return nil }
            return (try? RecoveryRequest(record.wire))?.unanswered(reason, message, at: time)
        }
    }
}

extension CustomerHistoryReason {
    /// Description for operators.
    fileprivate var advice: String? {
        switch self {
        case .withoutHistory: "Apple keeps no history of this environment"
        case .notFound: "Apple does not know this purchase in this environment"
        case .undecodable, .rejected, .unreadable, .unaskable: nil
        }
    }
}
