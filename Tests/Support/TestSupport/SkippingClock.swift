import Synchronization

/// A clock on which sleeping takes no time and advances the clock.
package final class SkippingClock: Clock, Sendable {
    /// A time since the clock was made.
    package struct Instant: InstantProtocol {
        package let offset: Duration

        package func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        package func duration(to other: Instant) -> Duration { other.offset - offset }
        package static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private let state = Mutex((now: Duration.zero, sleeps: [Duration]()))
    private let before: @Sendable (Duration) async throws -> Void

    /// - Parameter before: what happens before each sleep, which is given; by default nothing.
    package init(before: @escaping @Sendable (Duration) async throws -> Void = { _ in }) {
        self.before = before
    }

    package var now: Instant { Instant(offset: state.withLock(\.now)) }
    package var minimumResolution: Duration { .nanoseconds(1) }
    /// How long each sleep was to be, in order.
    package var sleeps: [Duration] { state.withLock(\.sleeps) }

    package func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        try Task.checkCancellation()
        try await before(now.duration(to: deadline))
        try Task.checkCancellation()
        state.withLock { state in
            state.sleeps.append(deadline.offset - state.now)
            state.now = max(state.now, deadline.offset)
        }
    }

    /// Advances the clock.
    package func pass(_ duration: Duration) { state.withLock { $0.now += duration } }
}
