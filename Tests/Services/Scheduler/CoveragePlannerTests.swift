import Contracts
import Foundation
import Logging
import Postgres
import Records
import Storage
import TestSupport
import Testing

@testable import Scheduler

@Suite struct CoveragePlannerTests {
    static let app = CoverageStore.App(.production, "com.example.app")
    /// Two in the morning.
    static let now = FailuresPlanTests.now.startOfDay.addingTimeInterval(7200)

    static func planner(
        _ database: PostgresConfiguration, after seconds: TimeInterval = 0, reach: Double = 30 * 86_400,
        apps: [CoverageStore.App] = [app]
    ) -> CoveragePlanner {
        let connection = TestDatabase.connection(database)
        return CoveragePlanner(
            coverage: CoverageStore(connection), windows: RecoveryWindowStore(connection),
            heartbeats: HeartbeatStore(connection), apps: apps, failures: FailuresPlan(interval: 300, overlap: 900),
            sweep: SweepPlan(delay: 3600), reach: reach, now: { now.addingTimeInterval(seconds) }, newId: { UUID() },
            logger: .quiet)
    }

    static func use(
        firstRecordedDaysAgo days: Double? = nil,
        _ body: @Sendable (PostgresConfiguration, RecoveryWindowStore, CoverageStore) async throws -> Void
    ) async throws {
        try await TestDatabase.use { database async throws in
            let connection = TestDatabase.connection(database)
            if let days {
                _ = try await LedgerStore(connection).apply(
                    [entry(daysAgo: days)], moving: [], recordedAt: now.addingTimeInterval(-days * 86_400))
            }
            try await body(database, RecoveryWindowStore(connection), CoverageStore(connection))
        }
    }

    static func entry(daysAgo days: Double, in environment: StoreEnvironment = .production) -> LedgerEntry {
        let date = now.addingTimeInterval(-days * 86_400)
        return LedgerEntry(
            notificationUUID: UUID(), notificationType: "TEST", subtype: nil, environment: environment,
            bundleId: app.bundleId, appAppleId: nil, originalTransactionId: nil, transactionId: nil,
            signedDate: date, receivedAt: date, source: .webhook, decodedPayload: "{}", signedPayload: [1],
            event: nil, position: LogPosition(topic: "t", partition: 0, offset: 0))
    }

    static func reasons(_ windows: RecoveryWindowStore) async throws -> [RecoveryWindow.Reason: Int] {
        try await windows.windows().reduce(into: [:]) { $0[$1.reason, default: 0] += 1 }
    }

    @Test func `App without any notification begins now, and nothing before is fetched`() async throws {
        try await Self.use { database, windows, coverage in
            try await Self.planner(database).turn()
            #expect(try await coverage.coverage().filter { $0.kind != .sweep }.allSatisfy { $0.beginsAt == Self.now })
            #expect(try await Self.reasons(windows) == [:])
            try await Self.planner(database, after: 300).turn()
            #expect(try await Self.reasons(windows) == [.failures: 1])
            try await Self.planner(database, after: 86_400).turn()
            let sweeps = try await windows.windows().filter { $0.reason == .sweep }
            // The day it began on, from midnight.
            #expect(sweeps.map(\.scope.from) == [Self.now.startOfDay])
        }
    }

    @Test func `Coverage begins where the ledger does, and every whole day since is swept once`() async throws {
        try await Self.use(firstRecordedDaysAgo: 3) { database, windows, coverage in
            try await Self.planner(database).turn()
            #expect(try await Self.reasons(windows) == [.failures: 1, .sweep: 3])
            try await Self.planner(database).turn()
            #expect(try await Self.reasons(windows) == [.failures: 1, .sweep: 3])
            let days = try await coverage.days(from: Date(timeIntervalSince1970: 0), to: Self.now)
            #expect(days.count == 3)
            #expect(days.allSatisfy { $0.completedAt == nil })
        }
    }

    @Test func `CoveragePlanner plans no further back than configured`() async throws {
        try await Self.use(firstRecordedDaysAgo: 100) { database, windows, _ in
            try await Self.planner(database, reach: 2 * 86_400).turn()
            #expect(try await Self.reasons(windows)[.sweep] == 2)
        }
    }

