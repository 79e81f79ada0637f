import Contracts
import Foundation
import Postgres
import Refunds
import Storage
import TestSupport
import Testing

@testable import Scheduler
@testable import SimulatedAppStore

/// Refund requests from the database to Apple.
@Suite(.hangLimit) struct RefundJobTests {
    private static let app = SchedulerFixture.app
    private static let account = UUID(uuidString: "7e3fb204-2017-4a4e-8f3b-2f1a5d1f7a7b") ?? UUID()

    /// A clock that the test moves.
    private static func job(
        _ fixture: SchedulerFixture, _ clock: ManualClock, on connection: PostgresConnection? = nil,
        hasKey: Bool = true,
        deadline: Duration = .hangLimit
    ) -> RefundJob {
        RefundJob(
            store: RefundDecisionStore(connection ?? fixture.connection),
            clients: hasKey ? [app: fixture.client(deadline: deadline)] : [:], now: { clock.now },
            logger: SchedulerFixture.logger)
    }

    /// Open requests of consumables that Apple knows, with consent and a policy.
    @discardableResult
    private static func request(_ count: Int, _ fixture: SchedulerFixture, at now: Date) async throws -> [String] {
        let ids = try fixture.charge(count)
        for id in ids {
            try await fixture.connection.askAboutRefund(of: id, app.bundleId, in: .production, at: now)
            try await fixture.connection.storeConsumable(id, of: account, app.bundleId, in: .production)
        }
        try await fixture.connection.storeConsent(of: account, app.bundleId, in: .production)
        try await fixture.connection.run(
            unsafeScript: """
                insert into refund_policy (created_at, version, environment, bundle_id, document, created_by)
                values ('2020-01-01', 1, 'Production', '\(app.bundleId)',
                    '{"rules": [{"name": "else", "then": {"preference": "DECLINE"}}]}', 'ann')
                """)
        return ids
    }

