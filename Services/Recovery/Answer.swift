import Chassis
import Contracts
import Kafka
import Pipeline
import Storage

import struct Foundation.Date

/// Puts what was found on the line, then writes the answers down with where the next ones begin, then moves the position.
struct Answer: Settlement {
    let answers: RecoveryAnswerStore
    let connection: WorkerConnection
    let now: @Sendable () -> Date

    func settle(_ judged: Judged<Ask>) async throws -> Settled {
        let time = Date(milliseconds: now().milliseconds)
        let findings = judged.forwarded.map(\.output)
        let received = findings.flatMap { $0.received(at: time) }
        try await connection.producer.send(
            received.map { ProducerRecord(Topics.received, $0) } + connection.refusals.records(of: judged))
        let found = findings.map { $0.answer(at: time) }
        let answered = found + unanswered(judged, at: time)
        try await answers.record(answered, attempts: findings.flatMap(\.attempts))
        for answer in answered { Metric.recoveryRequests.counter(answer.outcome).increment() }
        return try await connection.consumer.commit(judged)
    }

    /// What there is no answer to is written down with the reason, so that nobody waits for it.
    private func unanswered(_ judged: Judged<Ask>, at time: Date) -> [RecoveryAnswer] {
        zip(judged.batch.records, judged.verdicts).compactMap { record, verdict in
            let (reason, message): (AskReason, String?) =
                switch verdict {
                case .forward: (.undecodable, nil)
                case .discard(let reason): (reason, reason.advice)
                case .deadLetter(let reason, let message): (reason, message.storable)
                }
            guard reason != .undecodable else { return nil }
            return (try? RecoveryRequest(record.wire))?.unanswered(reason, message, at: time)
        }
    }
}

extension AskReason {
    /// One sentence for an operator.
    fileprivate var advice: String? {
        switch self {
        case .withoutHistory: "Apple keeps no history of this environment"
        case .withoutKey:
            "there is no key for this app and environment; add one to STOREKEEPER_API_KEYS_FILE and ask again"
        case .notFound: "Apple knows nothing of this purchase in this environment"
        case .undecodable, .refused, .unreadable, .unaskable: nil
        }
    }
}