    @Test func `Two schedulers at once open nothing twice`() async throws {
        try await Self.use(firstRecordedDaysAgo: 5) { database, windows, _ in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<4 { group.addTask { try await Self.planner(database).turn() } }
                try await group.waitForAll()
            }
            #expect(try await Self.reasons(windows) == [.failures: 1, .sweep: 5])
        }
    }

    private static func beat(_ minutes: some Sequence<Int>, _ database: PostgresConfiguration) async throws {
        try await HeartbeatStore(TestDatabase.connection(database)).record(
            minutes.map {
                IngestHeartbeat(
                    instance: "a", minute: now.addingTimeInterval(Double($0) * 60), accepted: 1, rejected: [:])
            })
    }

    @Test func `Silence of ingest opens a window over it when it is over`() async throws {
        try await Self.use(firstRecordedDaysAgo: 0.5) { database, windows, _ in
            try await Self.beat(-120 ... -60, database)
            try await Self.planner(database).turn()
            #expect(try await Self.reasons(windows)[.outage] == nil)
            try await Self.beat(-20...0, database)
            try await Self.planner(database).turn()
            let outage = try #require(try await windows.windows().first { $0.reason == .outage })
            #expect(outage.scope.from == Self.now.addingTimeInterval(-59 * 60 - 300))
            #expect(outage.scope.to == Self.now.addingTimeInterval(-20 * 60 + 300))
            #expect(!outage.scope.onlyFailures)
            try await Self.planner(database).turn()
            #expect(try await Self.reasons(windows)[.outage] == 1)
        }
    }

    @Test func `Heartbeat of a clock that is a year ahead ends no evaluation of the minutes before`() async throws {
        try await Self.use(firstRecordedDaysAgo: 0.5) { database, windows, _ in
            try await Self.beat(-120...0, database)
            try await Self.beat([365 * 1440], database)
            try await Self.planner(database).turn()
            #expect(try await Self.reasons(windows)[.outage] == nil)
            try await Self.beat(60...120, database)
            try await Self.planner(database, after: 7200).turn()
            let outage = try #require(try await windows.windows().first { $0.reason == .outage })
            #expect(outage.scope.from == Self.now.addingTimeInterval(60 - 300))
            #expect(outage.scope.to == Self.now.addingTimeInterval(60 * 60 + 300))
        }
    }

    @Test(arguments: ["coverage", "recovery_window"])
    func `CoveragePlanner that fails for one app logs it and goes on with the others`(table: String) async throws {
        try await Self.use(firstRecordedDaysAgo: 3) { database, windows, coverage in
            let broken = CoverageStore.App(.production, "com.example.broken")
            try await TestDatabase.refuse(broken.bundleId, in: table, of: database)
            // It has a window to open only when it has been kept for a while.
            try? await Self.planner(database, apps: [broken, Self.app]).turn()
            let failure = await #expect(throws: AppsFailed.self) {
                try await Self.planner(database, after: 301, apps: [broken, Self.app]).turn()
            }
            #expect(Set(failure?.apps ?? []) == [broken])
            #expect(Set(try await windows.windows().map(\.scope.bundleId)) == [Self.app.bundleId])
            #expect(try await Self.reasons(windows) == [.failures: 1, .sweep: 3])
        }
    }

    @Test func `CoveragePlanner does not ask in every turn for failures that Apple keeps rejecting`() async throws {
        try await Self.use(firstRecordedDaysAgo: 0.5) { database, windows, coverage in
            let claims = WindowClaimStore(TestDatabase.connection(database))
            var questions: [TimeInterval] = []
            for seconds in stride(from: 0.0, through: 1200, by: 15) {
                try await Self.planner(database, after: seconds).turn()
                for claim in try await claims.claim(for: UUID(), apps: [Self.app], seconds: 60, limit: 9)
                where claim.reason == .failures {
                    questions.append(seconds)
                    try await claims.fail(claim, because: "no", at: Self.now.addingTimeInterval(seconds))
                }
            }
            #expect(questions == [0, 300, 900])
            // Nothing is left out by that.
            let row = try #require(try await coverage.coverage().first { $0.kind == .failures })
            #expect(row.plannedUntil == row.beginsAt)
        }
    }

    @Test func `CoveragePlanner promises no day of which Apple lists only a part`() async throws {
        try await Self.use { database, _, coverage in
            let sandbox = CoverageStore.App(.sandbox, Self.app.bundleId)
            _ = try await LedgerStore(TestDatabase.connection(database)).apply(
                [Self.entry(daysAgo: 100, in: .sandbox)], moving: [],
                recordedAt: Self.now.addingTimeInterval(-100 * 86_400))
            try await Self.planner(database, reach: 365 * 86_400, apps: [sandbox]).turn()
            let days = try await coverage.days(from: Self.now.addingTimeInterval(-90 * 86_400), to: Self.now)
            #expect(days.filter { $0.givenUp != nil }.isEmpty)
            #expect(days.first?.day == Self.now.startOfDay.addingTimeInterval(-29 * 86_400))
            #expect(days.count == 29)
        }
    }

    @Test func `CoveragePlanner repeats after an hour a sweep that left its day incomplete`() async throws {
        try await Self.use(firstRecordedDaysAgo: 1) { database, windows, coverage in
            try await Self.planner(database).turn()
            let claims = WindowClaimStore(TestDatabase.connection(database))
            for claim in try await claims.claim(for: UUID(), apps: [Self.app], seconds: 60, limit: 9)
            where claim.reason == .sweep {
                try await claims.fail(claim, because: "no", at: Self.now)
            }
            try await Self.planner(database, after: 3599).turn()
            #expect(try await Self.reasons(windows)[.sweep] == 1)
            try await Self.planner(database, after: 3601).turn()
            #expect(try await Self.reasons(windows)[.sweep] == 2)
            #expect(try await coverage.days(from: Self.now.addingTimeInterval(-9e5), to: Self.now).count == 1)
        }
    }
}
