/// When the next request of one kind may be sent.
///
/// It gives out moments instead of counting tokens: each caller gets the next free moment, at even distances, and a late
/// waking costs nothing of the rate. Moments are durations since some start.
struct TokenBucket: Sendable {
    private let distance: Duration
    /// How much earlier than at even distances a moment may be: what makes a short burst possible.
    private let tolerance: Duration
    /// The next moment at even distances.
    private var next: Duration = .zero
    private var closedUntil: Duration = .zero

    /// - Parameter burst: How many may go at once after a pause.
    init(perSecond rate: Double, burst: Int) {
        distance = .seconds(1 / rate)
        tolerance = distance * max(0, burst - 1)
    }

    /// The earliest moment at which a request may be sent; still to be taken.
    func moment(at now: Duration) -> Duration { max(now, next - tolerance, closedUntil) }

    /// Takes a moment that ``moment(at:)`` gave.
    mutating func take(_ moment: Duration) { next = max(next, moment) + distance }

    /// Lets nothing through before; moments given out already for a time before are void.
    mutating func close(until reopening: Duration) {
        closedUntil = max(closedUntil, reopening)
        next = max(next, reopening)
    }

    /// Whether a moment that was taken still holds.
    func isOpen(at moment: Duration) -> Bool { moment >= closedUntil }
}
