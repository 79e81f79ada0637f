import Bootstrap
import Chassis
import Contracts
import Foundation
import Kafka
import Postgres
import Records
import ServerAPI
import Storage
import Subscriptions
import Synchronization
import TestSupport
import Testing

@testable import Recovery

@Suite(.serialized, .hangLimit) struct RetentionJobTests {
    static let now = History.now
    static let day = 86_400.0

    /// - Parameter ahead: seconds by which the machine's clock is ahead of the database's.
    static func retentionJob(
        _ connection: PostgresConnection, ahead: TimeInterval = 0, apple: AppleTime? = nil,
        now: (@Sendable () -> Date)? = nil
    ) -> RetentionJob {
        RetentionJob(
            attempts: SendAttemptStore(connection), answers: RecoveryAnswerStore(connection),
            rejected: RejectedStore(connection), items: RecoveryItemStore(connection), leases: LeaseStore(connection),
            clocks: ClockCheck(
                connection: connection, now: { Date().addingTimeInterval(ahead) }, comparingWith: apple),
            ages: RetentionJob.Ages(
                attempts: .seconds(10 * 86_400), answers: .seconds(20 * 86_400), deadLetters: .seconds(86_400)),
            newId: { UUID() }, now: now ?? { Self.now.addingTimeInterval(ahead) },
            liveness: Health(instant: { .now }).livenessProbe("retention job", limit: .seconds(1)),
            logger: History.logger)
    }

    /// One of each, from so many days ago.
    static func fill(_ connection: PostgresConnection, daysAgo days: Double) async throws {
        let then = now.addingTimeInterval(-days * day)
        let key = SubscriptionKey(environment: .production, originalTransactionId: "1")
        try await RecoveryAnswerStore(connection).record(
            [
                RecoveryAnswer(
                    key: key, bundleId: "a", before: UUID(), outcome: "answered", revision: "r", answeredAt: then)
            ],
            attempts: [
                RecordedAttempt(
                    notificationUUID: UUID(), environment: .production, bundleId: "a", attemptedAt: then,
                    result: "TIMED_OUT")
            ])
        _ = try await RejectedStore(connection).record([
            RejectedRow(
                cluster: "c", position: LogPosition(topic: "r", partition: 0, offset: Int64(days)), stage: "verifier",
                reason: "signature", message: "", rejectedAt: then)
        ])
    }

    static func deadLetters(_ connection: PostgresConnection) async throws -> [DeadLetterGroups.IndexedDeadLetter] {
        try await DeadLetterGroups(connection).deadLetters(.init(), limit: 10).deadLetters
    }

    @Test func `RetentionJob deletes what has expired, and keeps how far a history was read`() async throws {
        try await TestDatabase.connected { connection in
            for days in [0.5, 5, 15, 30] { try await Self.fill(connection, daysAgo: days) }
            try await Self.retentionJob(connection).turn()
            let key = SubscriptionKey(environment: .production, originalTransactionId: "1")
            let answers = RecoveryAnswerStore(connection)
            #expect(try await answers.answers(of: key).count == 3)
            #expect(try await answers.revision(of: key) == "r")
            let bars = try await SendAttemptStore(connection).histogram(from: .distantPast, to: .distantFuture)
            #expect(bars.map(\.attempts) == [2])
            #expect(try await Self.deadLetters(connection).map(\.offset) == [0])
        }
    }

