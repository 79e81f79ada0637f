import Synchronization

/// A clock that stands still until a test moves it, and reports when a task sleeps by it.
package final class WakingClock: Clock {
    /// A time since the clock was made.
    package struct Instant: InstantProtocol {
        package var offset: Duration

        package func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        package func duration(to other: Instant) -> Duration { other.offset - offset }
        package static func < (one: Instant, other: Instant) -> Bool { one.offset < other.offset }
    }

    private struct State {
        var now = Instant(offset: .zero)
        var sleepers: [Int: (until: Instant, wake: CheckedContinuation<Void, any Error>)] = [:]
        var sleepsBegun = 0
        var observers: [(count: Int, tell: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Mutex(State())

    /// Stands at zero.
    package init() {}

    package var now: Instant { state.withLock(\.now) }
    package var minimumResolution: Duration { .nanoseconds(1) }

    package func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        let number = state.withLock { state in
            state.sleepsBegun += 1
            return state.sleepsBegun
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { wake in
                let observers = state.withLock { state in
                    state.sleepers[number] = (deadline, wake)
                    let ready = state.observers.filter { $0.count <= number }
                    state.observers.removeAll { $0.count <= number }
                    return ready
                }
                for observer in observers { observer.tell.resume() }
                if Task.isCancelled { cancel(number) }
            }
        } onCancel: {
            cancel(number)
        }
    }

    /// Returns once a task sleeps, however often one has before.
    package func someoneSleeps() async { await sleepsBegin(1) }

    /// Wakes sleeps no longer than this, and returns when the next sleep begins: when a loop has run once.
    package func turn(by duration: Duration) async {
        await someoneSleeps()
        let (woken, begun) = state.withLock { state in
            state.now = state.now.advanced(by: duration)
            let woken = state.sleepers.filter { $0.value.until <= state.now }
            for number in woken.keys { state.sleepers[number] = nil }
            return (woken.values.map(\.wake), state.sleepsBegun)
        }
        for wake in woken { wake.resume() }
        await sleepsBegin(begun + 1)
    }

    private func sleepsBegin(_ count: Int) async {
        await withCheckedContinuation { tell in
            let isThere = state.withLock { state in
                if state.sleepers.keys.contains(where: { $0 >= count }) { return true }
                state.observers.append((count, tell))
                return false
            }
            if isThere { tell.resume() }
        }
    }

    private func cancel(_ number: Int) {
        state.withLock { $0.sleepers.removeValue(forKey: number) }?.wake.resume(throwing: CancellationError())
    }
}
