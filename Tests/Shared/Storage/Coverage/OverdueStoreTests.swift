import Contracts
import Foundation
import Postgres
import Storage
import Testing

@Suite struct OverdueStoreTests {
    typealias Fixtures = CoverageFixtures

    /// Hours before `start`; nil is none.
    static func subscribe(
        _ id: String, status: Int, expiredHoursAgo expiry: Double, grace: Double? = nil, isRevoked: Bool = false,
        environment: String = "Production", _ fixtures: Fixtures
    ) async throws {
        func ago(_ hours: Double?) -> String {
            hours.map { "to_timestamp(\(Fixtures.at(-$0 * 3600).timeIntervalSince1970))" } ?? "null"
        }
        try await fixtures.connection.run(
            unsafeScript: """
                insert into subscription (
                    signed_at, revision, status, status_news_at, status_news_uuid, expires_at, grace_period_expires_at,
                    revoked_at, notification_uuid, environment, original_transaction_id, bundle_id)
                values (now(), 1, \(status), now(), gen_random_uuid(), \(ago(expiry)), \(ago(grace)),
                    \(isRevoked ? "now()" : "null"), gen_random_uuid(), '\(environment)', '\(id)', 'com.example.app')
                """)
    }

    static func notice(_ fixtures: Fixtures, limit: Int = 100) async throws -> [String] {
        let store = OverdueStore(fixtures.connection)
        _ = try await store.notice(
            [Fixtures.app], endedBefore: Fixtures.at(-2 * 3600), limit: limit, at: Fixtures.start)
        return try await store.waiting(limit: 100).map(\.message.originalTransactionId).sorted()
    }

    @Test func `what should have moved by now is overdue, and nothing else`() async throws {
        try await Fixtures.use { fixtures async throws in
            try await Self.subscribe("active, long past", status: 1, expiredHoursAgo: 3, fixtures)
            try await Self.subscribe("active, just past", status: 1, expiredHoursAgo: 1, fixtures)
            try await Self.subscribe("active", status: 1, expiredHoursAgo: -24, fixtures)
            try await Self.subscribe("expired", status: 2, expiredHoursAgo: 3, fixtures)
            try await Self.subscribe("retrying", status: 3, expiredHoursAgo: 59 * 24, fixtures)
            try await Self.subscribe("retried too long", status: 3, expiredHoursAgo: 61 * 24, fixtures)
            try await Self.subscribe("in grace", status: 4, expiredHoursAgo: 48, grace: -24, fixtures)
            try await Self.subscribe("grace over", status: 4, expiredHoursAgo: 48, grace: 3, fixtures)
            try await Self.subscribe("refunded", status: 1, expiredHoursAgo: 3, isRevoked: true, fixtures)
            try await Self.subscribe(
                "of another environment", status: 1, expiredHoursAgo: 3, environment: "Sandbox", fixtures)
            #expect(try await Self.notice(fixtures) == ["active, long past", "grace over", "retried too long"])
        }
    }

    @Test func `each is asked about once per time, and again when it has a new one`() async throws {
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

    @Test func `no more are noticed than there is room for, the oldest first`() async throws {
        try await Fixtures.use { fixtures async throws in
            for hours in 3...8 {
                try await Self.subscribe("\(hours)", status: 1, expiredHoursAgo: Double(hours), fixtures)
            }
            #expect(try await Self.notice(fixtures, limit: 2) == ["7", "8"])
        }
    }
}