    @Test func `RetentionJob deletes nothing by a clock that is ahead of the database's`() async throws {
        try await TestDatabase.connected { connection in
            try await Self.fill(connection, daysAgo: 0)
            await #expect(throws: ClockIsAhead.self) {
                try await Self.retentionJob(connection, ahead: 365 * Self.day).turn()
            }
            #expect(try await Self.deadLetters(connection).count == 1)
            // The lease is still free.
            try await Self.fill(connection, daysAgo: 30)
            try await Self.retentionJob(connection).turn()
            #expect(try await Self.deadLetters(connection).map(\.offset) == [0])
        }
    }

    @Test func `RetentionJob deletes nothing after a start before Apple's clock is known, or an hour is over`()
        async throws
    {
        try await TestDatabase.use { database in
            let connection = TestDatabase.connection(database)
            try await Self.fill(connection, daysAgo: 30)
            let elapsed = Mutex(Duration.zero)
            let time = { AppleTime(elapsed: { elapsed.withLock(\.self) }) }
            let (heard, silent) = (time(), time())
            for apple in [heard, silent] {
                await #expect(throws: AppleClockIsAwaited.self) {
                    try await Self.retentionJob(connection, apple: apple).turn()
                }
            }
            #expect(try await Self.deadLetters(connection).count == 1)
            heard.answered(Date(), after: .seconds(60))
            try await Self.retentionJob(connection, apple: heard).turn()
            #expect(try await Self.deadLetters(connection).isEmpty)
            // The lease is held for a day.
            try await connection.run(unsafeScript: "update lease set held_until = statement_timestamp()")
            try await Self.fill(connection, daysAgo: 30)
            elapsed.withLock { $0 = .seconds(3600) }
            try await Self.retentionJob(connection, apple: silent).turn()
            #expect(try await Self.deadLetters(connection).isEmpty)
            await connection.close()
        }
    }

    @Test func `RetentionJob deletes nothing by a clock that goes ahead in its turn`() async throws {
        try await TestDatabase.connected { connection in
            try await Self.fill(connection, daysAgo: 0)
            let reads = Mutex(0)
            let now: @Sendable () -> Date = {
                let read = reads.withLock { count in
                    count += 1
                    return count
                }
                return Self.now.addingTimeInterval(read == 1 ? 0 : 365 * Self.day)
            }
            try await Self.retentionJob(connection, now: now).turn()
            #expect(try await Self.deadLetters(connection).count == 1)
        }
    }

    @Test func `RetentionJob deletes the other kinds where one cannot be deleted, and that one later`() async throws {
        try await TestDatabase.connected { connection in
            let attempts = SendAttemptStore(connection)
            try await Self.fill(connection, daysAgo: 30)
            try await connection.run(
                unsafeScript: """
                    create function refuse_deletion() returns trigger language plpgsql as $$
                    begin raise exception 'it is rejected'; end $$;
                    create trigger refuse before delete on send_attempt for each statement
                    execute function refuse_deletion();
                    """)
            await #expect(throws: PostgresError.self) { try await Self.retentionJob(connection).turn() }
            #expect(try await Self.deadLetters(connection).isEmpty)
            #expect(try await attempts.histogram(from: .distantPast, to: .distantFuture).count == 1)
            try await connection.run(unsafeScript: "drop trigger refuse on send_attempt")
            try await Self.retentionJob(connection).turn()
            #expect(try await attempts.histogram(from: .distantPast, to: .distantFuture).isEmpty)
        }
    }

    /// As where a disk is so slow that no more rows are deleted within the time limit of a statement.
    @Test func `RetentionJob deletes fewer rows at a time where a statement reaches its time limit`() async throws {
        try await TestDatabase.connected { connection in
            for days in [0.5, 30, 31, 32] { try await Self.fill(connection, daysAgo: days) }
            try await connection.run(
                unsafeScript: """
                    create function cancel_deletion() returns trigger language plpgsql as $$
                    begin
                        if (select count(*) from gone) > 2 then
                            raise exception 'it takes too long' using errcode = 'query_canceled';
                        end if;
                        return null;
                    end $$;
                    create trigger cancel after delete on send_attempt referencing old table as gone for each statement
                    execute function cancel_deletion();
                    create trigger cancel after delete on recovery_answer referencing old table as gone for each statement
                    execute function cancel_deletion();
                    create trigger cancel after delete on rejected referencing old table as gone for each statement
                    execute function cancel_deletion();
                    """)
            try await Self.retentionJob(connection).turn()
            let bars = try await SendAttemptStore(connection).histogram(from: .distantPast, to: .distantFuture)
            #expect(bars.map(\.attempts) == [1])
            #expect(try await Self.deadLetters(connection).map(\.offset) == [0])
            let key = SubscriptionKey(environment: .production, originalTransactionId: "1")
            #expect(try await RecoveryAnswerStore(connection).answers(of: key).count == 1)
        }
    }

    @Test func `RetentionJob runs once a day in one of the processes`() async throws {
        try await TestDatabase.connected { connection in
            let attempts = SendAttemptStore(connection)
            try await Self.retentionJob(connection).turn()
            try await Self.fill(connection, daysAgo: 30)
            try await Self.retentionJob(connection).turn()
            #expect(try await attempts.histogram(from: .distantPast, to: .distantFuture).count == 1)
            try await connection.run(unsafeScript: "update lease set held_until = statement_timestamp()")
            try await Self.retentionJob(connection).turn()
            #expect(try await attempts.histogram(from: .distantPast, to: .distantFuture).isEmpty)
        }
    }
}
