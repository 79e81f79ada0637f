/// Spreads deliveries evenly over time.
///
/// A late delivery catches up, but on no more than a second's worth: no flood follows a pause.
struct Pace: Sendable {
    private static let credit: Duration = .seconds(1)

    private let interval: Duration?
    private var slot: ContinuousClock.Instant?

    /// - Parameter rate: per second; 0 or less is unlimited.
    init(rate: Double) { interval = rate > 0 ? .seconds(1 / rate) : nil }

    /// When a delivery may begin; nil if now.
    func wait(at instant: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        guard interval != nil, let slot, slot > instant else { return nil }
        return slot
    }

    /// A delivery begins.
    mutating func begin(at instant: ContinuousClock.Instant) {
        guard let interval else { return }
        slot = max(slot ?? instant, instant - Self.credit) + interval
    }
}
