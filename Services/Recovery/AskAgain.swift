import Chassis
import Contracts
import Kafka
import Pipeline
import Storage

/// Puts requests that were postponed back on the log when their time has come.
///
/// Any number of processes may do it at once. What is put back twice is asked twice, which is harmless.
struct AskAgain: Service {
    let postponed: PostponedRequestStore
    let producer: Producer
    let liveness: LivenessProbe
    let logger: Logger
    var clock: any Clock<Duration> = ContinuousClock()

    /// What a turn takes at most while all is well, with the pause after it.
    static let turnLimit: Duration = .seconds(120)
    /// More than these wait for the next turn: new requests are not to stand behind all that is old.
    private static let limit = 50
    /// After which a request is put back of which nothing was heard.
    private static let patience: Int64 = 900

    func run() async throws {
        await RetryLoop(liveness: liveness, clock: clock) { error in
            logger.warning("Postponed requests wait; it will be tried again", metadata: ["error": "\(error)"])
        }.run { _ in
            try await turn()
            return .seconds(1)
        }
    }

    func turn() async throws {
        let due = try await postponed.take(limit: Self.limit, seconds: Self.patience)
        try await producer.send(due.map { ProducerRecord(Topics.recoveryRequests, $0) })
        let waiting = try await postponed.waiting().reduce(0) { $0 + $1.requests }
        Metric.recoveryRequestsPostponed.gauge().record(waiting)
    }
}
