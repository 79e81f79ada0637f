import Foundation
import Postgres
import Storage
import TestSupport
import Testing

@Suite struct RecoveryWindowStoreTests {
    typealias Fixtures = CoverageFixtures

    @Test func `RecoveryWindowStore reads a window back as it was opened, and opening it twice changes nothing`()
        async throws
    {
        try await Fixtures.use { fixtures async throws in
            let request = Fixtures.request(0, 60, type: "DID_RENEW")
            try await fixtures.windows.open([request], at: Fixtures.at(1))
            try await fixtures.windows.open([Fixtures.request(0, 99, id: request.id)], at: Fixtures.at(2))
            let window = try #require(try await fixtures.windows.window(request.id))
            #expect(window.scope == request.scope)
            #expect(window.reason == .manual)
            #expect(window.state == .open)
            #expect(window.createdAt == Fixtures.at(1))
            #expect(window.priority == RecoveryWindow.Reason.manual.priority)
        }
    }

    @Test func `RecoveryWindowStore closes a window only when it is fetched and every page was seen`() async throws {
        try await Fixtures.use { fixtures async throws in
            try await fixtures.windows.open([Fixtures.request()], at: Fixtures.at(0))
            let claim = try #require(try await fixtures.claim().first)
            #expect(try await fixtures.windows.close([claim.id], at: Fixtures.at(1)).isEmpty)
            // A page may be seen before it is listed.
            try await fixtures.see(claim.page, of: claim.id)
            try await fixtures.fetch(claim, pages: 2)
            #expect(try await fixtures.windows.seenThroughout().isEmpty)
            #expect(try await fixtures.windows.close([claim.id], at: Fixtures.at(1)).isEmpty)
            try await fixtures.see(claim.page + 1, of: claim.id)
            #expect(try await fixtures.windows.seenThroughout() == [claim.id])
            #expect(try await fixtures.windows.close([claim.id], at: Fixtures.at(5)) == [claim.id])
            #expect(try await fixtures.windows.close([claim.id], at: Fixtures.at(6)).isEmpty)
            #expect(try await fixtures.windows.window(claim.id)?.closedAt == Fixtures.at(5))
        }
    }

    @Test func `RecoveryWindowStore has a window fetched again whose page was lost in Kafka, and closes it then`()
        async throws
    {
        try await Fixtures.use { fixtures async throws in
            try await fixtures.windows.open([Fixtures.request()], at: Fixtures.at(0))
            let first = try #require(try await fixtures.claim().first)
            try await fixtures.fetch(first)
            let fetchedAt = try #require(try await fixtures.windows.window(first.id)?.fetchedAt)
            #expect(try await fixtures.windows.reopen(fetchedBefore: fetchedAt).isEmpty)
            #expect(try await fixtures.windows.reopen(fetchedBefore: fetchedAt.addingTimeInterval(1)) == [first.id])
            let second = try #require(try await fixtures.claim().first)
            #expect(second.id == first.id)
            #expect(second.pageToken == nil)
            try await fixtures.fetch(second)
            #expect(try await fixtures.windows.seenThroughout().isEmpty)
            try await fixtures.see(second.page, of: second.id)
            #expect(try await fixtures.windows.close([second.id], at: Fixtures.at(5)) == [second.id])
        }
    }

    @Test func `RecoveryWindowStore closes a window in spite of a page of a killed process`() async throws {
        try await Fixtures.use { fixtures async throws in
            try await fixtures.windows.open([Fixtures.request()], at: Fixtures.at(0))
            let dead = try #require(try await fixtures.claim().first)
            try await fixtures.endLeases()
            let claim = try #require(try await fixtures.claim().first)
            #expect(claim.page != dead.page)
            try await fixtures.fetch(claim)
            try await fixtures.see(dead.page, of: claim.id)
            #expect(try await fixtures.windows.seenThroughout().isEmpty)
            try await fixtures.see(claim.page, of: claim.id)
            #expect(try await fixtures.windows.seenThroughout() == [claim.id])
        }
    }

