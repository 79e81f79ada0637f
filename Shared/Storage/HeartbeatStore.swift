import Contracts
import Postgres

import struct Foundation.Date

/// Which minutes a receiver was alive, and what it answered.
///
/// A row a minute for each receiver. They are read from where an app's coverage is planned until, minutes ago as a rule, so
/// the scheduler keeps them for a fixed time and no setting: forgotten too early they make a silence of what was none, which
/// costs a question about that time and hides nothing.
public struct HeartbeatStore: Sendable {
    private let connection: PostgresConnection

    /// All statements run on this connection.
    public init(_ connection: PostgresConnection) { self.connection = connection }

    /// A minute in which at least one receiver was alive.
    public struct Minute: Sendable, Hashable {
        /// Its first moment.
        public var start: Date
        /// Answers of 500 and above, of all receivers: Apple sends those again.
        public var unavailable: Int64

        /// All fields.
        public init(start: Date, unavailable: Int64 = 0) {
            self.start = start
            self.unavailable = unavailable
        }
    }

    /// Keeps heartbeats; a later one of the same instance and minute replaces the earlier.
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
                rows.map { $0.refused.values.reduce(0, +) },
                rows.map { $0.refused.filter { $0.key >= 500 }.values.reduce(0, +) })
        }
    }

    /// The minutes with a heartbeat, from a time on, oldest first.
    public func minutes(from time: Date, limit: Int = 50_000) async throws -> [Minute] {
        try await connection.execute(Self.minutes, time, Int64(limit)).map { row in
            Minute(start: try row.value("minute"), unavailable: try row.value("unavailable"))
        }
    }

    /// Forgets heartbeats of before a time.
    public func forget(before time: Date) async throws -> Int {
        try await repeating { try await connection.execute(Self.forget, time).affected }
    }

    static let statements = [upsert, minutes, forget]

    static let upsert = Statement(
        "heartbeat-upsert",
        """
        insert into ingest_heartbeat (instance, minute, accepted, refused, unavailable)
        select instance, minute, accepted, refused, unavailable
        from unnest($1::text[], $2::timestamptz[], $3::bigint[], $4::bigint[], $5::bigint[])
            as given (instance, minute, accepted, refused, unavailable)
        order by instance, minute
        on conflict (instance, minute) do update
        set accepted = excluded.accepted, refused = excluded.refused, unavailable = excluded.unavailable
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

    static let forget = Statement("heartbeat-forget", "delete from ingest_heartbeat where minute < $1::timestamptz")
}
