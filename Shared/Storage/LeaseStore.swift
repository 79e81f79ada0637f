import Postgres

import struct Foundation.UUID

/// Work that one process at a time does. A row with an end, not a lock of a session, so that it works behind a pooler and
/// a process that hangs is replaced.
///
/// Nothing may depend on a lease for its correctness: who held it may wake up after its end and go on for a moment.
public struct LeaseStore: Sendable {
    private let connection: PostgresConnection

    /// All statements run on this connection.
    public init(_ connection: PostgresConnection) { self.connection = connection }

    /// Takes the lease or keeps it, by the clock of the database.
    /// - Returns: false where another one has it.
    public func take(_ name: String, for holder: UUID, seconds: Int64) async throws -> Bool {
        try await repeating { try await connection.execute(Self.take, name, holder, seconds).affected == 1 }
    }

    /// Gives the lease up, if it is the holder's.
    public func give(_ name: String, of holder: UUID) async throws {
        _ = try await connection.execute(Self.give, name, holder)
    }

    static let take = Statement(
        "lease-take",
        """
        insert into lease (name, holder, held_until)
        values ($1::text, $2::uuid, statement_timestamp() + $3::bigint * interval '1 second')
        on conflict (name) do update
        set holder = excluded.holder, held_until = excluded.held_until
        where lease.holder = excluded.holder or lease.held_until <= statement_timestamp()
        """)

    static let give = Statement(
        "lease-give", "delete from lease where name = $1::text and holder = $2::uuid")
}
