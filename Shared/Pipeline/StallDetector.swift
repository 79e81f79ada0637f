/// Decides whether a worker stalls: records wait in its partitions and it processes none of them. No I/O.
///
/// An unavailable dependency makes attempts fail, repeatedly and visibly; a restart would not help, and a
/// supervisor that keeps restarting waits longer each time. So attempts that fail are given ten minutes. Silence, with no
/// record processed and no attempt failed, is a hang, and is given one.
///
/// A worker without partitions has nothing to process, and is content as long as the others of its group settle records. Where
/// none does, it may be the one that the group has lost: it complains after a minute too, and is given ten before a restart,
/// because the others may be waiting for a dependency.
struct StallDetector {
    /// What waits in the partitions that a worker owns; for one that owns none, in those of its whole group.
    struct Backlog: Equatable, Sendable {
        var topic: String
        var partitions: Int
        var records: Int64
        /// How far the group has settled, summed over all partitions, where the worker owns none of them.
        var settledByGroup: Int64?
    }

    /// Without a processed record or a failed attempt.
    static let silenceLimit = Duration.seconds(60)
    /// Without a processed record, whatever was attempted.
    static let failureLimit = Duration.seconds(600)

    private var backlog: Backlog?
    /// Since when records wait and none was processed.
    private var since: ContinuousClock.Instant?
    private var isBatchInHand = false
    /// The last failed attempt since a batch was processed.
    private var failure: (error: String, at: ContinuousClock.Instant)?
    /// The last error of the Kafka client, which retries by itself.
    private var clientError: String?

    /// A batch is being processed and settled; the limit for one turn of the loop is its watchdog.
    mutating func received() { isBatchInHand = true }

    mutating func handled(at now: ContinuousClock.Instant) {
        isBatchInHand = false
        failure = nil
        if since != nil { since = now }
    }

    mutating func failed(_ error: String, at now: ContinuousClock.Instant) {
        isBatchInHand = false
        failure = (error, now)
    }

    /// - Parameter backlog: nil where nothing waits.
    mutating func observed(_ backlog: Backlog?, clientError: String? = nil, at now: ContinuousClock.Instant) {
        // Another instance settles records, or partitions came or went: counted from now.
        if backlog?.settledByGroup != self.backlog?.settledByGroup { since = nil }
        self.backlog = backlog
        self.clientError = clientError
        since = backlog == nil ? nil : since ?? now
    }

    /// What waited in its former partitions is for other instances to process.
    mutating func ownsNothing() {
        guard backlog?.settledByGroup == nil else { return }
        backlog = nil
        since = nil
    }

    /// How long no record was processed although some wait; zero during a batch.
    func duration(at now: ContinuousClock.Instant) -> Duration {
        guard let since, !isBatchInHand else { return .zero }
        return since.duration(to: now)
    }

    /// How long there has been neither a processed record nor a failed attempt although records wait in its own partitions.
    func silence(at now: ContinuousClock.Instant) -> Duration {
        guard backlog?.settledByGroup == nil else { return .zero }
        return min(duration(at: now), failure.map { $0.at.duration(to: now) } ?? duration(at: now))
    }

    /// Whether a restart helps.
    func isHung(at now: ContinuousClock.Instant) -> Bool {
        silence(at: now) > Self.silenceLimit || duration(at: now) > Self.failureLimit
    }

    /// A message for operators, with the cause as far as it is known; nil within a minute.
    func complaint(at now: ContinuousClock.Instant) -> String? {
        guard let backlog, duration(at: now) > Self.silenceLimit else { return nil }
        guard backlog.settledByGroup == nil else {
            return "owns no partition although \(backlog.records) records wait in \(backlog.topic), of which no "
                + "instance has committed any for \(duration(at: now).components.seconds) s"
                + (clientError.map { "; the Kafka client last reported: \($0)" } ?? "")
        }
        return "has processed no record for \(duration(at: now).components.seconds) s although \(backlog.records) wait "
            + "in \(backlog.partitions) partitions of \(backlog.topic); \(cause(at: now))"
    }

    private func cause(at now: ContinuousClock.Instant) -> String {
        if let failure, silence(at: now) <= Self.silenceLimit { return "every attempt fails: \(failure.error)" }
        if let clientError { return "the Kafka client delivers none and last reported: \(clientError)" }
        guard let failure else { return "the Kafka client delivers none and reports no error" }
        return "the Kafka client delivers none since an attempt failed: \(failure.error)"
    }
}
