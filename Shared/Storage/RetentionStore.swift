import Postgres

import struct Foundation.Date

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

    /// What a run did, or would do.
    public struct Report: Sendable, Equatable {
        /// Months for which there is a partition now, and was none.
        public var made: [String] = []
        /// Months that are gone.
        public var dropped: [Month] = []
        /// Sightings that are gone.
        public var forgotten = 0
    }

    private let connection: PostgresConnection

    /// All statements run on this connection.
    public init(_ connection: PostgresConnection) { self.connection = connection }

    /// How many months ahead there is a partition.
    static let monthsAhead: Int64 = 2

    /// Makes the partitions of this month and the next ones, and drops the months and sightings that the policy does not
    /// keep. Gives up after two seconds where the line holds what it needs, and may be run again at any time.
    public func run(_ policy: RetentionPolicy, now: Date) async throws -> Report {
        var report = Report(made: try await prepare(now: now))
        for month in try await expired(policy, now: now) {
            let isDropped = try await repeating {
                try await connection.execute(Self.drop, month.name)[0].value("is_done", as: Bool.self)
            }
            if isDropped { report.dropped.append(month) }
        }
        let oldest = now.addingTimeInterval(-Double(policy.sightingDays) * 86_400)
        report.forgotten = try await SightingStore(connection).forget(before: oldest)
        return report
    }

    /// Makes the partitions of this month and the next ones.
    /// - Returns: the months that had none.
    public func prepare(now: Date) async throws -> [String] {
        try await repeating {
            try await connection.execute(Self.make, now, Self.monthsAhead).map { row in try row.value("month") }
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

    static let make = Statement(
        "retention-make",
        """
        select to_char(month, 'YYYY-MM') as month
        from generate_series(0, $2::bigint) as ahead
        cross join lateral (
            select (date_trunc('month', $1::timestamptz at time zone 'UTC') + ahead * interval '1 month')::date
        ) as given (month)
        where make_payload_month(month)
        order by month
        """)

    static let months = Statement("retention-months", "select name, ends_at, bytes from payload_months()")

    static let drop = Statement("retention-drop", "select drop_payload_month($1::text) as is_done")
}
