import Postgres

/// Counts rows. Counting reads whole indexes, which takes a second at ten million notifications: do not call it per request.
public struct StatusStore: Sendable {
    private let connection: PostgresConnection

    /// All statements run on this connection.
    public init(_ connection: PostgresConnection) { self.connection = connection }

    /// Number of notifications in the ledger.
    public func notifications() async throws -> Int {
        Int(try await connection.execute(Self.count)[0].value("count", as: Int64.self))
    }

    /// Seconds from the webhook to the committed state of the notifications recorded last, newest first.
    public func latencies(ofLast limit: Int) async throws -> [Double] {
        try await connection.execute(Self.latencies, Int64(limit)).map { row in try row.value(at: 0) }
    }

    static let count = Statement("status-count", "select count(*) as count from notification")

    static let latencies = Statement(
        "status-latencies",
        """
        select extract(epoch from recorded_at - received_at)::double precision as seconds
        from notification
        order by recorded_at desc
        limit $1::bigint
        """)
}
