import Foundation
import Storage
import TestSupport
import Testing

@testable import Scheduler
@testable import SimulatedAppStore

@Suite(.hangLimit) struct CanaryJobTests {
    /// - Parameters:
    ///   - minutes: how long after the test notification was asked for.
    ///   - apps: all use the fixture's client.
    static func watch(
        _ fixture: SchedulerFixture, minutes: Double = 0, apps: [CoverageStore.App] = [SchedulerFixture.app],
        followed: Set<String> = []
    ) -> CanaryJob {
        let client = fixture.client()
        return CanaryJob(
            canaries: CanaryStore(fixture.connection), windows: RecoveryWindowStore(fixture.connection),
            clients: { Dictionary(uniqueKeysWithValues: apps.map { ($0, client) }) }, followed: followed,
            interval: 3600, patience: 300,
            now: { SchedulerFixture.now.addingTimeInterval(minutes * 60) }, newId: { UUID() },
            logger: SchedulerFixture.logger)
    }

    static func newest(_ fixture: SchedulerFixture) async throws -> Canary {
        try #require(try await CanaryStore(fixture.connection).newest(1).first)
    }

    @Test func `CanaryJob sends one canary each interval and follows it into the ledger`() async throws {
        try await SchedulerFixture.open { fixture in
            try await Self.watch(fixture).turn()
            try await Self.watch(fixture, minutes: 59).turn()
            #expect(try await CanaryStore(fixture.connection).newest(9).count == 1)
            let canary = try await Self.newest(fixture)
            #expect(canary.outcome == .unsent)
        }
        try await SchedulerFixture.open { fixture in
            try await Self.watch(fixture).turn()
            let uuid = try fixture.sendTest(token: try await Self.newest(fixture).token, status: 200)
            try await Self.watch(fixture, minutes: 1).turn()
            #expect(try await Self.newest(fixture).notificationUUID == uuid)
            #expect(try await Self.newest(fixture).outcome == nil)
            try await fixture.record(hoursAgo: 0, uuid: uuid)
            try await Self.watch(fixture, minutes: 2).turn()
            let canary = try await Self.newest(fixture)
            #expect(canary.outcome == .arrived)
            #expect(canary.attemptResult == "SUCCESS")
            #expect(try await RecoveryWindowStore(fixture.connection).windows().isEmpty)
            try await Self.watch(fixture, minutes: 61).turn()
            #expect(try await CanaryStore(fixture.connection).newest(9).count == 2)
        }
    }

    @Test func `CanaryJob goes on after its clock was a month ahead`() async throws {
        try await SchedulerFixture.open { fixture in
            try await Self.watch(fixture, minutes: 30 * 1440).turn()
            try await Self.watch(fixture).turn()
            let canaries = try await CanaryStore(fixture.connection).newest(9)
            #expect(canaries.map(\.requestedAt) == [SchedulerFixture.now])
        }
    }

    @Test(arguments: [(200, Canary.Outcome.lost), (503, .unreached)])
    func `Canary that does not arrive opens a window for everything since the last one that did`(
        status: Int, outcome: Canary.Outcome
    ) async throws {
        try await SchedulerFixture.open { fixture in
            try await Self.watch(fixture).turn()
            _ = try fixture.sendTest(token: try await Self.newest(fixture).token, status: status)
            try await Self.watch(fixture, minutes: 6).turn()
            #expect(try await Self.newest(fixture).outcome == outcome)
            let windows = try await RecoveryWindowStore(fixture.connection).windows()
            #expect(windows.map(\.reason) == [.canary])
            #expect(windows.first?.scope.to == SchedulerFixture.now.addingTimeInterval(360))
            try await Self.watch(fixture, minutes: 7).turn()
            #expect(try await RecoveryWindowStore(fixture.connection).windows().count == 1)
        }
    }

