import Contracts
import Postgres
import Records

import struct Foundation.Date
import struct Foundation.UUID

/// A row of the dead-letter index; the bytes stay in Kafka.
public struct RejectedRow: Sendable, Equatable {
    /// Kafka's id of the cluster.
    public var cluster: String
    /// The position of the dead letter in its topic.
    public var position: LogPosition
    /// The stage that rejected the record.
    public var stage: String
    /// The stage's reason, spelled as in the metrics.
    public var reason: String
    /// One sentence for operators.
    public var message: String
    /// When the stage rejected the record.
    public var rejectedAt: Date
    /// The release that rejected it; nil where it was indexed before this was kept.
    public var build: String?

    /// The unverified fields of the payload.
    public var claims: Claims

    /// Fields read from a dead letter. Ingest sets the source and the time of receipt; the other fields are unverified, because
    /// any client can post them.
    public struct Claims: Sendable, Hashable {
        /// How the record arrived.
        public var source: NotificationSource?
        /// When ingest received it.
        public var receivedAt: Date?
        /// The `notificationUUID` in the payload.
        public var notificationUUID: UUID?
        /// The environment in the payload, raw.
        public var environment: String?
        /// The bundle identifier in the payload.
        public var bundleId: String?

        package init(
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

    package init(
        cluster: String, position: LogPosition, stage: String, reason: String, message: String, rejectedAt: Date,
        build: String? = nil, claims: Claims = Claims()
    ) {
        self.build = build
        self.cluster = cluster
        self.position = position
        self.stage = stage
        self.reason = reason
        self.message = message
        self.rejectedAt = rejectedAt
        self.claims = claims
    }
}

/// The index of dead letters.
public struct RejectedStore: Sendable {
    private let connection: PostgresConnection

    /// All statements run on this connection.
    public init(_ connection: PostgresConnection) { self.connection = connection }

    /// Adds dead letters; rows that exist are not changed. One at the same offset with another time is another one: its topic was
    /// deleted and created again, and only the index still knows it.
    /// - Returns: number of new rows.
    public func record(_ rows: [RejectedRow]) async throws -> Int {
        guard !rows.isEmpty else { return 0 }
        return try await repeating {
            try await connection.execute(
                Self.insert, rows.map(\.cluster), rows.map(\.position.topic), rows.map(\.position.partition),
                rows.map(\.position.offset), rows.map(\.stage), rows.map(\.reason), rows.map(\.message),
                rows.map(\.rejectedAt), rows.map(\.claims.receivedAt), rows.map(\.claims.notificationUUID),
                rows.map(\.claims.environment), rows.map(\.claims.bundleId), rows.map(\.claims.source?.rawValue),
                rows.map(\.build)
            ).affected
        }
    }

    /// Deletes rows of dead letters that were rejected before a time. Kafka keeps their bytes for the topic's retention.
    /// - Returns: number of rows.
    public func delete(rejectedBefore time: Date) async throws -> Int {
        try await deletingInPortions { try await connection.execute(Self.delete, time, $0).affected }
    }

    static let insert = Statement(
        "rejected-insert",
        """
        insert into rejected (
            cluster, topic, kafka_partition, kafka_offset, stage, reason, message, rejected_at, received_at,
            notification_uuid, environment, bundle_id, source, build)
        select cluster, topic, kafka_partition, kafka_offset, stage, reason, message, rejected_at, received_at,
            notification_uuid, environment, bundle_id, source, build
        from unnest(
            $1::text[], $2::text[], $3::integer[], $4::bigint[], $5::text[], $6::text[], $7::text[], $8::timestamptz[],
            $9::timestamptz[], $10::uuid[], $11::text[], $12::text[], $13::text[], $14::text[]
        ) as given (
            cluster, topic, kafka_partition, kafka_offset, stage, reason, message, rejected_at, received_at,
            notification_uuid, environment, bundle_id, source, build)
        order by cluster, topic, kafka_partition, kafka_offset, rejected_at
        on conflict do nothing
        """)

    static let delete = Statement(
        "rejected-delete",
        """
        delete from rejected
        where ctid = any (array(
                select ctid from rejected where rejected_at < $1::timestamptz order by rejected_at limit $2::bigint))
            and rejected_at < $1::timestamptz
        """)
}
