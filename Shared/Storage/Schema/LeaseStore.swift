import Postgres

import struct Foundation.UUID

/// Leases for jobs that one process at a time runs. A lease is a row with an end and no lock of a session, so that it works
/// behind a connection pooler and another process takes over from one that hangs.
///
/// No job may depend on a lease for its correctness: its holder may be suspended past the end of the lease and then continue.
public struct LeaseStore: Sendable {
    private let connection: PostgresConnection

    /// All statements run on this connection.
    public init(_ connection: PostgresConnection) { self.connection = connection }

    /// Acquires or extends the lease, by the clock of the database.
    /// - Returns: false where another holder has it.
    public func acquire(_ name: String, for holder: UUID, seconds: Int64) async throws -> Bool {
        try await repeating { try await connection.execute(Self.acquire, name, holder, seconds).affected == 1 }
    }

    /// Releases the lease; does nothing where another holder has it.
    public func release(_ name: String, of holder: UUID) async throws {
        _ = try await connection.execute(Self.release, name, holder)
    }

    /// An end that is further ahead than any lease is from before the database's clock was set back.
    static let acquire = Statement(
        "lease-acquire",
        """
        insert into lease (name, holder, held_until)
        values ($1::text, $2::uuid, statement_timestamp() + $3::bigint * interval '1 second')
        on conflict (name) do update
        set holder = excluded.holder, held_until = excluded.held_until
        where lease.holder = excluded.holder or lease.held_until <= statement_timestamp()
            or lease.held_until > excluded.held_until + interval '2 hours'
        """)

    static let release = Statement(
        "lease-release", "delete from lease where name = $1::text and holder = $2::uuid")
}
