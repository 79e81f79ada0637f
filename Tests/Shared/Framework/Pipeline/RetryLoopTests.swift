import ServiceLifecycle
import Synchronization
import TestSupport
import Testing

@testable import Chassis
@testable import Pipeline

@Suite(.hangLimit) struct RetryLoopTests {
    struct Away: Error {}

    private struct Loop: Service {
        let retryLoop: RetryLoop
        let turn: @Sendable (Bool) async throws -> Duration

        func run() async throws { await retryLoop.run(turn) }
    }

    @Test func `RetryLoop reports a turn that fails, and retries until the process stops`() async throws {
        let (turns, turned) = AsyncStream<Bool>.makeStream()
        let failures = Mutex(0)
        let outcomes = Mutex([true, false, true, true])
        let clock = SkippingClock { _ in await Task.yield() }
        let retryLoop = RetryLoop(clock: clock) { _ in
            failures.withLock { $0 += 1 }
        }
        let loop = Loop(retryLoop: retryLoop) { beginsAnew in
            turned.yield(beginsAnew)
            let isWell = outcomes.withLock { $0.isEmpty ? true : $0.removeFirst() }
            guard isWell else { throw Away() }
            return .seconds(7)
        }
        var seen: [Bool] = []
        try await whileRunning([loop]) {
            for await turn in turns {
                seen.append(turn)
                if seen.count == 4 { break }
            }
        }
        #expect(seen == [true, false, true, false])
        #expect(failures.withLock { $0 } == 1)
        #expect(clock.sleeps.first == .seconds(7))
        // After a failure, a tenth of a second at most.
        #expect(clock.sleeps[1] <= .milliseconds(100))
    }
}