    @Test func `RefundJob answers every open request once`() async throws {
        try await SchedulerFixture.open { fixture async throws in
            let clock = ManualClock(at: SchedulerFixture.now)
            let ids = try await Self.request(30, fixture, at: clock.now)
            try await Self.job(fixture, clock).turn()
            try await Self.job(fixture, clock).turn()
            for id in ids { #expect(fixture.answers.bodies(about: id).count == 1) }
            #expect(try await fixture.connection.nextRefundDue() == nil)
            let status = try await RefundStatusStore(fixture.connection).status(at: clock.now)
            #expect(status.allSatisfy { $0.waiting == 0 && $0.failed == 0 && $0.missed == 0 })
        }
    }

    @Test func `Two schedulers at once tell Apple one thing about each request`() async throws {
        try await SchedulerFixture.open { fixture async throws in
            let clock = ManualClock(at: SchedulerFixture.now)
            let ids = try await Self.request(30, fixture, at: clock.now)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<3 {
                    let job = Self.job(fixture, clock, on: TestDatabase.connection(fixture.database))
                    group.addTask { try await job.turn() }
                }
                try await group.waitForAll()
            }
            for id in ids { #expect(fixture.answers.bodies(about: id).count == 1) }
        }
    }

    @Test func `Eighty-four transactions that Apple asks about up to six times each get eighty-four answers`()
        async throws
    {
        try await SchedulerFixture.open { fixture async throws in
            let clock = ManualClock(at: SchedulerFixture.now)
            let ids = try await Self.request(84, fixture, at: clock.now)
            var generator = SeededGenerator(state: 84)
            for round in 0..<6 {
                // Apple fails for some time in every second round.
                if round % 2 == 0 {
                    fixture.faults.add(ServerFault(kind: .error, endpoint: .sendConsumption, errorCode: 5_000_000))
                }
                try await Self.job(fixture, clock, deadline: .milliseconds(20)).turn()
                fixture.faults.clear()
                clock.advance(by: 900)
                for _ in 0..<2 { try await Self.job(fixture, clock).turn() }
                clock.advance(by: 5400)
                let asked = ids.filter { _ in Bool.random(using: &generator) }
                try await Self.repeatRequests(of: asked, fixture, at: clock.now)
            }
            try await Self.job(fixture, clock).turn()
            // An attempt that the client has given up may still arrive after the errors: then Apple gets the same body twice.
            #expect(ids.map { Set(fixture.answers.bodies(about: $0)).count } == ids.map { _ in 1 })
            #expect(try await fixture.connection.nextRefundDue() == nil)
        }
    }

    /// Apple asks again, under a new notificationUUID.
    private static func repeatRequests(of ids: [String], _ fixture: SchedulerFixture, at now: Date) async throws {
        for id in ids {
            try await fixture.connection.askAboutRefund(of: id, app.bundleId, in: .production, at: now)
        }
    }

    @Test(arguments: [5_000_000, 4_290_000])
    func `Apple answers with errors for eleven hours, then takes the same body`(code: Int64) async throws {
        try await SchedulerFixture.open { fixture async throws in
            let clock = ManualClock(at: SchedulerFixture.now)
            let ids = try await Self.request(1, fixture, at: clock.now)
            fixture.faults.add(ServerFault(kind: .error, endpoint: .sendConsumption, errorCode: code))
            var turns = 0
            while clock.now < SchedulerFixture.now.addingTimeInterval(11 * 3600) {
                // One attempt of the client, which has its own pauses.
                try await Self.job(fixture, clock, deadline: .milliseconds(100)).turn()
                turns += 1
                clock.advance(by: 600)
            }
            #expect(turns == 66 && fixture.answers.transactions.isEmpty)
            fixture.faults.clear()
            try await Self.job(fixture, clock).turn()
            clock.advance(by: 600)
            try await Self.job(fixture, clock).turn()
            // An attempt that the client has given up may still arrive after the errors: then Apple gets the same body twice.
            #expect(Set(fixture.answers.bodies(about: ids[0])).count == 1)
        }
    }

    @Test func `Apple answers with errors for twelve hours: the request is missed, and counted for the alert`()
        async throws
    {
        try await SchedulerFixture.open { fixture async throws in
            let clock = ManualClock(at: SchedulerFixture.now)
            try await Self.request(1, fixture, at: clock.now)
            fixture.faults.add(ServerFault(kind: .error, endpoint: .sendConsumption, errorCode: 5_000_000))
            for _ in 0...73 {
                try await Self.job(fixture, clock, deadline: .milliseconds(100)).turn()
                clock.advance(by: 600)
            }
            let status = try await RefundStatusStore(fixture.connection).status(at: clock.now)
            #expect(status.map(\.missed) == [1])
            #expect(try await fixture.connection.nextRefundDue() == nil)
        }
    }

    @Test func `A Retry-After beyond the twelve hours makes no request miss its answer`() async throws {
        try await SchedulerFixture.open { fixture async throws in
            let clock = ManualClock(at: SchedulerFixture.now)
            let ids = try await Self.request(2, fixture, at: clock.now)
            fixture.faults.add(ServerFault(kind: .storm, endpoint: .sendConsumption, delay: .seconds(86_400)))
            try await Self.job(fixture, clock).turn()
            #expect(fixture.answers.transactions.isEmpty)
            fixture.faults.clear()
            clock.advance(by: 900)
            try await Self.job(fixture, clock).turn()
            for id in ids { #expect(fixture.answers.bodies(about: id).count == 1) }
        }
    }

    @Test func `A pause of an app holds up its own answers, and none once it is over`() async {
        let (pauses, now) = (AppPauses(), SchedulerFixture.now)
        let other = CoverageStore.App(.sandbox, Self.app.bundleId)
        await pauses.pause(Self.app, until: now.addingTimeInterval(5))
        await pauses.pause(Self.app, until: now.addingTimeInterval(2))
        #expect(await pauses.end(of: Self.app, at: now.addingTimeInterval(4)) == now.addingTimeInterval(5))
        #expect(await pauses.end(of: Self.app, at: now.addingTimeInterval(5)) == nil)
        #expect(await pauses.end(of: other, at: now) == nil)
    }

    @Test func `An answer that Apple rejects has failed; without a key, or a revoked one, it waits`() async throws {
        try await SchedulerFixture.open { fixture async throws in
            let clock = ManualClock(at: SchedulerFixture.now)
            let ids = try await Self.request(1, fixture, at: clock.now)
            try await Self.job(fixture, clock, hasKey: false).turn()
            var status = try await RefundStatusStore(fixture.connection).status(at: clock.now)
            #expect(status.map(\.waiting) == [1])
            clock.advance(by: RefundJob.keyPause)
            fixture.faults.add(ServerFault(kind: .error, endpoint: .sendConsumption, errorCode: 4_000_044))
            try await Self.job(fixture, clock).turn()
            status = try await RefundStatusStore(fixture.connection).status(at: clock.now)
            #expect(status.map(\.failed) == [1] && status.map(\.waiting) == [0])
            #expect(fixture.answers.bodies(about: ids[0]).isEmpty)
        }
    }

    @Test func `A process that ends after the decision, or before Apple's answer is stored, leaves one body`()
        async throws
    {
        try await SchedulerFixture.open { fixture async throws in
            let clock = ManualClock(at: SchedulerFixture.now)
            let ids = try await Self.request(2, fixture, at: clock.now)
            let store = RefundDecisionStore(fixture.connection)
            // Killed before Apple was asked, and killed after Apple's answer, before it was stored.
            guard case .send = try await store.look(at: RefundKey(.production, ids[0]), now: clock.now).turn,
                case .send(let told) = try await store.look(at: RefundKey(.production, ids[1]), now: clock.now).turn
            else {
                Issue.record("nothing to send")
                return
            }
            try await fixture.client().sendConsumptionInformation(ids[1], body: Array(told.body.utf8), version: 2)
            try await Self.job(fixture, clock).turn()
            #expect(fixture.answers.bodies(about: ids[0]).isEmpty)
            clock.advance(by: RefundDecisionStore.claim)
            try await Self.job(fixture, clock).turn()
            #expect(fixture.answers.bodies(about: ids[0]).count == 1)
            #expect(
                fixture.answers.bodies(about: ids[1]).count == 2
                    && Set(fixture.answers.bodies(about: ids[1])).count == 1)
        }
    }
}
