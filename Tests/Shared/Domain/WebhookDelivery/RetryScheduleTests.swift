import TestSupport
import Testing

@testable import WebhookDelivery

@Suite struct RetryScheduleTests {
    @Test func `The schedule has nine retries over 75.6 hours`() {
        #expect(RetrySchedule.delays == [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400])
        #expect((75.5...75.7).contains(RetrySchedule.delays.reduce(0, +) / 3600))
    }

    @Test func `Each delay is up to a tenth longer or shorter, and after the tenth failure there is none`() throws {
        var generator = SeededGenerator(state: 4)
        for attempt in 1...9 {
            let delays = (0..<200).compactMap { _ in RetrySchedule.delay(after: attempt, using: &generator) }
            let middle = RetrySchedule.delays[attempt - 1]
            #expect(delays.count == 200 && delays.allSatisfy { (middle * 0.9...middle * 1.1).contains($0) })
            let (least, most) = (try #require(delays.min()), try #require(delays.max()))
            #expect(least < middle * 0.93 && most > middle * 1.07)
        }
        #expect(RetrySchedule.delay(after: 10, using: &generator) == nil)
    }
}
