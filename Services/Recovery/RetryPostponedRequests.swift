import Chassis
import Contracts
import Kafka
import Pipeline
import Storage

/// Publishes postponed requests again when they are due.
///
/// Safe to run in several processes: a request published twice is fetched twice.
struct RetryPostponedRequests: Service {
    let postponed: PostponedRequestStore
    let producer: Producer
    let liveness: LivenessProbe
    let logger: Logger
    var clock: any Clock<Duration> = ContinuousClock()

    /// Limit for one run and the pause after it.
    static let turnLimit: Duration = .seconds(120)
    /// Maximum per run, so that new requests do not wait for all old ones.
    private static let limit = 50
    /// Seconds after which an unanswered request is published again.
    private static let patience: Int64 = 900

    func run() async throws {
        await RetryLoop(liveness: liveness, clock: clock) { error in
            logger.warning(
                "Could not repeat postponed requests for histories of customers; retrying",
                metadata: ["error": "\(error)"])
        }.run { _ in
            try await turn()
            return .seconds(1)
        }
    }

    func turn() async throws {
        let due = try await postponed.take(limit: Self.limit, seconds: Self.patience)
        do {
            try await producer.send(due.map { ProducerRecord(Topics.recoveryRequests, $0) })
        } catch {
            // Right after a start the producer has not seen the topics yet. The requests would wait for an answer that cannot come.
            try await postponed.release(due)
            throw error
        }
        let waiting = try await postponed.waiting().reduce(0) { $0 + $1.requests }
        Metric.recoveryRequestsPostponed.gauge().record(waiting)
    }
}
