/// How much refusal is too much. If suddenly everything is poison, the poison is our release.
public struct PoisonLimit: Sendable {
    /// That many counted dead letters in a row stop the worker.
    public var consecutive: Int
    /// That share of counted dead letters among the last ``window`` records stops the worker.
    public var ratio: Double
    /// How many records the ratio looks back on.
    public var window: Int

    /// All fields.
    public init(consecutive: Int = 100, ratio: Double = 0.5, window: Int = 1000) {
        self.consecutive = consecutive
        self.ratio = ratio
        self.window = window
    }
}

/// The worker stopped itself before it emptied the log into the dead letters.
public struct PoisonLimitReached: EndsTheWorker, CustomStringConvertible {
    /// The stage that refused it.
    public var stage: String
    /// The raw value of the reason that was most recent.
    public var reason: String
    /// How many records.
    public var counted: Int

    /// For people.
    public var description: String {
        "\(stage) stopped: \(counted) records were refused as \(reason), which points at this release rather than at "
            + "the records. None of this batch was settled. Deploy a build that reads them, or raise the poison limit."
    }
}

/// Counts what was settled and says when to stop.
struct PoisonGauge {
    private let limit: PoisonLimit
    private var run = 0
    /// The last records, newest last: true for a counted dead letter.
    private var recent: [Bool] = []
    private var counted = 0

    init(_ limit: PoisonLimit) { self.limit = limit }

    /// Asked before a batch is settled: the reason that crosses the limit, or nil.
    mutating func crossing<Output, Reason>(_ verdicts: [Verdict<Output, Reason>]) -> (reason: String, counted: Int)? {
        for verdict in verdicts {
            switch verdict {
            case .deadLetter(let reason, _) where reason.countsTowardsPoisonLimit:
                run += 1
                remember(true)
                if run >= limit.consecutive { return (reason.rawValue, run) }
                if recent.count >= limit.window, Double(counted) > limit.ratio * Double(recent.count) {
                    return (reason.rawValue, counted)
                }
            case .deadLetter:
                // Neither good nor bad: a stranger's forgeries must not hide our own poison by breaking the run.
                break
            case .forward, .discard:
                run = 0
                remember(false)
            }
        }
        return nil
    }

    private mutating func remember(_ isPoison: Bool) {
        recent.append(isPoison)
        counted += isPoison ? 1 : 0
        guard recent.count > limit.window else { return }
        counted -= recent.removeFirst() ? 1 : 0
    }
}
