/// Decides whether a worker stalls: records wait in its partitions and it processes none of them, or it does not finish those that
/// it has. No I/O.
///
/// A dependency that is unavailable or does not answer makes attempts fail or last, visibly, and a restart would not help: the worker
/// is not ready, and alive. Silence, with no record processed, none in hand and no attempt failed, is a hang, and is given a minute.
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
    /// From when a batch was read until it is settled, over all attempts.
    static let batchLimit = Duration.seconds(30)
    /// Without a partition, while no other instance settles a record.
    static let idleLimit = Duration.seconds(600)

    private var backlog: Backlog?
    /// Since when records wait and none was processed.
    private var since: ContinuousClock.Instant?
    private var isProcessing = false
    /// When the batch in hand was read first.
    private var batchSince: ContinuousClock.Instant?
    /// The last failed attempt since a batch was processed.
    private var failure: (error: String, at: ContinuousClock.Instant)?
    /// The last error of the Kafka client, which retries by itself.
    private var clientError: String?

    /// A batch is being processed and settled, perhaps not for the first time.
    mutating func received(at now: ContinuousClock.Instant) {
        isProcessing = true
        batchSince = batchSince ?? now
    }

    mutating func handled(at now: ContinuousClock.Instant) {
        isProcessing = false
        batchSince = nil
        failure = nil
        if since != nil { since = now }
    }

    mutating func failed(_ error: String, at now: ContinuousClock.Instant) {
        isProcessing = false
        failure = (error, now)
    }

    /// - Parameter backlog: nil where nothing waits.
    mutating func observed(_ backlog: Backlog?, clientError: String? = nil, at now: ContinuousClock.Instant) {
        // Another instance settles records, or partitions came or went: counted from now.
        if backlog?.settledByGroup != self.backlog?.settledByGroup { since = nil }
        self.backlog = backlog
        self.clientError = clientError
        since = backlog == nil ? nil : since ?? now
        if backlog == nil, !isProcessing { batchSince = nil }
    }

    /// What waited in its former partitions is for other instances to process.
    mutating func ownsNothing() {
        guard backlog?.settledByGroup == nil else { return }
        backlog = nil
        since = nil
        if !isProcessing { batchSince = nil }
    }

    /// How long no record was processed although some wait; zero in the first half minute of a batch.
    func duration(at now: ContinuousClock.Instant) -> Duration {
        let waiting = isProcessing ? .zero : since?.duration(to: now) ?? .zero
        return max(waiting, overdueBatch(at: now) ?? .zero)
    }

    private func overdueBatch(at now: ContinuousClock.Instant) -> Duration? {
        guard let held = batchSince?.duration(to: now), held > Self.batchLimit else { return nil }
        return held
    }

    /// How long there has been neither a processed record nor one in hand nor a failed attempt although records wait in its own
    /// partitions.
    func silence(at now: ContinuousClock.Instant) -> Duration {
        guard let since, !isProcessing, backlog?.settledByGroup == nil else { return .zero }
        return min(since.duration(to: now), failure.map { $0.at.duration(to: now) } ?? since.duration(to: now))
    }

    /// Whether a restart helps.
    func isHung(at now: ContinuousClock.Instant) -> Bool {
        silence(at: now) > Self.silenceLimit
            || backlog?.settledByGroup != nil && duration(at: now) > Self.idleLimit
    }

    /// A message for operators, with the cause as far as it is known; nil while it is too early for one.
    func complaint(at now: ContinuousClock.Instant) -> String? {
        if let held = overdueBatch(at: now), silence(at: now) <= Self.silenceLimit {
            let cause = failure.map { "every attempt fails: \($0.error)" } ?? "it waits for an answer of a dependency"
            return "has not finished a batch of records for \(held.components.seconds) s; \(cause)"
        }
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
