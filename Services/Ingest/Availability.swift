/// Reports whether Kafka acknowledges notifications, at most once a minute for each state. No I/O.
///
/// Where only some partitions fail, successes and failures alternate many times a second; the share says how bad it is.
struct Availability {
    /// A change that is logged.
    enum Change: Equatable {
        case failing(failed: Int, of: Int)
        case available
    }

    private static let interval = Duration.seconds(60)

    private var start: ContinuousClock.Instant
    private var attempts = 0
    private var failures = 0
    private var isFailing = false

    init(at now: ContinuousClock.Instant) { start = now }

    mutating func note(isWritten: Bool, at now: ContinuousClock.Instant) -> Change? {
        var change: Change?
        if start.duration(to: now) >= Self.interval {
            if isFailing { change = failures > 0 ? .failing(failed: failures, of: attempts) : .available }
            isFailing = isFailing && failures > 0
            (start, attempts, failures) = (now, 0, 0)
        }
        attempts += 1
        guard !isWritten else { return change }
        failures += 1
        guard !isFailing else { return change }
        isFailing = true
        let seen = Change.failing(failed: failures, of: attempts)
        (start, attempts, failures) = (now, 0, 0)
        return seen
    }
}
