import Chassis
import Synchronization

/// Counts the answers: for the metrics since the start, for the heartbeat since it was last taken.
final class Tally: Sendable {
    /// The answers of one stretch of time.
    struct Counts: Sendable, Equatable {
        var accepted: Int64 = 0
        /// By HTTP status.
        var refused: [Int: Int64] = [:]
        /// By the refusal's name.
        var reasons: [String: Int64] = [:]
    }

    private let counts = Mutex(Counts())
    private let accepted = Metric.ingestRequests.counter("200")
    private let acknowledgement = Metric.ingestAcknowledgement.timer()

    /// - Parameter waited: from the complete request to the log's acknowledgement.
    func accepted(after waited: Duration) {
        accepted.increment()
        acknowledgement.recordNanoseconds(Int64(waited / .nanoseconds(1)))
        counts.withLock { $0.accepted += 1 }
    }

    func refused(_ refusal: Refusal) {
        Metric.ingestRequests.counter("\(refusal.status)").increment()
        counts.withLock {
            $0.refused[refusal.status, default: 0] += 1
            $0.reasons[refusal.name, default: 0] += 1
        }
    }

    /// What was counted since the last time, which from now on counts as taken.
    func take() -> Counts {
        counts.withLock { counts in
            defer { counts = Counts() }
            return counts
        }
    }
}
