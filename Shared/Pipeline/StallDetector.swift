/// Decides whether a worker stalls: records wait in its partitions and it handles none of them. No I/O.
///
/// A dependency that is unavailable makes attempts fail, again and again and visibly; a restart would not help, and a
/// supervisor that keeps restarting waits longer each time. So attempts that fail are given ten minutes. Silence, with no
/// record handled and no attempt failed, is a hang, and is given one.
struct StallDetector {
    /// What waits in the partitions that a worker owns.
    struct Backlog: Equatable, Sendable {
        var topic: String
        var partitions: Int
        var records: Int64
    }

    /// Without a handled record or a failed attempt.
    static let silenceLimit = Duration.seconds(60)
    /// Without a handled record, whatever was attempted.
    static let failureLimit = Duration.seconds(600)

    private var backlog: Backlog?
    /// Records wait since then, and none was handled after.
    private var since: ContinuousClock.Instant?
    private var isBatchInHand = false
    /// The last failed attempt since a batch was handled.
    private var failure: (error: String, at: ContinuousClock.Instant)?
    /// What the Kafka client reported last and tries again by itself.
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

    /// - Parameter backlog: nil where nothing waits, or the worker owns no partition.
    mutating func observed(_ backlog: Backlog?, clientError: String? = nil, at now: ContinuousClock.Instant) {
        self.backlog = backlog
        self.clientError = clientError
        since = backlog == nil ? nil : since ?? now
    }

    /// How long no record was handled although some wait; zero while a batch is in hand.
    func duration(at now: ContinuousClock.Instant) -> Duration {
        guard let since, !isBatchInHand else { return .zero }
        return since.duration(to: now)
    }

    /// How long there has been neither a handled record nor a failed attempt although records wait.
    func silence(at now: ContinuousClock.Instant) -> Duration {
        min(duration(at: now), failure.map { $0.at.duration(to: now) } ?? duration(at: now))
    }

    /// Whether a restart is the cure.
    func isHung(at now: ContinuousClock.Instant) -> Bool {
        silence(at: now) > Self.silenceLimit || duration(at: now) > Self.failureLimit
    }

    /// What an operator reads, with the cause as far as it shows; nil within a minute.
    func complaint(at now: ContinuousClock.Instant) -> String? {
        guard let backlog, duration(at: now) > Self.silenceLimit else { return nil }
        return "has handled no record for \(duration(at: now).components.seconds) s although \(backlog.records) wait "
            + "in \(backlog.partitions) partitions of \(backlog.topic); \(cause(at: now))"
    }

    private func cause(at now: ContinuousClock.Instant) -> String {
        if let failure, silence(at: now) <= Self.silenceLimit { return "every attempt fails: \(failure.error)" }
        if let clientError { return "the Kafka client delivers none and last reported: \(clientError)" }
        guard let failure else { return "the Kafka client delivers none and reports no error" }
        return "the Kafka client delivers none since an attempt failed: \(failure.error)"
    }
}
