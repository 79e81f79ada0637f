import Postgres

import struct Foundation.Date

/// What somebody asks first when something seems wrong: figures that an index answers, so that they may be asked every
/// second of an incident.
public struct IncidentStore: Sendable {
    private let connection: PostgresConnection

    /// All statements run on this connection.
    public init(_ connection: PostgresConnection) { self.connection = connection }

    /// The newest notification, by the time we recorded it; nil while there is none.
    public func newest() async throws -> (receivedAt: Date, recordedAt: Date)? {
        try await connection.execute(Self.newest).first.map { row in
            (try row.value("received_at"), try row.value("recorded_at"))
        }
    }

    /// How many dead letters were indexed since a time, by stage and reason, the most frequent first.
    public func rejections(since: Date) async throws -> [(stage: String, reason: String, count: Int)] {
        try await connection.execute(Self.rejections, since).map { row in
            (try row.value("stage"), try row.value("reason"), Int(try row.value("count", as: Int64.self)))
        }
    }

    /// A receiver's heartbeats since a time.
    public struct Receiver: Sendable, Equatable {
        /// Its name.
        public var instance: String
        /// Start of the minute it told of last.
        public var lastMinute: Date
        /// Requests answered 200 since the time asked for.
        public var accepted: Int64
        /// Requests answered otherwise since the time asked for.
        public var refused: Int64
    }

    /// Every receiver that gave a sign since a time, by name.
    public func receivers(since: Date) async throws -> [Receiver] {
        try await connection.execute(Self.receivers, since).map { row in
            Receiver(
                instance: try row.value("instance"), lastMinute: try row.value("last_minute"),
                accepted: try row.value("accepted"), refused: try row.value("refused"))
        }
    }

    /// Since when the line can have worked: its last `setup`, or its first notification if that is later. Nil where a
    /// receiver has ever told of a minute.
    public func beginning() async throws -> Date? {
        try await connection.execute(Self.beginning).first.flatMap { try $0.optional("beginning") }
    }

    static let newest = Statement(
        "incident-newest", "select received_at, recorded_at from notification order by recorded_at desc limit 1")

    static let beginning = Statement(
        "incident-beginning",
        """
        select greatest(
                (select max(applied_at) from schema_migration),
                (select recorded_at from notification order by recorded_at limit 1)) as beginning
        where not exists (select from ingest_heartbeat)
        """)

    static let rejections = Statement(
        "incident-rejections",
        """
        select stage, reason, count(*) as count
        from rejected
        where rejected_at >= $1::timestamptz
        group by stage, reason
        order by count desc, stage, reason
        """)

    static let receivers = Statement(
        "incident-receivers",
        """
        select instance, max(minute) as last_minute, sum(accepted)::bigint as accepted, sum(refused)::bigint as refused
        from ingest_heartbeat
        where minute >= $1::timestamptz
        group by instance
        order by instance
        """)
}
