import Postgres

import struct Foundation.Date
import struct Foundation.UUID

/// The monthly partitions of the payloads: created ahead of time, and dropped when they are old enough.
public struct RetentionStore: Sendable {
    /// One monthly partition of the payloads.
    public struct Month: Sendable, Equatable {
        /// The name of the partition, such as `notification_payload_2026_11`.
        public var name: String
        /// The first moment of the next month, UTC.
        public var endsAt: Date
        /// Bytes on disk, with its index.
        public var bytes: Int64
    }

    /// The changes of one run.
    public struct Report: Sendable, Equatable {
        /// Months whose partition was created.
        public var made: [String] = []
        /// Months without a partition, because another transaction held the lock. Their payloads are in the default
        /// partition and move when the month is created.
        public var unmade: [String] = []
        /// Months whose partition was dropped.
        public var dropped: [Month] = []
        /// Expired months whose partition was not dropped, because another transaction held the lock. The next run retries.
        public var left: [Month] = []
        /// Number of seen notifications that were deleted.
        public var deletedSeenNotifications = 0
    }

    private let connection: PostgresConnection

    /// All statements run on this connection.
    public init(_ connection: PostgresConnection) { self.connection = connection }

    /// Number of months ahead for which a partition is created.
    static let monthsAhead: Int64 = 2

    /// Creates the partitions of this month and the next ones, drops expired months and deletes expired seen notifications.
    /// Idempotent.
    ///
    /// Each lock is tried once, because the pipeline waits behind a transaction that waits for a lock on the ledger. Work
    /// whose lock another transaction, such as a backup or a long report, holds for two seconds is left for the next run.
    /// - Throws: the error of the database, after all work that does not depend on the failed part.
    public func run(_ policy: RetentionPolicy, now: Date) async throws -> Report {
        var report = Report()
        var failure: (any Error)?
        do { report = try await prepare(now: now) } catch { failure = error }
        do {
            for month in try await expired(policy, now: now) { try await drop(month, &report) }
        } catch { failure = failure ?? error }
        report.deletedSeenNotifications = try await SeenNotificationStore(connection).delete(
            before: policy.oldestSeen(now: now))
        if let failure { throw failure }
        return report
    }

    /// Creates the partitions of this month, of the next ones, of the months with rows in the default partition, and of those whose
    /// creation a run before did not complete. Leaves
    /// partitions whose lock is held to the next run, as ``run(_:now:)`` does.
    /// - Parameter portion: number of rows that one transaction copies from the default partition.
    public func prepare(now: Date, portion: Int = 2000) async throws -> Report {
        var report = Report()
        let months = try await connection.execute(Self.missing, now, Self.monthsAhead).map { row in
            try row.value("month", as: String.self)
        }
        guard !months.isEmpty else { return report }
        // Copied without blocking the pipeline; the rows that arrive meanwhile move when the partition is attached.
        for month in months { try await copy(month, portion) }
        if try await isFree({ _ = try await connection.execute(Self.make, months) }) {
            report.made = months
        } else {
            report.unmade = months
        }
        return report
    }

    private func copy(_ month: String, _ portion: Int) async throws {
        var place = (at: Date.distantPast, uuid: UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)))
        while true {
            try Task.checkCancellation()
            let last = try await connection.execute(Self.copy, month, place.at, place.uuid, Int64(portion)).first
            guard let last else { return }
            place = (try last.value("last_at"), try last.value("last_uuid"))
        }
    }

    private func drop(_ month: Month, _ report: inout Report) async throws {
        guard report.left.isEmpty else { return report.left.append(month) }
        let isDropped = try await isFree {
            // The function rejected to drop the month: it counts neither as dropped nor as left.
            if try await connection.execute(Self.drop, month.name)[0].value("is_done") { report.dropped.append(month) }
        }
        if !isDropped { report.left.append(month) }
    }

    /// - Returns: false where another transaction held a lock that `work` needs.
    private func isFree(_ work: () async throws -> Void) async throws -> Bool {
        do {
            try await work()
            return true
        } catch let error as PostgresError where error.meaning == .repeatable {
            return false
        }
    }

    /// The months that ``run(_:now:)`` would drop.
    public func expired(_ policy: RetentionPolicy, now: Date) async throws -> [Month] {
        let end = now.addingTimeInterval(-Double(policy.ledgerDays) * 86_400)
        return try await months().filter { $0.endsAt <= end }
    }

    /// All months with a partition, the oldest first.
    public func months() async throws -> [Month] {
        try await connection.execute(Self.months).map { row in
            Month(name: try row.value("name"), endsAt: try row.value("ends_at"), bytes: try row.value("bytes"))
        }
    }

    static let missing = Statement(
        "retention-missing",
        """
        select to_char(month, 'YYYY-MM') as month
        from (
            select date_trunc('month', $1::timestamptz at time zone 'UTC') + ahead * interval '1 month' as month
            from generate_series(0, $2::bigint) as ahead
            union
            select month
            from (
                select min(recorded_at) at time zone 'UTC' as first_at, max(recorded_at) at time zone 'UTC' as last_at
                from notification_payload_default
            ) as rest
            cross join lateral generate_series(date_trunc('month', first_at), last_at, interval '1 month') as month
            where exists (
                select
                from notification_payload_default
                where recorded_at >= month at time zone 'UTC'
                    and recorded_at < (month + interval '1 month') at time zone 'UTC')
            union
            -- Copied into and not attached: what was deleted from the default partition since is in the copy yet.
            select to_date(right(copy.relname, 7), 'YYYY_MM')
            from pg_class copy
            join pg_constraint on conrelid = copy.oid and conname = 'is_of_month'
            where copy.relnamespace = current_schema()::regnamespace and not copy.relispartition
                and copy.relname ~ '^notification_payload_[0-9]{4}_[0-9]{2}$'
        ) as wanted
        where not exists (
            select
            from pg_inherits
            where inhparent = 'notification_payload'::regclass
                and inhrelid = to_regclass('notification_payload_' || to_char(month, 'YYYY_MM')))
        order by month
        """)

    static let copy = Statement(
        "retention-copy",
        """
        select last_at, last_uuid
        from copy_payload_rest(to_date($1::text, 'YYYY-MM'), $2::timestamptz, $3::uuid, $4::bigint)
        """)

    static let make = Statement(
        "retention-make",
        """
        select make_payload_months(array(select to_date(month, 'YYYY-MM') from unnest($1::text[]) as month))
        """)

    /// A month that is dropped meanwhile has no size.
    static let months = Statement(
        "retention-months", "select name, ends_at, bytes from payload_months() where bytes is not null")

    static let drop = Statement("retention-drop", "select drop_payload_month($1::text) as is_done")
}
