import Foundation
import Postgres
import Storage
import TestSupport
import Testing

@Suite struct CoverageStoreTests {
    typealias Fixtures = CoverageFixtures
    static let app = Fixtures.app

    static func begin(_ fixtures: Fixtures) async throws {
        try await fixtures.coverage.begin(
            app.environment, app.bundleId, at: Fixtures.at(1000), sweepingFrom: Fixtures.start)
    }

    static func coverage(_ kind: Coverage.Kind, _ fixtures: Fixtures) async throws -> Coverage {
        try #require(try await fixtures.coverage.coverage().first { $0.kind == kind })
    }

    /// Plans, fetches and closes the sweep of a day.
    static func sweep(_ day: Double, counts: RecoveryWindow.Counts, _ fixtures: Fixtures) async throws -> UUID {
        let request = Fixtures.request(
            day * Fixtures.day, (day + 1) * Fixtures.day, reason: .sweep)
        let before = try await coverage(.sweep, fixtures)
        #expect(
            try await fixtures.coverage.plan(
                [request], moving: CoverageStore.Move(before, to: request.scope.to), at: Fixtures.at(0)))
        let claim = try #require(try await fixtures.claim().first)
        try await fixtures.fetch(claim)
        try await fixtures.see(claim.page, of: claim.id, counts)
        return claim.id
    }

    @Test func `Existing coverage is not changed`() async throws {
        try await Fixtures.use { fixtures async throws in
            try await Self.begin(fixtures)
            try await fixtures.coverage.begin(
                Self.app.environment, Self.app.bundleId, at: Fixtures.at(5000), sweepingFrom: Fixtures.at(5000))
            #expect(try await fixtures.coverage.coverage().count == Coverage.Kind.allCases.count)
            #expect(try await Self.coverage(.failures, fixtures).beginsAt == Fixtures.at(1000))
            #expect(try await Self.coverage(.sweep, fixtures).completeUntil == Fixtures.start)
        }
    }

    @Test func `Only one of two schedulers with the same plan opens windows`() async throws {
        try await Fixtures.use { fixtures async throws in
            try await Self.begin(fixtures)
            let move = CoverageStore.Move(try await Self.coverage(.failures, fixtures), to: Fixtures.at(2000))
            let request = { Fixtures.request(1000, 2000, reason: .failures) }
            #expect(try await fixtures.coverage.plan([request()], moving: move, at: Fixtures.at(2000)))
            #expect(try await fixtures.coverage.plan([request()], moving: move, at: Fixtures.at(2000)) == false)
            #expect(try await fixtures.windows.windows().count == 1)
        }
    }

    @Test func `CoverageStore completes a day when its sweep closes, and completeUntil is the first incomplete day`()
        async throws
    {
        try await Fixtures.use { fixtures async throws in
            try await Self.begin(fixtures)
            let first = try await Self.sweep(0, counts: .init(listed: 20, present: 20), fixtures)
            let second = try await Self.sweep(
                1, counts: .init(listed: 20, present: 16, missing: 3, recovered: 2, rejected: 1, unreadable: 1),
                fixtures
            )
            #expect(try await fixtures.windows.close([second], at: Fixtures.at(7)) == [second])
            #expect(try await Self.coverage(.sweep, fixtures).completeUntil == Fixtures.start)
            #expect(try await fixtures.windows.close([first], at: Fixtures.at(8)) == [first])
            #expect(try await Self.coverage(.sweep, fixtures).completeUntil == Fixtures.at(2 * Fixtures.day))

            let days = try await fixtures.coverage.days(from: Fixtures.start, to: Fixtures.at(9 * Fixtures.day))
            #expect(days.map(\.day) == [Fixtures.start, Fixtures.at(Fixtures.day)])
            #expect(days.map(\.completedAt) == [Fixtures.at(8), Fixtures.at(7)])
            #expect(
                days[1].counts
                    == .init(listed: 20, present: 16, missing: 3, recovered: 2, rejected: 1, unreadable: 1))
        }
    }

    @Test func `CoverageStore sweeps a day with a missing notification again`() async throws {
        try await Fixtures.use { fixtures async throws in
            try await Self.begin(fixtures)
            let first = try await Self.sweep(
                0, counts: .init(listed: 20, present: 18, missing: 2, recovered: 1), fixtures)
            #expect(try await fixtures.coverage.status().missing == [Self.app: 1])
            #expect(try await fixtures.coverage.daysToRepeat(plannedBefore: Fixtures.at(1)).isEmpty)
            #expect(try await fixtures.windows.close([first], at: Fixtures.at(7)) == [first])
            #expect(try await Self.coverage(.sweep, fixtures).completeUntil == Fixtures.start)
            #expect(try await fixtures.coverage.status().missing == [Self.app: 1])
            #expect(try await fixtures.coverage.daysToRepeat(plannedBefore: Fixtures.at(0)).isEmpty)
            let incomplete = try await fixtures.coverage.daysToRepeat(plannedBefore: Fixtures.at(1))
            #expect(incomplete.map(\.day) == [Fixtures.start])

            let again = Fixtures.request(0, Fixtures.day, reason: .sweep)
            #expect(try await fixtures.coverage.plan([again], moving: nil, at: Fixtures.at(10)))
            let claim = try #require(try await fixtures.claim().first)
            try await fixtures.fetch(claim)
            try await fixtures.see(claim.page, of: claim.id, .init(listed: 20, present: 20))
            #expect(try await fixtures.windows.close([claim.id], at: Fixtures.at(11)) == [claim.id])
            #expect(try await Self.coverage(.sweep, fixtures).completeUntil == Fixtures.at(Fixtures.day))
            #expect(try await fixtures.coverage.status().missing == [Self.app: 0])
        }
    }

    @Test func `CoverageStore gives up a day that Apple no longer lists, with the reason`() async throws {
        try await Fixtures.use { fixtures async throws in
            try await Self.begin(fixtures)
            _ = try await Self.sweep(0, counts: .init(), fixtures)
            try await fixtures.coverage.giveUp(
                Self.app.environment, Self.app.bundleId, days: [Fixtures.start], window: UUID(),
                because: "too long ago", at: Fixtures.at(1))
            try await fixtures.coverage.settle(at: Fixtures.at(2))
            let day = try #require(
                try await fixtures.coverage.days(from: Fixtures.start, to: Fixtures.at(1)).first)
            #expect(day.givenUp == "too long ago")
            #expect(day.completedAt == nil)
            // Its missing notifications can never be counted.
            #expect(try await fixtures.coverage.status().missing == [Self.app: 1])
            #expect(try await fixtures.coverage.status().days[Self.app]?.givenUp == 1)
            #expect(try await fixtures.coverage.status().days[Self.app]?.waiting == 0)
            #expect(try await Self.coverage(.sweep, fixtures).completeUntil == Fixtures.at(Fixtures.day))
        }
    }

    @Test func `CoverageStore counts a day whose sweep failed as missing, also while it is swept again`()
        async throws
    {
        try await Fixtures.use { fixtures async throws in
            try await Self.begin(fixtures)
            func figures() async throws -> [Int64?] {
                let status = try await fixtures.coverage.status()
                return [status.missing[Self.app], status.days[Self.app]?.waiting, status.days[Self.app]?.givenUp]
            }
            #expect(try await figures() == [0, 0, 0])
            let first = Fixtures.request(0, Fixtures.day, reason: .sweep)
            let before = try await Self.coverage(.sweep, fixtures)
            #expect(
                try await fixtures.coverage.plan(
                    [first], moving: CoverageStore.Move(before, to: first.scope.to), at: Fixtures.at(0)))
            #expect(try await figures() == [0, 1, 0])
            let claim = try #require(try await fixtures.claim().first)
            try await fixtures.claims.fail(claim, because: "Apple refuses", at: Fixtures.at(1))
            #expect(try await figures() == [1, 1, 0])

            let again = Fixtures.request(0, Fixtures.day, reason: .sweep)
            #expect(try await fixtures.coverage.plan([again], moving: nil, at: Fixtures.at(2)))
            #expect(try await figures() == [1, 1, 0])
            let second = try #require(try await fixtures.claim().first)
            try await fixtures.fetch(second)
            try await fixtures.see(second.page, of: second.id, .init(listed: 20, present: 20))
            #expect(try await fixtures.windows.close([second.id], at: Fixtures.at(3)) == [second.id])
            #expect(try await figures() == [0, 0, 0])
        }
    }

    @Test func `CoverageStore completes the check for failed deliveries up to the oldest open window`() async throws {
        try await Fixtures.use { fixtures async throws in
            try await Self.begin(fixtures)
            var ids: [UUID] = []
            for round in 1...2 {
                let before = try await Self.coverage(.failures, fixtures)
                let request = Fixtures.request(
                    Double(round) * 1000, Double(round + 1) * 1000, reason: .failures)
                #expect(
                    try await fixtures.coverage.plan(
                        [request], moving: CoverageStore.Move(before, to: request.scope.to), at: Fixtures.at(0)))
                let claim = try #require(try await fixtures.claim().first)
                try await fixtures.fetch(claim)
                try await fixtures.see(claim.page, of: claim.id)
                ids.append(claim.id)
            }
            #expect(try await Self.coverage(.failures, fixtures).completeUntil == Fixtures.at(1000))
            #expect(try await fixtures.windows.close([ids[0]], at: Fixtures.at(1)) == [ids[0]])
            #expect(try await Self.coverage(.failures, fixtures).completeUntil == Fixtures.at(2000))
            #expect(try await fixtures.windows.close([ids[1]], at: Fixtures.at(2)) == [ids[1]])
            #expect(try await Self.coverage(.failures, fixtures).completeUntil == Fixtures.at(3000))
        }
    }

    @Test func `CoverageStore finds the first notification of an app, and none of another app`() async throws {
        try await LedgerStoreTests.use { connection, _ async throws in
            var fixtures = StorageTests.Fixtures(seed: 4)
            let store = CoverageStore(connection)
            #expect(try await store.firstRecorded(.production, "com.example.app") == nil)
            _ = try await LedgerStore(connection).apply(
                fixtures.entries(3), moving: [StorageTests.Fixtures.move(0, 3)], recordedAt: StorageTests.Fixtures.now)
            #expect(try await store.firstRecorded(.production, "com.example.app") == StorageTests.Fixtures.now)
            #expect(try await store.firstRecorded(.sandbox, "com.example.app") == nil)
        }
    }
}
