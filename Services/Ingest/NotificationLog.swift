import Chassis
import Contracts
import Kafka
import Pipeline
import Synchronization

/// The log as ingest sees it: a notification is in it, or it is not.
final class NotificationLog: Sendable {
    private struct State {
        var inFlight = 0
        var isFailing = false
        /// Those of the producer that are counted already.
        var fatalErrors = 0
    }

    private let producer: Producer
    private let limits: Limits
    private let logger: Logger
    private let state = Mutex(State())
    private let fatal = Metric.producerFatal.counter()
    private let inFlight = Metric.ingestInFlight.gauge()

    init(producer: Producer, limits: Limits, logger: Logger) {
        self.producer = producer
        self.limits = limits
        self.logger = logger
        Metric.ingestInFlightLimit.gauge().record(limits.inFlight)
    }

    /// Returns nil once the log has acknowledged the notification, else why it has not: then it may be in the log all
    /// the same, and what Apple sends again is a repeat that the line drops.
    func append(_ notification: ReceivedNotification) async -> Refusal? {
        guard enter() else { return .tooManyInFlight }
        defer { leave() }
        do {
            _ = try await producer.send(
                ProducerRecord(Topics.received, notification), deadline: limits.acknowledgement)
            recovered()
            return nil
        } catch {
            failed(error)
            return .logUnavailable
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

    /// An outage is one line when it begins and one when it ends, however many requests fall into it.
    private func failed(_ error: any Error) {
        let (isNews, fatalErrors) = state.withLock { state in
            let news = (!state.isFailing, producer.fatalErrors - state.fatalErrors)
            state.isFailing = true
            state.fatalErrors += news.1
            return news
        }
        fatal.increment(by: fatalErrors)
        guard isNews else { return }
        logger.error("The log takes nothing; requests are answered 503 until it does", metadata: ["error": "\(error)"])
    }

    private func recovered() {
        let isNews = state.withLock { state in
            defer { state.isFailing = false }
            return state.isFailing
        }
        if isNews { logger.notice("The log takes notifications again") }
    }
}
