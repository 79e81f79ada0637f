import Contracts
import Postgres

import struct Foundation.Date
import struct Foundation.UUID

/// A dead letter, without its bytes, which stay in the log.
public struct RejectedRow: Sendable, Equatable {
    /// The cluster the position belongs to.
    public var cluster: String
    /// Where the dead letter stands.
    public var position: LogPosition
    /// The stage that refused it.
    public var stage: String
    /// The stage's reason, as in the metrics.
    public var reason: String
    /// One sentence for people.
    public var message: String
    /// When it was refused.
    public var rejectedAt: Date

    /// What it claims of itself.
    public var claims: Claims

    /// What can be read in a dead letter. The source and the time of receipt are ours; anybody can write the rest.
    public struct Claims: Sendable, Hashable {
        /// How it came to us.
        public var source: NotificationSource?
        /// When we first held it.
        public var receivedAt: Date?
        /// The id it claims.
        public var notificationUUID: UUID?
        /// The environment it claims, raw.
        public var environment: String?
        /// The app it claims.
        public var bundleId: String?

        /// All fields.
        public init(
            source: NotificationSource? = nil, receivedAt: Date? = nil, notificationUUID: UUID? = nil,
            environment: String? = nil, bundleId: String? = nil
        ) {
            self.source = source
            self.receivedAt = receivedAt
            self.notificationUUID = notificationUUID
            self.environment = environment
            self.bundleId = bundleId
        }
    }

    /// All fields.
    public init(
        cluster: String, position: LogPosition, stage: String, reason: String, message: String, rejectedAt: Date,
        claims: Claims = Claims()
    ) {
        self.cluster = cluster
        self.position = position
        self.stage = stage
        self.reason = reason
        self.message = message
        self.rejectedAt = rejectedAt
        self.claims = claims
    }
}

/// Index of the dead letters.
public struct RejectedStore: Sendable {
    private let connection: PostgresConnection

    /// All statements run on this connection.
    public init(_ connection: PostgresConnection) { self.connection = connection }

    /// Adds dead letters; one that is known stays as it is.
    /// - Returns: how many were new.
    public func record(_ rows: [RejectedRow]) async throws -> Int {
        guard !rows.isEmpty else { return 0 }
        return try await repeating {
            try await connection.execute(
                Self.insert, rows.map(\.cluster), rows.map(\.position.topic), rows.map(\.position.partition),
                rows.map(\.position.offset), rows.map(\.stage), rows.map(\.reason), rows.map(\.message),
                rows.map(\.rejectedAt), rows.map(\.claims.receivedAt), rows.map(\.claims.notificationUUID),
                rows.map(\.claims.environment), rows.map(\.claims.bundleId), rows.map(\.claims.source?.rawValue)
            ).affected
        }
    }

    /// The latest ones, newest first.
    public func newest(_ limit: Int) async throws -> [RejectedRow] {
        try await connection.execute(Self.newest, Int64(limit)).map { row in
            RejectedRow(
                cluster: try row.value("cluster"),
                position: LogPosition(
                    topic: try row.value("topic"), partition: try row.value("log_partition"),
                    offset: try row.value("log_offset")),
                stage: try row.value("stage"), reason: try row.value("reason"), message: try row.value("message"),
                rejectedAt: try row.value("rejected_at"),
                claims: RejectedRow.Claims(
                    source: try row.optional("source").flatMap(NotificationSource.init),
                    receivedAt: try row.optional("received_at"),
                    notificationUUID: try row.optional("notification_uuid"),
                    environment: try row.optional("environment"), bundleId: try row.optional("bundle_id")))
        }
    }

    /// How many there are, by stage and reason.
    public func counts() async throws -> [(stage: String, reason: String, count: Int)] {
        try await connection.execute(Self.counts).map { row in
            (try row.value("stage"), try row.value("reason"), Int(try row.value("count", as: Int64.self)))
        }
    }

    /// Forgets dead letters that were refused before a time. Their bytes are in the log, as long as it keeps them.
    /// - Returns: how many.
    public func forget(refusedBefore time: Date) async throws -> Int {
        try await repeating { try await connection.execute(Self.forget, time).affected }
    }

    static let insert = Statement(
        "rejected-insert",
        """
        insert into rejected (
            cluster, topic, log_partition, log_offset, stage, reason, message, rejected_at, received_at,
            notification_uuid, environment, bundle_id, source)
        select cluster, topic, log_partition, log_offset, stage, reason, message, rejected_at, received_at,
            notification_uuid, environment, bundle_id, source
        from unnest(
            $1::text[], $2::text[], $3::integer[], $4::bigint[], $5::text[], $6::text[], $7::text[], $8::timestamptz[],
            $9::timestamptz[], $10::uuid[], $11::text[], $12::text[], $13::text[]
        ) as given (
            cluster, topic, log_partition, log_offset, stage, reason, message, rejected_at, received_at,
            notification_uuid, environment, bundle_id, source)
        order by cluster, topic, log_partition, log_offset
        on conflict do nothing
        """)

    static let newest = Statement(
        "rejected-newest",
        """
        select cluster, topic, log_partition, log_offset, stage, reason, message, rejected_at, received_at,
            notification_uuid, environment, bundle_id, source
        from rejected
        order by rejected_at desc, log_offset desc
        limit $1::bigint
        """)

    static let counts = Statement(
        "rejected-counts",
        """
        select stage, reason, count(*) as count
        from rejected
        group by stage, reason
        order by count desc, stage, reason
        """)

    static let forget = Statement("rejected-forget", "delete from rejected where rejected_at < $1::timestamptz")
}
