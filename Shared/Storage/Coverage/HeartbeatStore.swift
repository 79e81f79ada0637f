import Contracts
import Postgres

import struct Foundation.Date

/// The minutes in which receivers were alive, and the answers that they sent.
///
/// One row a minute for each receiver. The scheduler reads them from the end of an app's planned coverage, usually minutes
/// ago, so it keeps them for a fixed time without a setting. Deleting them too early would look like an outage, which costs a
/// request for that time and hides nothing.
public struct HeartbeatStore: Sendable {
    private let connection: PostgresConnection

    /// All statements run on this connection.
    public init(_ connection: PostgresConnection) { self.connection = connection }

    /// A minute in which at least one receiver was alive.
    public struct Minute: Sendable, Hashable {
        /// The first moment of the minute.
        public var start: Date
        /// Number of answers of 500 and above from all receivers; Apple retries those notifications.
        public var unavailable: Int64

        package init(start: Date, unavailable: Int64 = 0) {
            self.start = start
            self.unavailable = unavailable
        }
    }

    /// Stores heartbeats; a later one of the same instance and minute replaces the earlier.
    public func record(_ heartbeats: [IngestHeartbeat]) async throws {
        struct Key: Hashable {
            var instance: String
            var minute: Double
        }
        var latest: [Key: IngestHeartbeat] = [:]
        for beat in heartbeats {
            latest[Key(instance: beat.instance, minute: beat.minute.timeIntervalSince1970)] = beat
        }
        guard !latest.isEmpty else { return }
        let rows = Array(latest.values)
        _ = try await repeating {
            try await connection.execute(
                Self.upsert, rows.map(\.instance), rows.map(\.minute), rows.map(\.accepted),
                rows.map { $0.rejected.values.reduce(0, +) },
                rows.map { $0.rejected.filter { $0.key >= 500 }.values.reduce(0, +) }, rows.map(\.isLast))
        }
    }

    /// The minutes with a heartbeat, from a time on, oldest first.
    public func minutes(from time: Date, limit: Int = 50_000) async throws -> [Minute] {
        try await connection.execute(Self.minutes, time, Int64(limit)).map { row in
            Minute(start: try row.value("minute"), unavailable: try row.value("unavailable"))
        }
    }

    /// Deletes heartbeats before a time.
    /// - Returns: number of rows.
    public func delete(before time: Date) async throws -> Int {
        try await deletingInPortions { try await connection.execute(Self.delete, time, $0).affected }
    }

    static let statements = [upsert, minutes, delete]

    static let upsert = Statement(
        "heartbeat-upsert",
        """
        insert into ingest_heartbeat (instance, minute, accepted, rejected, unavailable, is_last)
        select instance, minute, accepted, rejected, unavailable, is_last
        from unnest($1::text[], $2::timestamptz[], $3::bigint[], $4::bigint[], $5::bigint[], $6::boolean[])
            as given (instance, minute, accepted, rejected, unavailable, is_last)
        order by instance, minute
        on conflict (instance, minute) do update
        set accepted = excluded.accepted, rejected = excluded.rejected, unavailable = excluded.unavailable,
            is_last = excluded.is_last
        """)

    static let minutes = Statement(
        "heartbeat-minutes",
        """
        select minute, sum(unavailable)::bigint as unavailable
        from ingest_heartbeat
        where minute >= $1::timestamptz
        group by minute
        order by minute
        limit $2::bigint
        """)

    static let delete = Statement(
        "heartbeat-delete",
        """
        delete from ingest_heartbeat
        where ctid = any (array(
                select ctid from ingest_heartbeat where minute < $1::timestamptz order by minute limit $2::bigint))
            and minute < $1::timestamptz
        """)
}
