import Synchronization

/// The result of one record.
struct DeliveryReport: Sendable {
    let partition: Int32
    let offset: Int64
    let error: KafkaError?
}

/// One `send`, of one record or many, waiting for its delivery reports.
///
/// librdkafka holds one reference per record without a report. The reports come on the pump's thread; the sender
/// waits elsewhere, and may have gone (cancelled, or timed out) when they come.
final class PendingSend: Sendable {
    private typealias Outcome = Result<DeliveryReport, any Error>
    private typealias Waiter = CheckedContinuation<DeliveryReport, any Error>

    private struct State {
        /// One for the sender while it enqueues, and one per record.
        var owed = 1
        var failure: (any Error)?
        /// By the record's place in the batch.
        var failures: [Int: any Error] = [:]
        var last = DeliveryReport(partition: -1, offset: -1, error: nil)
        var waiter: Waiter?
        var isAbandoned = false
        /// Where a record without a key waits for its confirmation.
        var place: TopicPartition?

        var outcome: Outcome? {
            if isAbandoned || owed == 0 { return failure.map { .failure($0) } ?? .success(last) }
            return nil
        }
    }

    private let state = Mutex(State())

    /// Where the last record without a key waits for its confirmation; nil before its topic is known.
    var place: TopicPartition? { state.withLock(\.place) }

    func waits(at place: TopicPartition) { state.withLock { $0.place = place } }

    /// One more report will come.
    func expect() { state.withLock { $0.owed += 1 } }

    /// The record could not be enqueued: no report will come for it.
    func refuse(_ error: any Error, index: Int = 0) {
        settle { state in
            state.failure = state.failure ?? error
            state.failures[index] = error
        }
    }

    func receive(_ report: DeliveryReport, index: Int = 0) {
        settle { state in
            state.last = report
            guard let error = report.error else { return }
            state.failure = state.failure ?? error
            state.failures[index] = error
        }
    }

    /// The records that are not known to be written, by their place in the batch; complete once ``outcome()`` has returned.
    var failures: [Int: any Error] { state.withLock { $0.failures } }

    /// The sender has enqueued everything.
    func seal() { settle { _ in } }

    private func settle(_ change: (inout State) -> Void) {
        resume { state in
            change(&state)
            state.owed -= 1
        }
    }

    /// The sender stops waiting; later reports are dropped.
    func abandon(_ error: any Error) {
        resume { state in
            guard state.outcome == nil else { return }
            state.isAbandoned = true
            state.failure = error
        }
    }

    var isSettled: Bool { state.withLock { $0.outcome != nil } }

    private func resume(after change: (inout State) -> Void) {
        let (waiter, outcome) = state.withLock { state -> (Waiter?, Outcome?) in
            change(&state)
            guard let outcome = state.outcome else { return (nil, nil) }
            return (state.waiter.take(), outcome)
        }
        // Outside of the lock, because the resumed task may call back.
        if let waiter, let outcome { waiter.resume(with: outcome) }
    }

    /// - Returns: the last report, once all are successful.
    /// - Throws: the first failure, once all reports are in; `CancellationError` at once.
    func outcome() async throws -> DeliveryReport {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let outcome = state.withLock { state -> Outcome? in
                    if let outcome = state.outcome { return outcome }
                    state.waiter = continuation
                    return nil
                }
                if let outcome { continuation.resume(with: outcome) }
            }
        } onCancel: {
            abandon(CancellationError())
        }
    }
}

/// The reference that librdkafka holds for a record without a report.
final class DeliveryTicket: Sendable {
    private let delivery: PendingSend
    private let index: Int
    private let topic: String
    private let choices: PartitionChoices

    init(_ delivery: PendingSend, index: Int, topic: String, choices: PartitionChoices) {
        self.delivery = delivery
        self.index = index
        self.topic = topic
        self.choices = choices
    }

    /// Chooses the partition of a record without a key.
    func partition(of count: Int32) -> Int32 {
        let partition = choices.next(of: topic, count: count)
        delivery.waits(at: TopicPartition(topic: topic, partition: partition))
        return partition
    }

    func receive(_ report: DeliveryReport) {
        if report.error == nil { choices.confirms(TopicPartition(topic: topic, partition: report.partition)) }
        delivery.receive(report, index: index)
    }
}
