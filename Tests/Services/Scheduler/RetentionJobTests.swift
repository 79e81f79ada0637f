import Foundation
import Postgres
import Storage
import Synchronization
import TestSupport
import Testing

@testable import Scheduler

@Suite(.hangLimit) struct RetentionJobTests {
    @Test func `RetentionJob changes no month by a clock that goes ahead in its turn`() async throws {
        try await TestDatabase.connected { connection async throws in
            let reads = Mutex(0)
            // In May 2030, then in May 2040.
            let job = Self.job(connection) {
                let read = reads.withLock { count in
                    count += 1
                    return count
                }
                return Date(timeIntervalSince1970: read == 1 ? 1_906_000_000 : 2_221_600_000)
            }
            try await job.turn()
            let months = try await RetentionStore(connection).months().map(\.name)
            #expect(months.contains("notification_payload_2030_05"))
            #expect(!months.contains("notification_payload_2040_05"))
        }
    }

    private static func job(_ connection: PostgresConnection, now: @escaping @Sendable () -> Date) -> RetentionJob {
        RetentionJob(
            windows: RecoveryWindowStore(connection), canaries: CanaryStore(connection),
            overdue: OverdueStore(connection), heartbeats: HeartbeatStore(connection),
            usage: UsageReportStore(connection), comparisons: ComparisonStore(connection),
            retention: RetentionStore(connection), policy: RetentionPolicy(ledgerDays: 400, seenDays: 30),
            now: now, logger: SchedulerFixture.logger)
    }

    @Test func `RetentionJob creates the ledger's months also where other rows cannot be deleted`() async throws {
        try await TestDatabase.connected { connection async throws in
            try await connection.run(
                unsafeScript: """
                    create function refuse_deletion() returns trigger language plpgsql as $$
                    begin raise exception 'it is rejected'; end $$;
                    create trigger refuse before delete on canary for each statement
                    execute function refuse_deletion();
                    """)
            // In May 2030.
            let now = Date(timeIntervalSince1970: 1_906_000_000)
            let job = Self.job(connection) { now }
            await #expect(throws: PostgresError.self) { try await job.turn() }
            let months = try await RetentionStore(connection).months().map(\.name)
            #expect(months.contains("notification_payload_2030_05"))
        }
    }
}
