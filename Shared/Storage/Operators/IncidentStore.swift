import Contracts
import Postgres

import struct Foundation.Date

/// Figures for the first minutes of an incident. They are read by index, so that they may be read every second.
public struct IncidentStore: Sendable {
    private let connection: PostgresConnection

    /// All statements run on this connection.
    public init(_ connection: PostgresConnection) { self.connection = connection }

    /// The notification recorded last; nil for an empty ledger.
    public func newest() async throws -> (receivedAt: Date, recordedAt: Date)? {
        try await connection.execute(Self.newest).first.map { row in
            (try row.value("received_at"), try row.value("recorded_at"))
        }
    }

    /// Dead letters of one stage and reason.
    public struct Rejections: Sendable, Equatable {
        /// The stage that rejected them.
        public var stage: String
        /// Why.
        public var reason: String
        /// Number since the given time.
        public var count: Int
        /// Number of them in the last ten minutes.
        public var recent: Int
    }

    /// Number of dead letters indexed since a time that are open, neither replayed nor dismissed, by stage and reason, the most frequent first.
    /// - Parameter now: the end of the last ten minutes.
    public func rejections(since: Date, now: Date) async throws -> [Rejections] {
        try await connection.execute(Self.rejections, since, now.addingTimeInterval(-600)).map { row in
            Rejections(
                stage: try row.value("stage"), reason: try row.value("reason"),
                count: Int(try row.value("count", as: Int64.self)),
                recent: Int(try row.value("recent", as: Int64.self)))
        }
    }

    /// A receiver's heartbeats since a time.
    public struct Receiver: Sendable, Equatable {
        /// The instance of ingest.
        public var instance: String
        /// Start of the minute of its last heartbeat.
        public var lastMinute: Date
        /// Number of requests answered 200 since the given time.
        public var accepted: Int64
        /// Number of requests answered otherwise since the given time.
        public var rejected: Int64
        /// Number of requests answered 500 or above since the given time.
        public var unavailable: Int64
        /// Start of the last minute with such an answer.
        public var lastUnavailable: Date?
        /// It was stopped in order.
        package var isStopped: Bool
    }

    /// Every receiver with a heartbeat since a time, by name.
    public func receivers(since: Date) async throws -> [Receiver] {
        try await connection.execute(Self.receivers, since).map { row in
            Receiver(
                instance: try row.value("instance"), lastMinute: try row.value("last_minute"),
                accepted: try row.value("accepted"), rejected: try row.value("rejected"),
                unavailable: try row.value("unavailable"), lastUnavailable: try row.optional("last_unavailable"),
                isStopped: try row.value("is_stopped"))
        }
    }

    /// The notifications of version 1 of one app: they have no signature and change no state.
    public struct Version1: Sendable, Equatable {
        /// The app that they name.
        public var bundleId: String
        /// The environment that they name.
        public var environment: StoreEnvironment
        /// Number since the given time.
        public var count: Int64
        /// When the last one was recorded.
        public var last: Date
    }

    /// The notifications of version 1 recorded since a time, by app and environment.
    public func version1(since: Date) async throws -> [Version1] {
        try await connection.execute(Self.version1, since).map { row in
            Version1(
                bundleId: try row.value("bundle_id"),
                environment: try StoreEnvironment(stored: try row.value("environment")),
                count: try row.value("count"), last: try row.value("last"))
        }
    }

    /// The earliest time at which the pipeline can have worked: the last `setup`, or the first notification if that is
    /// later. Nil where a receiver has ever sent a heartbeat.
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
        unsafeSQL: """
            select stage, reason, count(*) as count, count(*) filter (where rejected_at >= $2::timestamptz) as recent
            from rejected
            where rejected_at >= $1::timestamptz
                and not exists (
                    select from operator_action
                    where acted_at >= $1::timestamptz and \(DeadLetterGroups.isAboutDeadLetter))
            group by stage, reason
            order by count desc, stage, reason
            """)

    /// Reads notification_of_version1, which has almost no rows.
    static let version1 = Statement(
        "incident-version1",
        """
        select bundle_id, environment::text as environment, count(*) as count, max(recorded_at) as last
        from notification
        where notification_type = 'V1' and recorded_at >= $1::timestamptz
        group by bundle_id, environment
        order by bundle_id, environment
        """)

    static let receivers = Statement(
        "incident-receivers",
        """
        select instance, max(minute) as last_minute, sum(accepted)::bigint as accepted, sum(rejected)::bigint as rejected,
            sum(unavailable)::bigint as unavailable, max(minute) filter (where unavailable > 0) as last_unavailable,
            bool_or(is_last) as is_stopped
        from ingest_heartbeat
        where minute >= $1::timestamptz
        group by instance
        order by instance
        """)
}
