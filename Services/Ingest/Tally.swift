import Chassis
import Synchronization

/// Counts the answers: since the start for the metrics, since the last heartbeat for the next.
final class Tally: Sendable {
    /// The answers since the last heartbeat.
    struct Counts: Sendable, Equatable {
        var accepted: Int64 = 0
        /// By HTTP status.
        var rejected: [Int: Int64] = [:]
        /// By the name of the error.
        var reasons: [String: Int64] = [:]
    }

    private let counts = Mutex(Counts())
    private let accepted = Metric.ingestRequests.counter("200")
    private let acknowledgement = Metric.ingestAcknowledgement.timer()

    /// - Parameter waited: from the complete request to Kafka's acknowledgement.
    func accepted(after waited: Duration) {
        accepted.increment()
        acknowledgement.recordNanoseconds(Int64(waited / .nanoseconds(1)))
        counts.withLock { $0.accepted += 1 }
    }

    func rejected(_ rejection: RequestRejection) {
        Metric.ingestRequests.counter("\(rejection.status)").increment()
        counts.withLock {
            $0.rejected[rejection.status, default: 0] += 1
            $0.reasons[rejection.name, default: 0] += 1
        }
    }

    /// Returns the counts since the last call, and resets them.
    func take() -> Counts {
        counts.withLock { counts in
            defer { counts = Counts() }
            return counts
        }
    }
}
