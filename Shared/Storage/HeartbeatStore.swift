import Contracts
import Postgres

/// Which minutes a receiver was alive.
public struct HeartbeatStore: Sendable {
    private let connection: PostgresConnection

    /// All statements run on this connection.
    public init(_ connection: PostgresConnection) { self.connection = connection }

    /// Keeps heartbeats; a later one of the same instance and minute replaces the earlier.
    public func record(_ heartbeats: [IngestHeartbeat]) async throws {
        struct Minute: Hashable {
            var instance: String
            var minute: Double
        }
        var latest: [Minute: IngestHeartbeat] = [:]
        for beat in heartbeats {
            latest[Minute(instance: beat.instance, minute: beat.minute.timeIntervalSince1970)] = beat
        }
        guard !latest.isEmpty else { return }
        let rows = Array(latest.values)
        _ = try await repeating {
            try await connection.execute(
                Self.upsert, rows.map(\.instance), rows.map(\.minute), rows.map(\.accepted),
                rows.map { $0.refused.values.reduce(0, +) })
        }
    }

    static let upsert = Statement(
        "heartbeat-upsert",
        """
        insert into ingest_heartbeat (instance, minute, accepted, refused)
        select instance, minute, accepted, refused
        from unnest($1::text[], $2::timestamptz[], $3::bigint[], $4::bigint[])
            as given (instance, minute, accepted, refused)
        order by instance, minute
        on conflict (instance, minute) do update
        set accepted = excluded.accepted, refused = excluded.refused
        """)
}
