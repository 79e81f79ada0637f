import AppStore
import Contracts
import Foundation
import Kafka
import Pipeline
import Postgres
import ServiceLifecycle
import Storage
import TestSupport
import Testing

@testable import Chassis
@testable import Scheduler
@testable import Simulator

@Suite(.timeLimit(.minutes(3))) struct FetchTests {
    @Test func `every page is on the log, and then the window is fetched`() async throws {
        try await AppleDesk.open { desk in
            try desk.send(45)
            let id = try await desk.open()
            #expect(try await desk.fetchAll(desk.fetch()) == [.fetched])
            let pages = try await desk.pages(until: desk.book)
            #expect(pages.uuids == desk.book)
            #expect(pages.allUUIDs.count == 45)
            #expect(Set(pages.map(\.window)) == [id])
            #expect(Set(pages.map(\.page)).count == 3)
            #expect(
                pages.flatMap(\.items).allSatisfy {
                    $0.sendAttempts.map(\.result) == ["UNSUCCESSFUL_HTTP_RESPONSE_CODE"]
                })
            let window = try #require(try await desk.window(id))
            #expect(window.state == .fetched)
            #expect(window.pages == 3)
        }
    }

    @Test func `a window in which nothing happened is fetched, seen and closed without a message`() async throws {
        try await AppleDesk.open { desk in
            let id = try await desk.open()
            #expect(try await desk.fetchAll(desk.fetch()) == [.fetched])
            let store = RecoveryWindowStore(desk.connection)
            #expect(try await store.seenThroughout() == [id])
            #expect(try await store.close([id], at: AppleDesk.now) == [id])
        }
    }

    @Test func `a long window is fetched in parts that together list everything once`() async throws {
        try await AppleDesk.open { desk in
            try desk.send(90)
            let id = try await desk.open(seconds: 160)
            let ends = try await desk.fetchAll(desk.fetch(slice: 20))
            #expect(ends == [.divided(8)] + [Fetch.End](repeating: .fetched, count: 8))
            let pages = try await desk.pages(until: desk.book)
            #expect(pages.uuids == desk.book)
            #expect(pages.allUUIDs.count == 90)
            #expect(!pages.map(\.window).contains(id))
        }
    }

    @Test func `a token that expired begins the window anew, and nothing is left out`() async throws {
        try await AppleDesk.open { desk in
            try desk.send(45)
            let id = try await desk.open()
            desk.faults.add(ServerFault(kind: .expiredTokens, remaining: 3))
            let ends = try await desk.fetchThroughout(desk.fetch(), turns: 4)
            #expect(ends == [.restarted, .restarted, .restarted, .fetched])
            #expect(try await desk.pages(until: desk.book).uuids == desk.book)
            #expect(try await desk.window(id)?.state == .fetched)
        }
    }

    @Test func `where no token ever leads to a second page, the window is fetched all the same`() async throws {
        try await AppleDesk.open { desk in
            try desk.send(65)
            let id = try await desk.open()
            desk.faults.add(ServerFault(kind: .expiredTokens))
            let ends = try await desk.fetchThroughout(desk.fetch(), turns: 20)
            #expect(ends.last == .fetched)
            #expect(try await desk.pages(until: desk.book).uuids == desk.book)
            #expect(try await desk.window(id)?.state == .fetched)
        }
    }

    @Test func `what begins anew in vain is not asked at once again`() async throws {
        try await AppleDesk.open { desk in
            try desk.send(45)
            // From a second before the first of them on.
            _ = try await desk.open(seconds: 106)
            desk.faults.add(ServerFault(kind: .expiredTokens))
            let fetch = desk.fetch()
            #expect(try await desk.fetchThroughout(fetch, turns: 4).count == 4)
            let claim = try #require(try await desk.claim())
            #expect(try await fetch.fetch(claim) == .restarted)
            #expect(try await desk.claim() == nil)
        }
    }

    @Test(arguments: [nil, "again"])
    func `a page that says that there is more and not where is never the last one`(token: String?) async throws {
        try await AppleDesk.open { desk in
            let id = try await desk.open()
            let position = token.map { #", "paginationToken": "\#($0)""# } ?? ""
            let answer = #"{"notificationHistory": [], "hasMore": true\#(position)}"#
            try await LoneAnswer.serve(answer) { url in
                let claim = try #require(try await desk.claim())
                #expect(try await desk.fetch(asking: url).fetch(claim) == .released)
            }
            let window = try #require(try await desk.window(id))
            #expect(window.state == .open)
            #expect(window.fetchedAt == nil)
            // With a token the first page leads on, and the second one to itself.
            #expect(window.pages == (token == nil ? 0 : 1))
            #expect(window.lastError?.contains("more pages and not where") == true)
        }
    }

    @Test func `a storm of 429 puts the window off, and it goes on from its last page`() async throws {
        try await AppleDesk.open { desk in
            try desk.send(45)
            let id = try await desk.open()
            let claim = try #require(try await desk.claim())
            // Longer than a call may take.
            desk.faults.add(ServerFault(kind: .storm, delay: .seconds(60)))
            #expect(try await desk.fetch(deadline: .seconds(20)).fetch(claim) == .released)
            #expect(try await desk.claim() == nil)
            #expect(try await desk.window(id)?.lastError?.contains("limit") == true)
            desk.faults.clear()
            // And one that is over soon is waited for.
            desk.faults.add(ServerFault(kind: .storm, remaining: 2, delay: .milliseconds(100)))
            try await desk.passTime()
            #expect(try await desk.fetchAll(desk.fetch()) == [.fetched])
            #expect(try await desk.pages(until: desk.book).uuids == desk.book)
        }
    }

    @Test func `killed between the log and the database: the page comes again, and the window goes on`() async throws {
        try await AppleDesk.open { desk in
            try desk.send(45)
            let id = try await desk.open()
            let dying = TestDatabase.connection(desk.database)
            let backend = try await dying.backendProcess()
            let claim = try #require(try await desk.claim())
            try await TestDatabase.terminate(backend, asking: desk.connection)
            // The first page is on the log when this finds its connection gone.
            await #expect(throws: PostgresError.self) { try await desk.fetch(over: dying).fetch(claim) }
            #expect(try await desk.claim() == nil)
            #expect(try await desk.window(id)?.pages == 0)

            try await desk.passTime()
            #expect(try await desk.fetchAll(desk.fetch()) == [.fetched])
            let pages = try await desk.pages(until: desk.book)
            #expect(pages.uuids == desk.book)
            #expect(pages.allUUIDs.count == 65)
            #expect(try await desk.window(id)?.pages == 3)
            // No number of the dead one's is given to another page.
            #expect(Set(pages.map { "\($0.page)/\($0.part)" }).count == pages.count)
        }
    }

    @Test func `a key that is revoked while pages are fetched gives way to the next one`() async throws {
        try await AppleDesk.open { desk in
            try desk.send(45)
            let fetch = desk.fetch()
            // The first key is in use when it goes.
            let first = try await desk.open(seconds: 30)
            #expect(try await desk.fetchAll(fetch) == [.fetched])
            let second = try await desk.open()
            #expect(desk.ring.revoke("FIRST"))
            #expect(try await desk.fetchAll(fetch) == [.fetched])
            #expect(try await desk.window(second)?.lastError == nil)
            #expect(try await desk.window(first)?.state == .fetched)
            #expect(try await desk.pages(until: desk.book).uuids == desk.book)
        }
    }

    @Test func `while Apple takes no key the window waits and says so`() async throws {
        try await AppleDesk.open { desk in
            try desk.send(5)
            let id = try await desk.open()
            #expect(desk.ring.revoke("FIRST"))
            #expect(desk.ring.revoke("SECOND"))
            #expect(try await desk.fetchAll(desk.fetch()) == [.released])
            let waiting = try #require(try await desk.window(id))
            #expect(waiting.state == .open)
            #expect(waiting.lastError?.contains("FIRST") == true)
            desk.acceptAll()
            try await desk.passTime()
            #expect(try await desk.fetchAll(desk.fetch()) == [.fetched])
        }
    }

    @Test func `what Apple no longer lists fails with what helps, and its day is given up`() async throws {
        try await AppleDesk.open { desk in
            let store = RecoveryWindowStore(desk.connection)
            let day = AppleDesk.now.startOfDay.addingTimeInterval(-200 * 86_400)
            let scope = RecoveryWindow.Scope(
                environment: AppleDesk.app.environment, bundleId: AppleDesk.app.bundleId, from: day,
                to: day.addingTimeInterval(86_400))
            let id = UUID()
            try await store.open([.init(id: id, scope: scope, reason: .sweep)], at: AppleDesk.now)
            #expect(try await desk.fetchAll(desk.fetch()) == [.failed])
            let window = try #require(try await desk.window(id))
            #expect(window.state == .failed)
            #expect(window.lastError?.contains("storekeeper backfill") == true)
            let days = try await CoverageStore(desk.connection).days(from: day, to: AppleDesk.now)
            #expect(days.map(\.day) == [day])
            #expect(days.first?.givenUp?.contains("storekeeper backfill") == true)
        }
    }

    /// Opens the sweep of a day as the plan does.
    static func sweep(_ day: Date, _ desk: AppleDesk) async throws -> UUID {
        let coverage = CoverageStore(desk.connection)
        let app = AppleDesk.app
        try await coverage.begin(app.environment, app.bundleId, at: day, sweepingFrom: day)
        let row = try #require(try await coverage.coverage().first { $0.kind == .sweep })
        let request = RecoveryWindow.Request(id: UUID(), scope: SweepPlan.scope(row, day: day), reason: .sweep)
        #expect(try await coverage.plan([request], moving: .init(row, to: request.scope.to), at: AppleDesk.now))
        return request.id
    }

    @Test func `a day of which Apple lists only a part is given up with the reason, and never proven`() async throws {
        try await AppleDesk.open { desk in
            // Apple's limit lies within it.
            let day = Horizon.earliest(AppleDesk.app.environment, now: AppleDesk.now).startOfDay
            let id = try await Self.sweep(day, desk)
            #expect(try await desk.fetchAll(desk.fetch()) == [.failed])
            #expect(try await desk.window(id)?.state == .failed)
            #expect(try await desk.window(id)?.pages == 0)
            let coverage = CoverageStore(desk.connection)
            try await coverage.settle(at: AppleDesk.now)
            let given = try #require(try await coverage.days(from: day, to: AppleDesk.now).first)
            #expect(given.provenAt == nil)
            #expect(given.givenUp?.contains("storekeeper backfill") == true)
            #expect(try await coverage.daysToRepeat(plannedBefore: AppleDesk.now.addingTimeInterval(9e6)).isEmpty)
        }
    }

    @Test func `a day that Apple itself finds too long ago is given up too`() async throws {
        try await AppleDesk.open { desk in
            let day = AppleDesk.now.startOfDay.addingTimeInterval(-2 * Horizon.day)
            let id = try await Self.sweep(day, desk)
            desk.faults.add(ServerFault(kind: .error, endpoint: .notificationHistory, errorCode: 4_000_012))
            #expect(try await desk.fetchAll(desk.fetch()) == [.failed])
            #expect(try await desk.window(id)?.state == .failed)
            let given = try #require(
                try await CoverageStore(desk.connection).days(from: day, to: AppleDesk.now).first)
            #expect(given.provenAt == nil)
            #expect(given.givenUp?.contains("storekeeper backfill") == true)
        }
    }

    @Test func `what began too long ago is fetched as far as Apple lists it`() async throws {
        try await AppleDesk.open { desk in
            try desk.send(3)
            let id = try await desk.open(seconds: 181 * 86_400)
            #expect(try await desk.fetchAll(desk.fetch(slice: 1e9)) == [.restarted, .fetched])
            #expect(try await desk.pages(until: desk.book).uuids == desk.book)
            let window = try #require(try await desk.window(id))
            #expect(window.state == .fetched)
            #expect(window.start == Horizon.earliest(.production, now: AppleDesk.now))
        }
    }

    @Test func `told to stop, it hands back what it holds at once`() async throws {
        try await AppleDesk.open { desk in
            try desk.send(5)
            let id = try await desk.open()
            desk.faults.add(ServerFault(kind: .storm, delay: .seconds(30)))
            let fetching = Fetching(
                fetch: desk.fetch(deadline: .seconds(50)), apps: [AppleDesk.app], width: 2, holder: UUID(),
                liveness: Health(instant: { .now }).livenessProbe("fetching", limit: .seconds(60)),
                logger: AppleDesk.logger)
            let group = ServiceGroup(
                configuration: .init(services: [.init(service: fetching)], logger: AppleDesk.logger))
            async let running: Void = group.run()
            let deadline = ContinuousClock.now.advanced(by: .seconds(60))
            while try await desk.window(id)?.attempts == 0, ContinuousClock.now < deadline {}
            await group.triggerGracefulShutdown()
            try await running
            desk.faults.clear()
            #expect(try await desk.fetchAll(desk.fetch()) == [.fetched])
        }
    }
}
