import Postgres

import struct Foundation.Date
import struct Foundation.UUID

/// The months of the ledger: made ahead of time, dropped whole when they are over for long enough.
public struct RetentionStore: Sendable {
    /// A month of what notifications said.
    public struct Month: Sendable, Equatable {
        /// Of the partition, such as `notification_payload_2026_11`.
        public var name: String
        /// The moment after its last, UTC.
        public var endsAt: Date
        /// On disk, with its index.
        public var bytes: Int64
    }

    /// What a run did.
    public struct Report: Sendable, Equatable {
        /// Months for which there is a partition now, and was none.
        public var made: [String] = []
        /// Months that have no partition yet, because somebody held what making one needs. What comes in them is kept in
        /// the rest and moves when they are made.
        public var unmade: [String] = []
        /// Months that are gone.
        public var dropped: [Month] = []
        /// Months that should be gone and are there yet, because somebody reads the ledger. The next run tries again.
        public var left: [Month] = []
        /// Sightings that are gone.
        public var forgotten = 0
    }

    private let connection: PostgresConnection

    /// All statements run on this connection.
    public init(_ connection: PostgresConnection) { self.connection = connection }

    /// How many months ahead there is a partition.
    static let monthsAhead: Int64 = 2

    /// Makes the partitions of this month and the next ones, and drops the months and sightings that the policy does not
    /// keep. May be run again at any time.
    ///
    /// Nothing is tried twice: whoever waits for the lock on the ledger makes the line wait behind it. So what is held for
    /// two seconds, by a backup or a long report, is left for the next run, and with it what needs the same lock.
    /// - Throws: what the world did, after every step that does not depend on it.
    public func run(_ policy: RetentionPolicy, now: Date) async throws -> Report {
        var report = Report()
        var failure: (any Error)?
        do { report = try await prepare(now: now) } catch { failure = error }
        do {
            for month in try await expired(policy, now: now) { try await drop(month, &report) }
        } catch { failure = failure ?? error }
        report.forgotten = try await SeenNotificationStore(connection).forget(before: policy.oldestSeen(now: now))
        if let failure { throw failure }
        return report
    }

    /// Makes the partitions of this month, of the next ones, and of those that the rest holds something of. Leaves what is
    /// held, as ``run(_:now:)`` does.
    /// - Parameter portion: how many rows are copied out of the rest in one transaction.
    public func prepare(now: Date, portion: Int = 2000) async throws -> Report {
        var report = Report()
        let months = try await connection.execute(Self.missing, now, Self.monthsAhead).map { row in
            try row.value("month", as: String.self)
        }
        guard !months.isEmpty else { return report }
        // Beside the line, however much there is; what comes meanwhile the making takes.
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
            // A month that the function refuses is none of ours to drop: neither dropped nor left.
            if try await connection.execute(Self.drop, month.name)[0].value("is_done") { report.dropped.append(month) }
        }
        if !isDropped { report.left.append(month) }
    }

    /// False where somebody else held what `work` needs.
    private func isFree(_ work: () async throws -> Void) async throws -> Bool {
        do {
            try await work()
            return true
        } catch let error as PostgresError where error.meaning == .repeatable {
            return false
        }
    }

    /// The months that a run would drop.
    public func expired(_ policy: RetentionPolicy, now: Date) async throws -> [Month] {
        let end = now.addingTimeInterval(-Double(policy.ledgerDays) * 86_400)
        return try await months().filter { $0.endsAt <= end }
    }

    /// Every month there is, the oldest first.
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
                from notification_payload_rest
            ) as rest
            cross join lateral generate_series(date_trunc('month', first_at), last_at, interval '1 month') as month
            where exists (
                select
                from notification_payload_rest
                where recorded_at >= month at time zone 'UTC'
                    and recorded_at < (month + interval '1 month') at time zone 'UTC')
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

    static let months = Statement("retention-months", "select name, ends_at, bytes from payload_months()")

    static let drop = Statement("retention-drop", "select drop_payload_month($1::text) as is_done")
}
