import Chassis
import Contracts
import Kafka
import Pipeline
import Synchronization

/// Writes notifications to Kafka and says whether each is there.
final class NotificationProducer: Sendable {
    private struct State {
        var inFlight = 0
        var availability: Availability
        /// Errors of the producer that are counted already.
        var fatalErrors = 0
    }

    private let producer: Producer
    private let limits: Limits
    private let logger: Logger
    private let unreachableBrokers: @Sendable () -> String?
    private let instant: @Sendable () -> ContinuousClock.Instant
    private let state: Mutex<State>
    private let fatal = Metric.producerFatal.counter()
    private let inFlight = Metric.ingestInFlight.gauge()

    init(
        producer: Producer, limits: Limits, unreachableBrokers: @escaping @Sendable () -> String? = { nil },
        instant: @escaping @Sendable () -> ContinuousClock.Instant, logger: Logger
    ) {
        self.unreachableBrokers = unreachableBrokers
        self.producer = producer
        self.instant = instant
        state = Mutex(State(availability: Availability(at: instant())))
        self.limits = limits
        self.logger = logger
        Metric.ingestInFlightLimit.gauge().record(limits.inFlight)
    }

    /// Returns nil once Kafka has acknowledged the notification, else why not: it may be in the topic all the same, and the
    /// deduplicator drops the retry.
    func append(_ notification: ReceivedNotification) async -> RequestRejection? {
        guard enter() else { return .tooManyInFlight }
        defer { leave() }
        do {
            _ = try await producer.send(
                ProducerRecord(Topics.received, notification), deadline: limits.acknowledgement,
                elsewhereAfter: limits.patience)
            note(nil)
            return nil
        } catch {
            note(error)
            return .kafkaUnavailable
        }
    }

    private func enter() -> Bool {
        let entered: Int? = state.withLock {
            guard $0.inFlight < limits.inFlight else { return nil }
            $0.inFlight += 1
            return $0.inFlight
        }
        if let entered { inFlight.record(entered) }
        return entered != nil
    }

    private func leave() {
        inFlight.record(
            state.withLock {
                $0.inFlight -= 1
                return $0.inFlight
            })
    }

    /// - Parameter error: why the notification was not confirmed; nil if it was.
    private func note(_ error: (any Error)?) {
        let now = instant()
        let (change, fatalErrors) = state.withLock { state in
            let change = state.availability.note(isWritten: error == nil, at: now)
            guard error != nil else { return (change, 0) }
            let fatalErrors = producer.fatalErrors - state.fatalErrors
            state.fatalErrors += fatalErrors
            return (change, fatalErrors)
        }
        fatal.increment(by: fatalErrors)
        switch change {
        case .failing(let failed, let attempts):
            var metadata: Logger.Metadata = ["failed": "\(failed)", "of": "\(attempts)"]
            if let brokers = unreachableBrokers() { metadata["brokers"] = "\(brokers)" }
            if let error { metadata["error"] = "\(error)" }
            logger.error("Kafka unavailable; answering 503", metadata: metadata)
        case .available: logger.notice("Kafka available again; answering 200")
        case nil: break
        }
    }
}
