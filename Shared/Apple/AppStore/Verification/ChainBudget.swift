import Synchronization

/// Limits how many unknown certificate chains are proven: a number at once, and a number per second after that.
///
/// Proving one takes about ten times as long as a whole notification under a known chain, and any client can send
/// Apple's intermediate with a leaf of its own. Apple itself has a handful of chains at a time.
public final class ChainBudget: Sendable {
    /// What a verifier proves per second beside its other work: a tenth of a core.
    public static let perSecond = 50

    /// Nothing: unknown chains are left open before any signature is verified.
    public static let none = ChainBudget(perSecond: 0, burst: 0, instant: { .now })

    private struct State {
        var tokens: Double
        var refilledAt: ContinuousClock.Instant
    }

    private let burst: Double
    private let rate: Double
    private let instant: @Sendable () -> ContinuousClock.Instant
    private let state: Mutex<State>

    /// - Parameters:
    ///   - perSecond: how many are added per second.
    ///   - burst: how many there are at the beginning, and at most.
    public init(
        perSecond rate: Double, burst: Int, instant: @escaping @Sendable () -> ContinuousClock.Instant
    ) {
        self.burst = Double(burst)
        self.rate = rate
        self.instant = instant
        state = Mutex(State(tokens: Double(burst), refilledAt: instant()))
    }

    /// Whether one could be taken.
    var isAvailable: Bool { burst > 0 && use(0) }

    /// Takes one; false where none is left.
    public func take() -> Bool { burst > 0 && use(1) }

    private func use(_ tokens: Double) -> Bool {
        let now = instant()
        return state.withLock { state in
            let elapsed = state.refilledAt.duration(to: now) / .seconds(1)
            state.tokens = min(burst, state.tokens + max(0, elapsed) * rate)
            state.refilledAt = now
            guard state.tokens >= 1 else { return false }
            state.tokens -= tokens
            return true
        }
    }
}
