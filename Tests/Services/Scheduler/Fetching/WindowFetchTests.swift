import AppStore
import Contracts
import Foundation
import Kafka
import Pipeline
import Postgres
import Storage
import Synchronization
import TestSupport
import Testing

@testable import Chassis
@testable import Scheduler
@testable import SimulatedAppStore

@Suite(.hangLimit) struct WindowFetchTests {
    @Test func `Window is fetched once every page is in Kafka`() async throws {
        try await SchedulerFixture.open { fixture in
            try fixture.send(45)
            let id = try await fixture.open()
            #expect(try await fixture.fetchAll(fixture.fetch()) == [.fetched])
            let pages = try await fixture.pages()
            #expect(pages.uuids == fixture.sentUUIDs)
            #expect(pages.allUUIDs.count == 45)
            #expect(Set(pages.map(\.window)) == [id])
            #expect(Set(pages.map(\.page)).count == 3)
            #expect(
                pages.flatMap(\.items).allSatisfy {
                    $0.sendAttempts.map(\.result) == ["UNSUCCESSFUL_HTTP_RESPONSE_CODE"]
                })
            let window = try #require(try await fixture.window(id))
            #expect(window.state == .fetched)
            #expect(window.pages == 3)
        }
    }

    @Test func `Window in which nothing happened is fetched, seen and closed without a message`() async throws {
        try await SchedulerFixture.open { fixture in
            let id = try await fixture.open()
            #expect(try await fixture.fetchAll(fixture.fetch()) == [.fetched])
            let store = RecoveryWindowStore(fixture.connection)
            #expect(try await store.seenThroughout() == [id])
            #expect(try await store.close([id], at: SchedulerFixture.now) == [id])
        }
    }

    @Test func `Long window is fetched in parts that together list everything once`() async throws {
        try await SchedulerFixture.open { fixture in
            try fixture.send(90)
            let id = try await fixture.open(seconds: 160)
            let ends = try await fixture.fetchAll(fixture.fetch(slice: 20))
            #expect(ends == [.divided(8)] + [WindowFetch.End](repeating: .fetched, count: 8))
            let pages = try await fixture.pages()
            #expect(pages.uuids == fixture.sentUUIDs)
            #expect(pages.allUUIDs.count == 90)
            #expect(!pages.map(\.window).contains(id))
        }
    }

    @Test func `WindowFetch restarts the window after an expired token and skips nothing`() async throws {
        try await SchedulerFixture.open { fixture in
            try fixture.send(45)
            let id = try await fixture.open()
            fixture.faults.add(ServerFault(kind: .expiredTokens, remaining: 3))
            let ends = try await fixture.fetchThroughout(fixture.fetch(), turns: 4)
            #expect(ends == [.restarted, .restarted, .restarted, .fetched])
            #expect(try await fixture.pages().uuids == fixture.sentUUIDs)
            #expect(try await fixture.window(id)?.state == .fetched)
        }
    }

    @Test func `Window is fetched even where no token ever leads to a second page`() async throws {
        try await SchedulerFixture.open { fixture in
            try fixture.send(65)
            let id = try await fixture.open()
            fixture.faults.add(ServerFault(kind: .expiredTokens))
            let ends = try await fixture.fetchThroughout(fixture.fetch(), turns: 20)
            #expect(ends.last == .fetched)
            #expect(try await fixture.pages().uuids == fixture.sentUUIDs)
            #expect(try await fixture.window(id)?.state == .fetched)
        }
    }

    @Test func `WindowFetch backs off after a restart without progress`() async throws {
        try await SchedulerFixture.open { fixture in
            try fixture.send(45)
            // From a second before the first of them on.
            _ = try await fixture.open(seconds: 106)
            fixture.faults.add(ServerFault(kind: .expiredTokens))
            let fetch = fixture.fetch()
            #expect(try await fixture.fetchThroughout(fetch, turns: 4).count == 4)
            let claim = try #require(try await fixture.claim())
            #expect(try await fetch.fetch(claim) == .restarted)
            #expect(try await fixture.claim() == nil)
        }
    }

    @Test(arguments: [nil, "again"])
    func `Page that says that there is more and not where is never the last one`(token: String?) async throws {
        try await SchedulerFixture.open { fixture in
            let id = try await fixture.open()
            let position = token.map { #", "paginationToken": "\#($0)""# } ?? ""
            let answer = #"{"notificationHistory": [], "hasMore": true\#(position)}"#
            try await SingleResponse.serve(answer) { url in
                let claim = try #require(try await fixture.claim())
                #expect(try await fixture.fetch(asking: url).fetch(claim) == .released)
            }
            let window = try #require(try await fixture.window(id))
            #expect(window.state == .open)
            #expect(window.fetchedAt == nil)
            // With a token the first page leads on, and the second one to itself.
            #expect(window.pages == (token == nil ? 0 : 1))
            #expect(window.lastError?.contains("more pages and not where") == true)
        }
    }

    @Test func `Storm of 429 puts the window off, and it goes on from its last page`() async throws {
        try await SchedulerFixture.open { fixture in
            try fixture.send(45)
            let id = try await fixture.open()
            let claim = try #require(try await fixture.claim())
            // Longer than a call may take.
            fixture.faults.add(ServerFault(kind: .storm, delay: .seconds(60)))
            #expect(try await fixture.fetch(deadline: .seconds(20)).fetch(claim) == .released)
            #expect(try await fixture.claim() == nil)
            #expect(try await fixture.window(id)?.lastError?.contains("limit") == true)
            fixture.faults.clear()
            // And one that is over soon is waited for.
            fixture.faults.add(ServerFault(kind: .storm, remaining: 2, delay: .milliseconds(100)))
            try await fixture.passTime()
            #expect(try await fixture.fetchAll(fixture.fetch()) == [.fetched])
            #expect(try await fixture.pages().uuids == fixture.sentUUIDs)
        }
    }

    @Test func `WindowFetch killed between Kafka and the database repeats the page and goes on`() async throws {
        try await SchedulerFixture.open { fixture in
            try fixture.send(45)
            let id = try await fixture.open()
            let dying = TestDatabase.connection(fixture.database)
            let backend = try await dying.backendProcess()
            let claim = try #require(try await fixture.claim())
            try await TestDatabase.terminate(backend, asking: fixture.connection)
            // The first page is on the log when this finds its connection gone.
            await #expect(throws: PostgresError.self) { try await fixture.fetch(over: dying).fetch(claim) }
            #expect(try await fixture.claim() == nil)
            #expect(try await fixture.window(id)?.pages == 0)

            try await fixture.passTime()
            #expect(try await fixture.fetchAll(fixture.fetch()) == [.fetched])
            let pages = try await fixture.pages()
            #expect(pages.uuids == fixture.sentUUIDs)
            #expect(pages.allUUIDs.count == 65)
            #expect(try await fixture.window(id)?.pages == 3)
            // No number of the dead one's is given to another page.
            #expect(Set(pages.map { "\($0.page)/\($0.part)" }).count == pages.count)
        }
    }

    @Test func `Key that is revoked while pages are fetched gives way to the next one`() async throws {
        try await SchedulerFixture.open { fixture in
            try fixture.send(45)
            let fetch = fixture.fetch()
            // The first key is in use when it goes.
            let first = try await fixture.open(seconds: 30)
            #expect(try await fixture.fetchAll(fetch) == [.fetched])
            let second = try await fixture.open()
            #expect(fixture.ring.revoke("FIRST"))
            #expect(try await fixture.fetchAll(fetch) == [.fetched])
            #expect(try await fixture.window(second)?.lastError == nil)
            #expect(try await fixture.window(first)?.state == .fetched)
            #expect(try await fixture.pages().uuids == fixture.sentUUIDs)
        }
    }

    @Test func `Window waits while Apple accepts no key, and the log says so`() async throws {
        try await SchedulerFixture.open { fixture in
            try fixture.send(5)
            let id = try await fixture.open()
            #expect(fixture.ring.revoke("FIRST"))
            #expect(fixture.ring.revoke("SECOND"))
            #expect(try await fixture.fetchAll(fixture.fetch()) == [.released])
            let waiting = try #require(try await fixture.window(id))
            #expect(waiting.state == .open)
            #expect(waiting.lastError?.contains("FIRST") == true)
            fixture.acceptAll()
            try await fixture.passTime()
            #expect(try await fixture.fetchAll(fixture.fetch()) == [.fetched])
        }
    }

    @Test func `Window that Apple no longer lists fails with advice, and its day is given up`() async throws {
        try await SchedulerFixture.open { fixture in
            let store = RecoveryWindowStore(fixture.connection)
            let day = SchedulerFixture.now.startOfDay.addingTimeInterval(-200 * 86_400)
            let scope = RecoveryWindow.Scope(
                environment: SchedulerFixture.app.environment, bundleId: SchedulerFixture.app.bundleId, from: day,
                to: day.addingTimeInterval(86_400))
            let id = UUID()
            try await store.open([.init(id: id, scope: scope, reason: .sweep)], at: SchedulerFixture.now)
            #expect(try await fixture.fetchAll(fixture.fetch()) == [.failed])
            let window = try #require(try await fixture.window(id))
            #expect(window.state == .failed)
            #expect(window.lastError?.contains("storekeeper backfill") == true)
            let days = try await CoverageStore(fixture.connection).days(from: day, to: SchedulerFixture.now)
            #expect(days.map(\.day) == [day])
            #expect(days.first?.givenUp?.contains("storekeeper backfill") == true)
        }
    }

    /// Opens the sweep of a day as the plan does.
    static func sweep(_ day: Date, _ fixture: SchedulerFixture) async throws -> UUID {
        let coverage = CoverageStore(fixture.connection)
        let app = SchedulerFixture.app
        try await coverage.begin(app.environment, app.bundleId, at: day, sweepingFrom: day)
        let row = try #require(try await coverage.coverage().first { $0.kind == .sweep })
        let request = RecoveryWindow.Request(id: UUID(), scope: SweepPlan.scope(row, day: day), reason: .sweep)
        #expect(try await coverage.plan([request], moving: .init(row, to: request.scope.to), at: SchedulerFixture.now))
        return request.id
    }

    @Test func `Day of which Apple lists only a part is given up with the reason, and never complete`() async throws {
        try await SchedulerFixture.open { fixture in
            // Apple's limit lies within it, and not right behind its start.
            let limit = SchedulerFixture.app.environment.earliestHistory(at: SchedulerFixture.now)
            let day = limit.addingTimeInterval(-WindowFetch.leeway).startOfDay
            let id = try await Self.sweep(day, fixture)
            #expect(try await fixture.fetchAll(fixture.fetch()) == [.failed])
            #expect(try await fixture.window(id)?.state == .failed)
            #expect(try await fixture.window(id)?.pages == 0)
            let coverage = CoverageStore(fixture.connection)
            try await coverage.settle(at: SchedulerFixture.now)
            let given = try #require(try await coverage.days(from: day, to: SchedulerFixture.now).first)
            #expect(given.completedAt == nil)
            #expect(given.givenUp?.contains("storekeeper backfill") == true)
            #expect(
                try await coverage.daysToRepeat(plannedBefore: SchedulerFixture.now.addingTimeInterval(9e6)).isEmpty)
        }
    }

    @Test func `Day that Apple itself finds too long ago is given up too`() async throws {
        try await SchedulerFixture.open { fixture in
            let day = SchedulerFixture.now.startOfDay.addingTimeInterval(-2 * HistoryRetention.day)
            let id = try await Self.sweep(day, fixture)
            fixture.faults.add(ServerFault(kind: .error, endpoint: .notificationHistory, errorCode: 4_000_012))
            #expect(try await fixture.fetchAll(fixture.fetch()) == [.failed])
            #expect(try await fixture.window(id)?.state == .failed)
            let given = try #require(
                try await CoverageStore(fixture.connection).days(from: day, to: SchedulerFixture.now).first)
            #expect(given.completedAt == nil)
            #expect(given.givenUp?.contains("storekeeper backfill") == true)
        }
    }

    @Test func `Window that began too long ago is fetched as far as Apple lists it`() async throws {
        try await SchedulerFixture.open { fixture in
            try fixture.send(3)
            let id = try await fixture.open(seconds: 181 * 86_400)
            #expect(try await fixture.fetchAll(fixture.fetch(slice: 1e9)) == [.restarted, .fetched])
            #expect(try await fixture.pages().uuids == fixture.sentUUIDs)
            let window = try #require(try await fixture.window(id))
            #expect(window.state == .fetched)
            #expect(window.start == StoreEnvironment.production.earliestHistory(at: SchedulerFixture.now))
            #expect(window.comparedFrom == window.start)
        }
    }

    @Test func `Window that began too long ago is not cut again at every claim while time passes`() async throws {
        try await SchedulerFixture.open { fixture in
            try fixture.send(3)
            let id = try await fixture.open(seconds: 181 * 86_400)
            let readings = Mutex(0.0)
            let fetch = fixture.fetch(slice: 1e9) {
                readings.withLock { count in
                    count += 1
                    return SchedulerFixture.now.addingTimeInterval(count)
                }
            }
            #expect(try await fixture.fetchThroughout(fetch, turns: 5) == [.restarted, .fetched])
            #expect(try await fixture.pages().uuids == fixture.sentUUIDs)
            #expect(try await fixture.window(id)?.state == .fetched)
        }
    }

    @Test func `WindowFetch gives nothing up by a clock that is ahead of the database's`() async throws {
        try await SchedulerFixture.open { fixture in
            let day = SchedulerFixture.now.startOfDay.addingTimeInterval(-2 * HistoryRetention.day)
            let id = try await Self.sweep(day, fixture)
            let claim = try #require(try await fixture.claim())
            let ahead = SchedulerFixture.now.addingTimeInterval(200 * HistoryRetention.day)
            await #expect(throws: ClockIsAhead.self) { try await fixture.fetch(now: { ahead }).fetch(claim) }
            #expect(try await fixture.window(id)?.state == .open)
            let days = try await CoverageStore(fixture.connection).days(from: day, to: SchedulerFixture.now)
            #expect(days.map(\.givenUp) == [nil])
        }
    }

    @Test func `WindowFetch releases its claim at once when it is stopped`() async throws {
        try await SchedulerFixture.open { fixture in
            try fixture.send(5)
            let id = try await fixture.open()
            fixture.faults.add(ServerFault(kind: .storm, delay: .seconds(30)))
            let fetching = FetchService(
                fetch: fixture.fetch(deadline: .seconds(50)), apps: { [SchedulerFixture.app] }, width: 2,
                holder: UUID(),
                liveness: Health(instant: { .now }).livenessProbe("fetching", limit: .seconds(60)),
                logger: SchedulerFixture.logger)
            try await whileRunning([fetching]) {
                let deadline = ContinuousClock.now.advanced(by: .hangLimit)
                while try await fixture.window(id)?.attempts == 0, ContinuousClock.now < deadline {}
            }
            fixture.faults.clear()
            #expect(try await fixture.fetchAll(fixture.fetch()) == [.fetched])
        }
    }
}
