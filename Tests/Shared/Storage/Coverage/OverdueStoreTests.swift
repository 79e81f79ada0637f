import Contracts
import Foundation
import Postgres
import Testing

@testable import Storage

@Suite struct OverdueStoreTests {
    typealias Fixtures = CoverageFixtures

    /// A refund by its date and when Apple signed it, both in hours after the status.
    struct Refund: Sendable {
        var at: Double
        var signed: Double
    }

    /// A date by hours before `start`; nil for none.
    static func subscribe(
        _ id: String, status: Int, expiredHoursAgo expiry: Double, grace: Double? = nil, refund: Refund? = nil,
        environment: String = "Production", isRenewing: Bool? = nil, billingPlan: String? = nil, _ fixtures: Fixtures
    ) async throws {
        func ago(_ hours: Double?) -> String {
            hours.map { "to_timestamp(\(Fixtures.at(-$0 * 3600).timeIntervalSince1970))" } ?? "null"
        }
        try await fixtures.connection.run(
            unsafeScript: """
                insert into subscription (
                    signed_at, revision, status, status_event_at, status_event_uuid, expires_at, grace_period_expires_at,
                    revoked_at, transaction_signed_at, transaction_id, transaction_event_at, transaction_event_uuid,
                    notification_uuid, environment, original_transaction_id, bundle_id, renewal_signed_at,
                    renewal_event_at, renewal_event_uuid, is_auto_renewing, billing_plan_type)
                values (now(), 1, \(status), now(), gen_random_uuid(), \(ago(expiry)), \(ago(grace)),
                    \(refund.map { "now() + interval '\($0.at) hours'" } ?? "null"),
                    now() + interval '\(refund?.signed ?? 0) hours', '\(id)', now(), gen_random_uuid(),
                    gen_random_uuid(), '\(environment)', '\(id)', 'com.example.app',
                    \(isRenewing == nil ? "null, null, null, null" : "now(), now(), gen_random_uuid(), \(isRenewing == true)"),
                    \(billingPlan.map { "'\($0)'" } ?? "null"))
                """)
    }

    static func notice(_ fixtures: Fixtures, limit: Int = 100) async throws -> [String] {
        let store = OverdueStore(fixtures.connection)
        _ = try await store.notice(
            of: Fixtures.app, endedBefore: Fixtures.at(-2 * 3600), limit: limit, at: Fixtures.start)
        return try await store.waiting(limit: 100).map(\.message.originalTransactionId).sorted()
    }