    @Test func `RecoveryWindowStore closes a divided window with its last subwindow and adds up their counts`()
        async throws
    {
        try await Fixtures.use { fixtures async throws in
            try await fixtures.windows.open([Fixtures.request(0, 3600)], at: Fixtures.at(0))
            let whole = try #require(try await fixtures.claim().first)
            #expect(
                try await fixtures.claims.divide(
                    whole, into: [Fixtures.request(0, 1800), Fixtures.request(1800, 3600)], at: Fixtures.at(1)))
            let subwindows = try await fixtures.claim(limit: 10)
            #expect(subwindows.map(\.partOf) == [whole.id, whole.id])
            for part in subwindows {
                try await fixtures.fetch(part)
                try await fixtures.see(part.page, of: part.id, .init(listed: 20, present: 18, missing: 2, recovered: 2))
            }
            #expect(try await fixtures.windows.close([subwindows[0].id], at: Fixtures.at(5)) == [subwindows[0].id])
            #expect(try await fixtures.windows.window(whole.id)?.state == .open)
            #expect(try await fixtures.windows.close([subwindows[1].id], at: Fixtures.at(6)) == [subwindows[1].id])
            let closed = try #require(try await fixtures.windows.window(whole.id))
            #expect(closed.state == .closed)
            #expect(closed.pages == 2)
            #expect(closed.counts == .init(listed: 40, present: 36, missing: 4, recovered: 4))
        }
    }

    @Test func `RecoveryWindowStore keeps from when a window was compared, also of a divided one`() async throws {
        try await Fixtures.use { fixtures async throws in
            try await fixtures.windows.open([Fixtures.request(0, 3600)], at: Fixtures.at(0))
            let whole = try #require(try await fixtures.claim().first)
            let first = Fixtures.request(0, 1800)
            #expect(
                try await fixtures.claims.divide(
                    whole, into: [first, Fixtures.request(1800, 3600)], at: Fixtures.at(1)))
            for part in try await fixtures.claim(limit: 10) where part.id == first.id {
                try await fixtures.claims.restart(part, from: Fixtures.at(600), isCut: true, because: "too long ago")
            }
            try await fixtures.endLeases()
            for part in try await fixtures.claim(limit: 10) {
                try await fixtures.fetch(part)
                try await fixtures.see(part.page, of: part.id)
                #expect(try await fixtures.windows.close([part.id], at: Fixtures.at(5)) == [part.id])
                let isFirst = part.id == first.id
                let closed = try await fixtures.windows.window(part.id)
                #expect(closed?.comparedFrom == (isFirst ? Fixtures.at(600) : nil))
                #expect(closed?.lastError == nil)
            }
            let closed = try #require(try await fixtures.windows.window(whole.id))
            #expect(closed.state == .closed)
            #expect(closed.comparedFrom == Fixtures.at(600))
        }
    }

    @Test(arguments: [("DID_RENEW" as String?, RecoveryWindow.State.closed), (nil, .failed)])
    func `A failed subwindow fails the divided window, unless others list the same`(
        type: String?, outcome: RecoveryWindow.State
    ) async throws {
        try await Fixtures.use { fixtures async throws in
            try await fixtures.windows.open([Fixtures.request(0, 3600)], at: Fixtures.at(0))
            let whole = try #require(try await fixtures.claim().first)
            let ahead = Fixtures.request(0, 3600, type: type)
            #expect(
                try await fixtures.claims.divide(
                    whole, into: [ahead, Fixtures.request(0, 3600)], at: Fixtures.at(1)))
            for part in try await fixtures.claim(limit: 10) {
                guard part.id != ahead.id else {
                    try await fixtures.claims.fail(part, because: "Apple refuses", at: Fixtures.at(2))
                    continue
                }
                try await fixtures.fetch(part)
                try await fixtures.see(part.page, of: part.id)
                #expect(try await fixtures.windows.close([part.id], at: Fixtures.at(3)) == [part.id])
            }
            try await fixtures.coverage.settle(at: Fixtures.at(4))
            let settled = try #require(try await fixtures.windows.window(whole.id))
            #expect(settled.state == outcome)
            #expect(settled.lastError == (outcome == .failed ? "Apple refuses" : nil))
        }
    }

    @Test func `RecoveryWindowStore lists the latest checks for failures, newest first, and no other windows`()
        async throws
    {
        try await Fixtures.use { fixtures async throws in
            func open(_ reason: RecoveryWindow.Reason, at seconds: Double, _ app: CoverageStore.App = Fixtures.app)
                async throws
            {
                try await fixtures.windows.open([Fixtures.request(reason: reason, app: app)], at: Fixtures.at(seconds))
            }
            try await open(.failures, at: 1)
            let rejected = try #require(try await fixtures.claim().first)
            try await fixtures.claims.fail(rejected, because: "no", at: Fixtures.at(1))
            try await open(.failures, at: 2)
            try await open(.sweep, at: 3)
            try await open(.failures, at: 4, CoverageStore.App(.sandbox, Fixtures.app.bundleId))
            let app = Fixtures.app
            #expect(
                try await fixtures.windows.failuresAsked(app.environment, app.bundleId, limit: 9) == [
                    .init(.open, openedAt: Fixtures.at(2)), .init(.failed, openedAt: Fixtures.at(1)),
                ])
            #expect(try await fixtures.windows.failuresAsked(app.environment, app.bundleId, limit: 1).count == 1)
        }
    }

    @Test
    func `RecoveryWindowStore gives up a window that no scheduler can fetch, not one that another scheduler may fetch`()
        async throws
    {
        try await Fixtures.use { fixtures async throws in
            let kept = CoverageStore.App(.production, "com.example.kept")
            let unknown = CoverageStore.App(.production, "com.example.unknown")
            try await fixtures.coverage.begin(
                kept.environment, kept.bundleId, at: Fixtures.at(0), sweepingFrom: Fixtures.at(0))
            let old = [Fixtures.app, kept, unknown].map { Fixtures.request(app: $0) }
            try await fixtures.windows.open(old, at: Fixtures.at(0))
            try await fixtures.windows.open([Fixtures.request(app: unknown)], at: Fixtures.at(10))
            let given = try await fixtures.windows.refuse(
                openedBefore: Fixtures.at(5), except: [Fixtures.app], because: "no key", at: Fixtures.at(20))
            #expect(given == [old[2].id])
            let window = try #require(try await fixtures.windows.window(old[2].id))
            #expect(window.state == .failed)
            #expect(window.lastError == "no key")
            #expect(window.closedAt == Fixtures.at(20))
        }
    }

    @Test func `Windows are found by their fields, and deleted when they are old`() async throws {
        try await Fixtures.use { fixtures async throws in
            let sandbox = CoverageStore.App(.sandbox, "com.example.app")
            try await fixtures.windows.open(
                [Fixtures.request(reason: .outage), Fixtures.request(app: sandbox)], at: Fixtures.at(0))
            var filter = RecoveryWindowStore.Filter()
            filter.reasons = [.outage]
            #expect(try await fixtures.windows.windows(filter).map(\.reason) == [.outage])
            filter.environment = .sandbox
            #expect(try await fixtures.windows.windows(filter).isEmpty)
            filter = .init()
            filter.states = [.open]
            filter.onlyWhole = true
            #expect(try await fixtures.windows.windows(filter).count == 2)

            let claim = try #require(try await fixtures.claim().first)
            try await fixtures.claims.fail(claim, because: "no", at: Fixtures.at(10))
            #expect(try await fixtures.windows.delete(settledBefore: Fixtures.at(10)) == 0)
            #expect(try await fixtures.windows.delete(settledBefore: Fixtures.at(11)) == 1)
        }
    }
}
