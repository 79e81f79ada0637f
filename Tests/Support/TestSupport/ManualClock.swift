import Foundation
import Synchronization

/// A wall clock and a monotonic one that stand still until a test moves both.
public final class ManualClock: Sendable {
    private let state: Mutex<(Date, ContinuousClock.Instant)>

    /// Stands at a fixed date.
    public init(at date: Date = Date(timeIntervalSince1970: 1_765_000_000)) {
        state = Mutex((date, ContinuousClock.now))
    }

    /// The wall clock.
    public var now: Date { state.withLock(\.0) }

    /// The monotonic clock.
    public var instant: ContinuousClock.Instant { state.withLock(\.1) }

    /// Moves both.
    public func advance(by duration: Duration) {
        state.withLock { state in
            state.0.addTimeInterval(duration / .seconds(1))
            state.1 = state.1.advanced(by: duration)
        }
    }

    /// Sets the wall clock ahead, or back, and leaves the monotonic one.
    public func setAhead(by seconds: Double) { state.withLock { $0.0.addTimeInterval(seconds) } }

    /// Moves both by seconds.
    public func advance(by seconds: Double) { advance(by: .seconds(seconds)) }
}
