import Foundation
import Storage
import TestSupport
import Testing

@testable import Scheduler

/// Windows that were planned by a clock that is ahead, with that of the database on the same machine.
@Suite(.hangLimit) struct EarlyAnswerTests {
    @Test func `Day is compared when it is over by Apple's clock, though this machine's is ahead`() async throws {
        try await SchedulerFixture.open { fixture in
            // An hour before its end, by a clock that shows an hour after it.
            let day = SchedulerFixture.now.addingTimeInterval(3600 - HistoryRetention.day)
            let ahead = fixture.appleNow(ahead: 7201)
            let coverage = CoverageStore(fixture.connection)
            let windows = RecoveryWindowStore(fixture.connection)
            let id = try await WindowFetchTests.sweep(day, fixture)
            #expect(try await fixture.fetchAll(fixture.fetch(now: ahead)) == [.released])
            #expect(try await windows.close(try await windows.seenThroughout(), at: ahead()).isEmpty)
            #expect(try await fixture.window(id)?.lastError?.contains("Apple's clock") == true)
            #expect(try await coverage.days(from: day.startOfDay, to: ahead()).map(\.completedAt) == [nil])

            // What Apple sends until the end is found, and only then is the day complete.
            try fixture.send(1)
            let end = day.addingTimeInterval(HistoryRetention.day + 3600)
            try await fixture.passTime()
            #expect(try await fixture.fetchAll(fixture.fetch(now: { end.addingTimeInterval(-60) })) == [.released])
            try await fixture.passTime()
            #expect(try await fixture.fetchAll(fixture.fetch(now: { end })) == [.fetched])
            let pages = try await fixture.pages()
            #expect(pages.uuids == fixture.sentUUIDs)
            _ = try await fixture.connection.pipeline(
                pages.map { RecoveryWindowStore.seeing(page: $0.page, part: $0.part, of: id) })
            #expect(try await windows.close(try await windows.seenThroughout(), at: end) == [id])
            #expect(try await coverage.days(from: day.startOfDay, to: end).map(\.completedAt) == [end])
        }
    }

    @Test func `Check of failures up to a time ahead of Apple's clock is planned again from where it began`()
        async throws
    {
        try await SchedulerFixture.open { fixture in
            let app = SchedulerFixture.app
            let windows = RecoveryWindowStore(fixture.connection)
            let ahead = fixture.appleNow(ahead: 3600)
            let coverage = CoverageStore(fixture.connection)
            func row() async throws -> Coverage {
                try #require(try await coverage.coverage().first { $0.kind == .failures })
            }
            let begin = SchedulerFixture.now.addingTimeInterval(-600)
            try await coverage.begin(app.environment, app.bundleId, at: begin, sweepingFrom: begin)
            let plan = FailuresPlan(interval: 300, overlap: 900)
            let scope = try #require(plan.due(try await row(), asked: [], now: ahead()))
            let request = RecoveryWindow.Request(id: UUID(), scope: scope, reason: .failures)
            #expect(try await coverage.plan([request], moving: .init(try await row(), to: scope.to), at: ahead()))
            #expect(try await row().plannedUntil > SchedulerFixture.now)
            #expect(try await fixture.fetchAll(fixture.fetch(now: ahead)) == [.failed])
            #expect(try await fixture.window(request.id)?.lastError?.contains("Apple's clock") == true)
            let asked = try await windows.failuresAsked(app.environment, app.bundleId, limit: 10)
            #expect(asked.map(\.state) == [.failed])
            // Apple has answered: the next check ends when Apple's clock says that it is opened.
            let next = try #require(plan.due(try await row(), asked: asked, now: ahead()))
            #expect(next.from <= begin)
            #expect(next.to < SchedulerFixture.now.addingTimeInterval(1800))
        }
    }

    @Test func `RetryDecision tolerates as much as the clocks of two machines differ`() {
        func decision(_ seconds: TimeInterval, _ reason: RecoveryWindow.Reason) -> RetryDecision? {
            var claim = RetryDecisionTests.claim()
            claim.reason = reason
            return RetryDecision(
                afterEarlyAnswerFor: claim, sweepDelay: 60, now: claim.scope.to.addingTimeInterval(seconds))
        }
        #expect(decision(-300, .failures) == nil && decision(-301, .failures) != nil)
        #expect(decision(60, .sweep) == nil && decision(59.5, .sweep) != nil)
        guard case .later(let seconds, _) = decision(-86_400, .sweep) else {
            Issue.record("a day that is not over is not put off")
            return
        }
        #expect(seconds == 3600)
        #expect([.outage, .canary, .manual].allSatisfy { decision(-86_400, $0) == nil })
    }
}
