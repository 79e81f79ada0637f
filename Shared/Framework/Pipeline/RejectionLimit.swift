/// A circuit breaker: how many records a worker may reject before it suspects its own release and stops.
public struct RejectionLimit: Sendable {
    /// That many counted dead letters in a row stop the worker.
    public var consecutive: Int
    /// That share of counted dead letters among the last ``window`` records stops the worker.
    public var ratio: Double
    /// Number of records over which the ratio is computed.
    public var window: Int

    /// - Parameters: as described above.
    public init(consecutive: Int = 100, ratio: Double = 0.5, window: Int = 1000) {
        self.consecutive = consecutive
        self.ratio = ratio
        self.window = window
    }
}

/// The worker stopped before it moved the whole topic to the dead letters.
public struct RejectionLimitReached: FatalWorkerError, CustomStringConvertible {
    /// The stage that rejected them.
    public var stage: String
    /// The raw value of the most recent reason.
    public var reason: String
    /// How many records.
    public var counted: Int

    /// One sentence.
    public var description: String {
        "\(stage) stopped: \(counted) different records were rejected as \(reason), which points at this release rather "
            + "than at the records. None of this batch was committed. Deploy a build that reads them, or raise "
            + "STOREKEEPER_REJECTION_RUN or STOREKEEPER_REJECTION_RATIO."
    }
}

/// Counts what was settled and decides when to stop.
///
/// Counts subjects, not records: a customer can capture one genuine payload that this release rejects and send it a
/// thousand times. A counted subject does not count again while it is remembered.
struct RejectionCounter {
    /// Number of remembered subjects; several windows of them, so that no mixture of old ones fills a window.
    static let memory = 16_384

    private let limit: RejectionLimit
    private var run = 0
    private var known: Set<Int> = []
    /// In the order they were counted; the oldest is overwritten when the memory is full.
    private var order: [Int] = []
    private var oldest = 0
    /// The last records, newest last: true for a counted dead letter.
    private var recent: [Bool] = []
    private var counted = 0

    init(_ limit: RejectionLimit) { self.limit = limit }

    /// Number of remembered subjects.
    var remembered: Int { known.count }

    /// Called before a batch is settled: the reason that exceeds the limit, or nil.
    mutating func crossing<S: Stage>(_ batch: ProcessedBatch<S>) -> (reason: String, counted: Int)? {
        crossing(zip(batch.results, batch.batch.records.lazy.map { $0.wire.key ?? $0.wire.value }))
    }

    /// - Parameter results: each with what distinguishes its record: the key, which is the purchase where there is one,
    ///   else the value. A reason with a better subject names it itself.
    mutating func crossing<Output, Reason>(
        _ results: some Sequence<(StageResult<Output, Reason>, [UInt8])>
    ) -> (reason: String, counted: Int)? {
        for (result, identity) in results {
            switch result {
            case .deadLetter(let reason, _) where reason.countsTowardsRejectionLimit:
                guard isNew(reason.subject?.hashValue ?? identity.hashValue) else { continue }
                run += 1
                remember(true)
                if run >= limit.consecutive { return (reason.rawValue, run) }
                if recent.count >= limit.window, Double(counted) > limit.ratio * Double(recent.count) {
                    return (reason.rawValue, counted)
                }
            case .deadLetter:
                // Neither good nor bad: forgeries of other clients must not hide rejections by interrupting the run.
                break
            case .discard(let reason) where reason.isDeferred:
                break
            case .forward, .discard:
                run = 0
                remember(false)
            }
        }
        return nil
    }

    private mutating func isNew(_ subject: Int) -> Bool {
        guard known.insert(subject).inserted else { return false }
        if order.count < Self.memory {
            order.append(subject)
        } else {
            known.remove(order[oldest])
            order[oldest] = subject
            oldest = (oldest + 1) % Self.memory
        }
        return true
    }

    private mutating func remember(_ isRejected: Bool) {
        recent.append(isRejected)
        counted += isRejected ? 1 : 0
        guard recent.count > limit.window else { return }
        counted -= recent.removeFirst() ? 1 : 0
    }
}
