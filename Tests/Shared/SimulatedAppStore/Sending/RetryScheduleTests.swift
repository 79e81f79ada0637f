import Testing

@testable import SimulatedAppStore

@Suite struct RetryScheduleTests {
    private let apple = RetrySchedule(scale: 1, retriesSandbox: false, retriesBadRequests: true)

    @Test func `Production is tried six times, 1, 12, 24, 48 and 72 hours after the attempt before`() {
        let delays = (1...6).map { apple.delay(after: $0, status: 503, in: .production) }
        #expect(delays == [1, 12, 24, 48, 72].map { .seconds($0 * 3600) } + [nil])
    }

    @Test func `Sandbox is tried once`() {
        #expect(apple.delay(after: 1, status: 503, in: .sandbox) == nil)
        #expect(apple.delay(after: 1, status: nil, in: .sandbox) == nil)
    }

    @Test func `Sandbox is retried with --retry-sandbox`() {
        let schedule = RetrySchedule(scale: 3600, retriesSandbox: true, retriesBadRequests: true)
        #expect(schedule.delay(after: 2, status: nil, in: .sandbox) == .seconds(12))
    }

    @Test func `Bad request is retried unless --no-retry-bad-request is set`() {
        var schedule = apple
        #expect(schedule.delay(after: 1, status: 400, in: .production) == .seconds(3600))
        schedule.retriesBadRequests = false
        #expect(schedule.delay(after: 1, status: 400, in: .production) == nil)
        #expect(schedule.delay(after: 1, status: 500, in: .production) == .seconds(3600))
        #expect(schedule.delay(after: 1, status: nil, in: .production) == .seconds(3600))
    }
}
