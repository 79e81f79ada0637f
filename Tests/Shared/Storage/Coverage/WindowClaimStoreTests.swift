import Foundation
import Postgres
import Storage
import TestSupport
import Testing

@Suite struct WindowClaimStoreTests {
    typealias Fixtures = CoverageFixtures

    @Test func `Two claims at the same time never hold the same window`() async throws {
        try await Fixtures.use { fixtures async throws in
            try await fixtures.windows.open((0..<60).map { Fixtures.request(Double($0)) }, at: Fixtures.at(0))
            let claimed = try await withThrowingTaskGroup(of: [UUID].self) { group in
                for _ in 0..<4 {
                    let store = WindowClaimStore(TestDatabase.connection(fixtures.configuration))
                    let holder = UUID()
                    group.addTask {
                        var mine: [UUID] = []
                        while let claim = try await store.claim(for: holder, apps: [Fixtures.app], seconds: 60).first {
                            mine.append(claim.id)
                        }
                        return mine
                    }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            #expect(claimed.count == 60)
            #expect(Set(claimed).count == 60)
        }
    }

    @Test func `WindowClaimStore takes over the window of a killed holder after its last page`() async throws {
        try await Fixtures.use { fixtures async throws in
            try await fixtures.windows.open([Fixtures.request()], at: Fixtures.at(0))
            var first = try #require(try await fixtures.claim().first)
            let page = FetchedPage(messages: 1, items: 20, reachedAt: Fixtures.at(30), nextToken: "second")
            #expect(try await fixtures.claims.advance(&first, by: page, seconds: 60, at: Fixtures.at(0)))
            #expect(try await fixtures.claim().isEmpty)

            try await fixtures.endLeases()
            var second = try #require(try await fixtures.claim().first)
            #expect(second.pageToken == "second")
            #expect(second.reachedAt == Fixtures.at(30))
            // The killed process may have published a page; its number is not used again.
            #expect(second.page == first.page + 1)

            // The first process was only suspended.
            #expect(try await fixtures.claims.advance(&first, by: page, seconds: 60, at: Fixtures.at(0)) == false)
            let last = FetchedPage(messages: 1, items: 3, reachedAt: nil, nextToken: nil)
            #expect(try await fixtures.claims.advance(&second, by: last, seconds: 60, at: Fixtures.at(9)))
            let window = try #require(try await fixtures.windows.window(second.id))
            #expect(window.state == .fetched)
            #expect(window.pages == 2)
            #expect(window.fetchedAt == Fixtures.at(9))
        }
    }

    @Test func `WindowClaimStore claims the most urgent window first, and only of the given apps`() async throws {
        try await Fixtures.use { fixtures async throws in
            let other = CoverageStore.App(.sandbox, "com.example.app")
            try await fixtures.windows.open(
                [
                    Fixtures.request(0, reason: .sweep), Fixtures.request(0, reason: .manual, app: other),
                    Fixtures.request(0, reason: .failures), Fixtures.request(0, reason: .outage),
                ], at: Fixtures.at(0))
            #expect(
                try await fixtures.claim(limit: 10).map(\.reason).sorted { $0.priority > $1.priority }
                    == [.outage, .failures, .sweep])
        }
    }

    @Test func `WindowClaimStore claims the most urgent window where the limit is one`() async throws {
        try await Fixtures.use { fixtures async throws in
            try await fixtures.windows.open(
                [Fixtures.request(reason: .sweep), Fixtures.request(reason: .manual)], at: Fixtures.at(0))
            #expect(try await fixtures.claim().map(\.reason) == [.manual])
            #expect(try await fixtures.claim().map(\.reason) == [.sweep])
        }
    }

    @Test func `WindowClaimStore claims what was held or put off before the database's clock was set back`()
        async throws
    {
        try await Fixtures.use { fixtures async throws in
            try await fixtures.windows.open([Fixtures.request(), Fixtures.request()], at: Fixtures.at(0))
            let held = try #require(try await fixtures.claim().first)
            let later = try #require(try await fixtures.claim().first)
            try await fixtures.claims.release(later, notBefore: 300, because: "Apple is away")
            #expect(try await fixtures.claim(limit: 2).isEmpty)
            try await fixtures.connection.run(
                unsafeScript: """
                    update recovery_window
                    set held_until = held_until + interval '1 year', not_before = not_before + interval '1 year'
                    """)
            #expect(try await Set(fixtures.claim(limit: 2).map(\.id)) == [held.id, later.id])
            #expect(try await fixtures.claim(limit: 2).isEmpty)
        }
    }

    @Test func `WindowClaimStore stores a failure, which delays the next claim and is reset by the next page`()
        async throws
    {
        try await Fixtures.use { fixtures async throws in
            try await fixtures.windows.open([Fixtures.request()], at: Fixtures.at(0))
            let claim = try #require(try await fixtures.claim().first)
            try await fixtures.claims.release(claim, notBefore: 3600, because: "Apple is away")
            #expect(try await fixtures.claim().isEmpty)
            #expect(try await fixtures.windows.window(claim.id)?.lastError == "Apple is away")
            try await fixtures.connection.run(unsafeScript: "update recovery_window set not_before = now()")
            let again = try #require(try await fixtures.claim().first)
            #expect(again.failures == 1)
            try await fixtures.fetch(again)
            #expect(try await fixtures.windows.window(claim.id)?.lastError == nil)
        }
    }

    @Test func `WindowClaimStore deletes Apple's token at a restart and keeps the numbers of pages`() async throws {
        try await Fixtures.use { fixtures async throws in
            try await fixtures.windows.open([Fixtures.request()], at: Fixtures.at(0))
            var claim = try #require(try await fixtures.claim().first)
            let page = FetchedPage(messages: 1, items: 20, reachedAt: Fixtures.at(30), nextToken: "second")
            #expect(try await fixtures.claims.advance(&claim, by: page, seconds: 60, at: Fixtures.at(0)))
            try await fixtures.claims.restart(claim, from: Fixtures.at(10), because: "the page token expired")
            let again = try #require(try await fixtures.claim().first)
            #expect(again.pageToken == nil)
            #expect(again.start == Fixtures.at(10))
            #expect(again.restarts == 1)
            #expect(again.page > 0)
            // What is before was fetched.
            #expect(try await fixtures.windows.window(again.id)?.comparedFrom == nil)
            try await fixtures.claims.restart(again, from: Fixtures.at(10), notBefore: 3600, because: "and again")
            #expect(try await fixtures.claim().isEmpty)
        }
    }

    @Test func `WindowClaimStore divides nothing under a claim that another process holds now`() async throws {
        try await Fixtures.use { fixtures async throws in
            try await fixtures.windows.open([Fixtures.request()], at: Fixtures.at(0))
            let claim = try #require(try await fixtures.claim().first)
            try await fixtures.endLeases()
            _ = try await fixtures.claim()
            #expect(try await fixtures.claims.divide(claim, into: [Fixtures.request()], at: Fixtures.at(0)) == false)
            #expect(try await fixtures.windows.windows().count == 1)
        }
    }

    @Test func `WindowClaimStore has a window of failures that was given up planned again`() async throws {
        try await Fixtures.use { fixtures async throws in
            let (environment, bundleId) = (Fixtures.app.environment, Fixtures.app.bundleId)
            try await fixtures.coverage.begin(
                environment, bundleId, at: Fixtures.at(0), sweepingFrom: Fixtures.at(0))
            let before = try #require(try await fixtures.coverage.coverage().first { $0.kind == .failures })
            #expect(
                try await fixtures.coverage.plan(
                    [Fixtures.request(0, 600, reason: .failures)],
                    moving: CoverageStore.Move(before, to: Fixtures.at(600)), at: Fixtures.at(600)))
            let claim = try #require(try await fixtures.claim().first)
            try await fixtures.claims.fail(claim, because: "Apple refuses", at: Fixtures.at(601))
            let after = try #require(try await fixtures.coverage.coverage().first { $0.kind == .failures })
            #expect(after.plannedUntil == Fixtures.at(0))
            #expect(after.completeUntil == Fixtures.at(0))
        }
    }
}
