import Contracts
import Foundation
import Postgres
import Storage
import TestSupport
import Testing

@testable import Scheduler

@Suite(.hangLimit) struct OverdueJobTests {
    static func watch(_ fixture: SchedulerFixture, apps: [CoverageStore.App] = [SchedulerFixture.app]) -> OverdueJob {
        OverdueJob(
            store: OverdueStore(fixture.connection), apps: apps, producer: fixture.producer, patience: 7200,
            foresight: 3600,
            budget: 2, now: { SchedulerFixture.now }, logger: SchedulerFixture.logger)
    }

    /// An active purchase that renews by itself.
    static func subscribe(
        _ id: String, endsInHours hours: Double, of bundleId: String = SchedulerFixture.app.bundleId,
        _ fixture: SchedulerFixture
    ) async throws {
        let expiry = SchedulerFixture.now.addingTimeInterval(hours * 3600).timeIntervalSince1970
        try await fixture.connection.run(
            unsafeScript: """
                insert into subscription (
                    signed_at, revision, status, status_event_at, status_event_uuid, expires_at, notification_uuid,
                    environment, original_transaction_id, bundle_id)
                values (to_timestamp(1), 1, 1, now(), gen_random_uuid(), to_timestamp(\(expiry)), gen_random_uuid(),
                    'Production', '\(id)', '\(bundleId)')
                """)
    }

    @Test func `OverdueJob asks about as many purchases as a turn allows, the oldest first, and none twice`()
        async throws
    {
        try await SchedulerFixture.open { fixture in
            for hours in 3...5 {
                try await Self.subscribe("ended \(hours) hours ago", endsInHours: -Double(hours), fixture)
            }
            try await Self.watch(fixture).turn()
            let first = try await fixture.broker.messages(of: Topics.recoveryRequests) { $0.count >= 2 }
            #expect(Set(first.map(\.originalTransactionId)) == ["ended 5 hours ago", "ended 4 hours ago"])
            #expect(first.allSatisfy { $0.skipped == ["overdue"] && $0.to == SchedulerFixture.now })
            try await Self.watch(fixture).turn()
            try await Self.watch(fixture).turn()
            let all = try await fixture.broker.messages(of: Topics.recoveryRequests) { $0.count >= 3 }
            #expect(all.count == 3)
        }
    }

    @Test func `OverdueJob asks about subscriptions that are about to end after those that have ended`() async throws {
        try await SchedulerFixture.open { fixture in
            try await Self.subscribe("ended", endsInHours: -3, fixture)
            try await Self.subscribe("ends soon", endsInHours: 0.5, fixture)
            try await Self.subscribe("ends very soon", endsInHours: 0.25, fixture)
            try await Self.subscribe("ends tomorrow", endsInHours: 24, fixture)
            try await Self.watch(fixture).turn()
            let first = try await fixture.broker.messages(of: Topics.recoveryRequests) { $0.count >= 2 }
            #expect(Set(first.map(\.originalTransactionId)) == ["ended", "ends very soon"])
            try await Self.watch(fixture).turn()
            let all = try await fixture.broker.messages(of: Topics.recoveryRequests) { $0.count >= 3 }
            #expect(Set(all.map(\.originalTransactionId)) == ["ended", "ends soon", "ends very soon"])
            #expect(all.filter { $0.skipped == ["near its end"] }.count == 2)
        }
    }

    @Test func `OverdueJob that fails for one app logs it and goes on with the others`() async throws {
        try await SchedulerFixture.open { fixture in
            let broken = CoverageStore.App(.production, "com.example.broken")
            try await Self.subscribe("broken", endsInHours: -4, of: broken.bundleId, fixture)
            try await Self.subscribe("ended", endsInHours: -3, fixture)
            try await TestDatabase.refuse(broken.bundleId, in: "overdue_inquiry", of: fixture.database)
            for apps in [[broken, SchedulerFixture.app], [SchedulerFixture.app, broken]] {
                let failure = await #expect(throws: AppsFailed.self) {
                    try await Self.watch(fixture, apps: apps).turn()
                }
                #expect(failure?.apps == [broken])
            }
            let asked = try await fixture.broker.messages(of: Topics.recoveryRequests) { $0.count >= 1 }
            #expect(asked.map(\.originalTransactionId) == ["ended"])
        }
    }
}
