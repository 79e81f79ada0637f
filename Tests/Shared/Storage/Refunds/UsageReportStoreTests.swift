import Contracts
import Foundation
import Postgres
import Refunds
import TestSupport
import Testing

@testable import Storage

/// How long reports about the use of a purchase are kept.
@Suite(.hangLimit) struct UsageReportStoreTests {
    private static func percentages(_ connection: PostgresConnection) async throws -> [Int64] {
        try await connection.execute(unsafeSQL: "select percentage from usage_report order by id")
            .map { row in try row.value("percentage") }
    }

    @Test func `UsageReportStore deletes reports from before a time, in batches`() async throws {
        try await RefundFixture.use { fixture async throws in
            for minute in 0..<5 { _ = try await fixture.use(Int64(minute), minute: Double(minute)) }
            let store = UsageReportStore(fixture.connection)
            #expect(try await store.delete(reportedBefore: RefundFixture.at(3), portion: 2) == 3)
            #expect(try await Self.percentages(fixture.connection) == [3, 4])
            #expect(try await store.delete(reportedBefore: RefundFixture.at(3)) == 0)
        }
    }

    @Test func `The report that is stored last counts, also by a clock that is behind the one of the report before`()
        async throws
    {
        try await RefundFixture.use { fixture async throws in
            #expect(try await fixture.use(10_000, minute: 12))
            #expect(try await fixture.use(90_000, minute: 11.95))
            let rows = try await fixture.connection.pipeline([RefundSubjects.command([RefundFixture.key])])
            #expect(try RefundSubjects.subjects(rows[0]).first??.usage?.percentage == 90_000)
        }
    }

    @Test func `A report makes the request of a transaction due, and none of another app`() async throws {
        try await RefundFixture.use { fixture async throws in
            func report(among bundleIds: [String], minute: Double) async throws -> UsageReportStore.Added {
                try await UsageReportStore(fixture.connection).add(
                    .init(percentage: 7), of: RefundFixture.key, among: bundleIds, by: "key",
                    at: RefundFixture.at(minute))
            }
            func nextAt() async throws -> Date {
                try await fixture.connection.execute(unsafeSQL: "select next_at from refund_request")[0]
                    .value("next_at")
            }
            _ = try await fixture.connection.execute(
                unsafeSQL: "update refund_request set next_at = $1::timestamptz", RefundFixture.at(60))
            #expect(try await report(among: ["com.example.another"], minute: 11) == .unknown)
            #expect(try await nextAt() == RefundFixture.at(60))
            #expect(try await report(among: ["com.example.another", RefundFixture.app], minute: 12) == .stored)
            #expect(try await nextAt() == RefundFixture.at(12))
        }
    }

    @Test(arguments: ErasureStore.Extent.allCases)
    func `A report after an erasure is not stored, until another account has the purchase`(extent: ErasureStore.Extent)
        async throws
    {
        try await RefundFixture.use { fixture async throws in
            let certificate = try await ErasureStore(fixture.connection).forget(
                RefundFixture.account, of: RefundFixture.app, in: .production, extent: extent, id: UUID(),
                at: RefundFixture.at(6))
            #expect(certificate != nil)
            func report(_ percentage: Int64) async throws -> UsageReportStore.Added {
                try await UsageReportStore(fixture.connection).add(
                    .init(percentage: percentage), of: RefundFixture.key, among: nil, by: "key", at: RefundFixture.at(7)
                )
            }
            #expect(try await report(7) == .erased)
            #expect(try await Self.percentages(fixture.connection) == [])
            let other = UUID().uuidString.lowercased()
            try await fixture.apply("ONE_TIME_CHARGE", minute: 8) { entry in
                entry.event?.transaction?.appAccountToken = other
                entry.event?.transaction?.signedDate = RefundFixture.at(8)
            }
            #expect(try await report(8) == .stored)
            #expect(try await Self.percentages(fixture.connection) == [8])
        }
    }

    @Test func `An erasure waits for a report that is being stored, and leaves none`() async throws {
        try await RefundFixture.use { fixture async throws in
            // The report is stored and not committed while another transaction has the row of the request.
            let other = TestDatabase.connection(fixture.database)
            try await other.run(unsafeScript: "begin; select from refund_request for update")
            let reporting = RefundFixture(
                connection: TestDatabase.connection(fixture.database), database: fixture.database)
            async let isStored = reporting.use(7, minute: 5)
            _ = try await TestDatabase.blockedBackends(asking: fixture.connection)
            let erasing = TestDatabase.connection(fixture.database)
            async let erased = ErasureStore(erasing).forget(
                RefundFixture.account, of: RefundFixture.app, in: .production, extent: .detach, id: UUID(),
                at: RefundFixture.at(6))
            _ = try await TestDatabase.blockedBackends(2, asking: fixture.connection)
            try await other.run(unsafeScript: "commit")
            #expect(try await isStored)
            #expect(try await erased != nil)
            #expect(try await Self.percentages(fixture.connection) == [])
        }
    }
}
