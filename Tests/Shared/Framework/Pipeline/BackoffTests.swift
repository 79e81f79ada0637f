import Pipeline
import TestSupport
import Testing

@Suite struct BackoffTests {
    /// Always the largest number: the jitter at its upper end.
    struct Largest: RandomNumberGenerator {
        mutating func next() -> UInt64 { .max }
    }

    @Test func `Backoff doubles its bound with every failure up to the cap`() {
        var backoff = Backoff(base: .milliseconds(100), cap: .seconds(1))
        var largest = Largest()
        let bounds = (0..<6).map { _ in backoff.next(using: &largest) }
        #expect(bounds == [100, 200, 400, 800, 1000, 1000].map { Duration.milliseconds($0) })
        #expect(backoff.failures == 6)
    }

    @Test func `Backoff begins again after a success`() {
        var backoff = Backoff(base: .milliseconds(100), cap: .seconds(1))
        var largest = Largest()
        for _ in 0..<4 { _ = backoff.next(using: &largest) }
        backoff.reset()
        #expect(backoff.next(using: &largest) == .milliseconds(100))
    }

    @Test func `Backoff neither overflows nor exceeds the cap after many failures`() {
        var backoff = Backoff()
        var generator = SeededGenerator(state: 1)
        for _ in 0..<1000 { #expect(backoff.next(using: &generator) <= .seconds(30)) }
    }
}
