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
}
