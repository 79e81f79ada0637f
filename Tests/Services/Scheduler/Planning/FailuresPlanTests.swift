import Contracts
import Foundation
import Storage
import Testing

@testable import Scheduler

@Suite struct FailuresPlanTests {
    static let now = Date(timeIntervalSince1970: 1_760_000_000)
    let plan = FailuresPlan(interval: 300, overlap: 900)

    static func coverage(
        _ kind: Coverage.Kind = .failures, begins: TimeInterval = -10 * 86_400, planned: TimeInterval
    ) -> Coverage {
        Coverage(
            environment: .production, bundleId: "com.example.app", kind: kind,
            beginsAt: now.addingTimeInterval(begins), plannedUntil: now.addingTimeInterval(planned),
            completeUntil: now.addingTimeInterval(planned))
    }

    func from(_ coverage: Coverage, asked: [RecoveryWindowStore.Asked] = []) -> TimeInterval? {
        plan.due(coverage, asked: asked, now: Self.now)?.from.timeIntervalSince(Self.now)
    }

    /// - Parameter seconds: since it was opened.
    static func asked(_ state: RecoveryWindow.State, secondsAgo seconds: TimeInterval) -> RecoveryWindowStore.Asked {
        RecoveryWindowStore.Asked(state, openedAt: now.addingTimeInterval(-seconds))
    }

    @Test func `FailuresPlan asks for failures from a little before the last request up to now`() throws {
        let scope = try #require(plan.due(Self.coverage(planned: -400), asked: [], now: Self.now))
        #expect(scope.from == Self.now.addingTimeInterval(-1300))
        #expect(scope.to == Self.now)
        #expect(scope.onlyFailures)
    }

    @Test func `FailuresPlan waits for its interval, and for the answer to the last request`() {
        #expect(from(Self.coverage(planned: -299)) == nil)
        #expect(from(Self.coverage(planned: -300)) == -1200)
        #expect(from(Self.coverage(planned: -400), asked: [Self.asked(.open, secondsAgo: 400)]) == nil)
        #expect(from(Self.coverage(planned: -400), asked: [Self.asked(.fetched, secondsAgo: 400)]) == -1300)
    }

    @Test func `An app that is followed is asked for everything, at an interval of its own`() throws {
        var plan = plan
        plan.followed = ["com.example.app"]
        #expect(plan.due(Self.coverage(planned: -899), asked: [], now: Self.now) == nil)
        let scope = try #require(plan.due(Self.coverage(planned: -900), asked: [], now: Self.now))
        #expect(scope.from == Self.now.addingTimeInterval(-1800) && !scope.onlyFailures)
        plan.followed = ["com.example.other"]
        #expect(plan.due(Self.coverage(planned: -300), asked: [], now: Self.now)?.onlyFailures == true)
    }

    @Test(arguments: [0, 40, 890, 1200] as [TimeInterval])
    func `What Apple sends of an app that is followed is asked about after its interval and a turn, or a longer fetch`(
        fetching: TimeInterval
    ) {
        var plan = plan
        plan.followed = ["com.example.app"]
        let turn: TimeInterval = 14
        var (until, oldest): (TimeInterval, TimeInterval) = (0, 0)
        for seconds in stride(from: turn, through: 86_400, by: turn) {
            let now = Self.now.addingTimeInterval(seconds)
            let isOpen = until > 0 && seconds - until < fetching
            let asked = RecoveryWindowStore.Asked(
                isOpen ? .open : .fetched, openedAt: Self.now.addingTimeInterval(until))
            guard let scope = plan.due(Self.coverage(planned: until), asked: [asked], now: now) else { continue }
            #expect(scope.from.timeIntervalSince(Self.now) == until - 900 && scope.to == now)
            oldest = max(oldest, seconds - until)
            until = seconds
        }
        #expect(oldest >= 900 && oldest < max(900, fetching) + turn)
    }

    @Test func `FailuresPlan repeats a request that Apple rejects after the interval, then less and less often`() {
        func isAsked(_ rejections: Int, secondsAgo seconds: TimeInterval) -> Bool {
            let rejected = [RecoveryWindowStore.Asked](
                repeating: Self.asked(.failed, secondsAgo: seconds), count: rejections)
            let answered = Self.asked(.closed, secondsAgo: 90_000)
            return from(Self.coverage(planned: -90_000), asked: rejected + [answered]) != nil
        }
        for (rejections, pause) in [(1, 300.0), (2, 600), (3, 1200), (4, 2400), (5, 3600), (15, 3600)] {
            #expect(!isAsked(rejections, secondsAgo: pause - 1), "\(rejections)")
            #expect(isAsked(rejections, secondsAgo: pause), "\(rejections)")
        }
        // An answer since then ends the row.
        let asked = [Self.asked(.closed, secondsAgo: 1), Self.asked(.failed, secondsAgo: 2)]
        #expect(from(Self.coverage(planned: -400), asked: asked) != nil)
    }

    @Test func `FailuresPlan never asks for times before coverage began, nor for more than Apple lists`() {
        #expect(from(Self.coverage(begins: -500, planned: -500)) == -500)
        let longAgo = plan.due(
            Self.coverage(begins: -400 * 86_400, planned: -300 * 86_400), asked: [], now: Self.now)
        #expect(longAgo?.from == StoreEnvironment.production.earliestHistory(at: Self.now))
    }
}