    @Test(arguments: [200, 503, nil] as [Int?])
    func `Canary that waits when following begins does not alarm, and no other is requested`(status: Int?) async throws
    {
        try await SchedulerFixture.open { fixture in
            let followed: Set = [SchedulerFixture.app.bundleId]
            try await Self.watch(fixture).turn()
            if let status { _ = try fixture.sendTest(token: try await Self.newest(fixture).token, status: status) }
            try await Self.watch(fixture, minutes: 1, followed: followed).turn()
            #expect(try await Self.newest(fixture).outcome == nil)
            try await Self.watch(fixture, minutes: 6, followed: followed).turn()
            try await Self.watch(fixture, minutes: 120, followed: followed).turn()
            #expect(try await CanaryStore(fixture.connection).newest(9).isEmpty)
            #expect(try await RecoveryWindowStore(fixture.connection).windows().isEmpty)
        }
    }

    @Test func `Canary that arrives after following has begun is settled`() async throws {
        try await SchedulerFixture.open { fixture in
            let followed: Set = [SchedulerFixture.app.bundleId]
            try await Self.watch(fixture).turn()
            let uuid = try fixture.sendTest(token: try await Self.newest(fixture).token, status: 200)
            try await fixture.record(hoursAgo: 0, uuid: uuid)
            try await Self.watch(fixture, minutes: 6, followed: followed).turn()
            #expect(try await Self.newest(fixture).outcome == .arrived)
        }
    }

    @Test func `CanaryJob that fails for one app logs it and goes on with the others`() async throws {
        try await SchedulerFixture.open { fixture in
            let broken = CoverageStore.App(.production, "com.example.broken")
            let apps =
                [broken, SchedulerFixture.app] + (1...6).map { CoverageStore.App(.production, "com.example.app\($0)") }
            try await TestDatabase.refuse(broken.bundleId, in: "canary", of: fixture.database)
            let failure = await #expect(throws: AppsFailed.self) { try await Self.watch(fixture, apps: apps).turn() }
            #expect(failure?.apps == [broken])
            let sent = try await CanaryStore(fixture.connection).newest(9)
            #expect(Set(sent.map(\.bundleId)) == Set(apps.dropFirst().map(\.bundleId)))
        }
    }

    @Test func `Canary that cannot be followed keeps no other from being followed`() async throws {
        try await SchedulerFixture.open { fixture in
            let store = CanaryStore(fixture.connection)
            let apps = ["com.example.broken", SchedulerFixture.app.bundleId].map { CoverageStore.App(.production, $0) }
            try await Self.watch(fixture, apps: apps).turn()
            // Its turn comes first.
            try await fixture.connection.run(
                unsafeScript: """
                    update canary set requested_at = requested_at - interval '1 second'
                    where bundle_id = 'com.example.broken'
                    """)
            // It is lost, and the window for that cannot be opened.
            try await TestDatabase.refuse(apps[0].bundleId, in: "recovery_window", of: fixture.database)
            for canary in try await store.waiting() { _ = try fixture.sendTest(token: canary.token, status: 503) }
            let watch = Self.watch(fixture, minutes: 6, apps: apps)
            let failure = await #expect(throws: AppsFailed.self) { try await watch.turn() }
            #expect(failure?.apps == [apps[0]])
            let windows = RecoveryWindowStore(fixture.connection)
            #expect(try await windows.windows().map(\.scope.bundleId) == [apps[1].bundleId])
            // And is opened when it can be.
            try await TestDatabase.allow("recovery_window", of: fixture.database)
            try await watch.turn()
            #expect(Set(try await windows.windows().map(\.scope.bundleId)) == Set(apps.map(\.bundleId)))
        }
    }

    @Test func `CanaryJob does not ask again before the next interval where Apple knows no URL`() async throws {
        try await SchedulerFixture.open { fixture in
            fixture.faults.add(ServerFault(kind: .noURL, remaining: 1))
            let watch = Self.watch(fixture)
            try await watch.turn()
            try await watch.turn()
            #expect(try await CanaryStore(fixture.connection).newest(9).isEmpty)
            #expect(fixture.faults.all(now: SchedulerFixture.now).isEmpty)
        }
    }
}