    @Test func `Purchases past their end without a notification are overdue, and no others`() async throws {
        try await Fixtures.use { fixtures async throws in
            try await Self.subscribe("active, long past", status: 1, expiredHoursAgo: 3, fixtures)
            try await Self.subscribe("active, just past", status: 1, expiredHoursAgo: 1, fixtures)
            try await Self.subscribe("active", status: 1, expiredHoursAgo: -24, fixtures)
            try await Self.subscribe("expired", status: 2, expiredHoursAgo: 3, fixtures)
            try await Self.subscribe("retrying", status: 3, expiredHoursAgo: 59 * 24, fixtures)
            try await Self.subscribe("retried too long", status: 3, expiredHoursAgo: 61 * 24, fixtures)
            try await Self.subscribe(
                "committed", status: 3, expiredHoursAgo: 89 * 24, billingPlan: "MONTHLY", fixtures)
            try await Self.subscribe(
                "committed, retried too long", status: 3, expiredHoursAgo: 91 * 24, billingPlan: "MONTHLY", fixtures)
            try await Self.subscribe("in grace", status: 4, expiredHoursAgo: 48, grace: -24, fixtures)
            try await Self.subscribe("grace over", status: 4, expiredHoursAgo: 48, grace: 3, fixtures)
            try await Self.subscribe(
                "refunded since", status: 1, expiredHoursAgo: 3, refund: Refund(at: 1, signed: 1), fixtures)
            try await Self.subscribe(
                "added seats were refunded before", status: 1, expiredHoursAgo: 3, refund: Refund(at: -48, signed: -48),
                fixtures)
            try await Self.subscribe(
                "added seats were refunded with the status", status: 1, expiredHoursAgo: 3,
                refund: Refund(at: 0, signed: 0), fixtures)
            try await Self.subscribe(
                "added seats were refunded on a day to come", status: 1, expiredHoursAgo: 3,
                refund: Refund(at: 48, signed: 0), fixtures)
            try await Self.subscribe(
                "of another environment", status: 1, expiredHoursAgo: 3, environment: "Sandbox", fixtures)
            #expect(
                try await Self.notice(fixtures)
                    == [
                        "active, long past", "added seats were refunded before",
                        "added seats were refunded on a day to come", "added seats were refunded with the status",
                        "committed, retried too long", "grace over", "retried too long",
                    ])
        }
    }

    @Test func `OverdueStore requests a purchase once per end, and again for a new end`() async throws {
        try await Fixtures.use { fixtures async throws in
            let store = OverdueStore(fixtures.connection)
            try await Self.subscribe("a", status: 1, expiredHoursAgo: 3, fixtures)
            #expect(try await Self.notice(fixtures) == ["a"])
            #expect(try await Self.notice(fixtures) == ["a"])
            let waiting = try await store.waiting(limit: 10)
            #expect(waiting.map(\.message.skipped) == [["overdue"]])
            try await store.markPublished(waiting, at: Fixtures.start)
            #expect(try await Self.notice(fixtures).isEmpty)

            try await fixtures.connection.run(
                unsafeScript: "update subscription set expires_at = expires_at + interval '5 minutes'")
            #expect(try await Self.notice(fixtures) == ["a"])
        }
    }

    @Test func `OverdueStore requests an auto-renewing purchase near its end once before the end, and once after`()
        async throws
    {
        try await Fixtures.use { fixtures async throws in
            let store = OverdueStore(fixtures.connection)
            func near(limit: Int = 100) async throws -> Int {
                try await store.notice(
                    of: Fixtures.app, endingBefore: Fixtures.at(3600), limit: limit, at: Fixtures.start)
            }
            try await Self.subscribe("renews", status: 1, expiredHoursAgo: -0.5, isRenewing: true, fixtures)
            try await Self.subscribe("unknown", status: 1, expiredHoursAgo: -0.75, fixtures)
            try await Self.subscribe("was ended", status: 1, expiredHoursAgo: -0.5, isRenewing: false, fixtures)
            try await Self.subscribe("not yet", status: 1, expiredHoursAgo: -2, isRenewing: true, fixtures)
            try await Self.subscribe("past", status: 1, expiredHoursAgo: 0.5, isRenewing: true, fixtures)
            try await Self.subscribe("retrying", status: 3, expiredHoursAgo: -0.5, isRenewing: true, fixtures)
            try await Self.subscribe(
                "refunded", status: 1, expiredHoursAgo: -0.5, refund: Refund(at: 1, signed: 1), fixtures)
            #expect(try await near(limit: 1) == 1)
            #expect(try await store.waiting(limit: 9).map(\.message.originalTransactionId) == ["renews"])
            #expect(try await near() == 1)
            #expect(try await near() == 0)
            let waiting = try await store.waiting(limit: 9)
            #expect(waiting.map(\.message.skipped) == [["near its end"], ["near its end"]])
            try await store.markPublished(waiting, at: Fixtures.start)
            #expect(try await store.waiting(limit: 9).isEmpty)

            // Three hours later, no notification has arrived.
            let count = try await store.notice(
                of: Fixtures.app, endedBefore: Fixtures.at(3600), limit: 9, at: Fixtures.at(3 * 3600))
            #expect(count == 4)
            let overdue = try await store.waiting(limit: 9)
            #expect(overdue.allSatisfy { $0.message.skipped == ["overdue"] && !$0.isBeforeEnd })
        }
    }

    /// The index is used even where it is not worth it, so that a plan says whether it can be.
    @Test(arguments: [OverdueStore.notice, OverdueStore.noticeNear])
    func `Overdue purchases are found by the index on their end`(statement: Statement) async throws {
        try await Fixtures.use { fixtures async throws in
            try await fixtures.connection.run(
                unsafeScript: "set enable_seqscan = off; set enable_bitmapscan = off; set enable_sort = off")
            let plan = try await fixtures.connection.execute(
                Statement(unsafeSQL: "explain \(statement.sql)"), Fixtures.app.environment.rawValue,
                Fixtures.app.bundleId, Fixtures.start, Int64(1), Fixtures.start
            ).map { row in try row.value(at: 0, as: String.self) }
            let scans = plan.indices.filter { plan[$0].contains("Scan") && plan[$0].contains("on subscription") }
            #expect(!scans.isEmpty)
            for scan in scans {
                #expect(plan[scan].contains("Index Scan using subscription_by_expiry"))
                let condition = plan[scan + 1]
                for column in ["environment = ", "bundle_id = ", "status = ", "expires_at < "] {
                    #expect(condition.contains("Index Cond") && condition.contains(column), "\(plan)")
                }
            }
        }
    }

    @Test func `Overdue purchases are requested up to the limit, the oldest first`() async throws {
        try await Fixtures.use { fixtures async throws in
            for hours in 3...8 {
                try await Self.subscribe("\(hours)", status: 1, expiredHoursAgo: Double(hours), fixtures)
            }
            #expect(try await Self.notice(fixtures, limit: 2) == ["7", "8"])
        }
    }
}
