import Contracts
import Postgres
import Records

import struct Foundation.Date
import struct Foundation.UUID

/// A notification with the position of the record that delivered it.
public struct SeenNotification: Sendable, Equatable {
    /// Apple's id of the notification; the same in every delivery of it.
    public var notificationUUID: UUID
    /// Topic, partition and offset of its record.
    public var position: LogPosition
    /// When the deduplicator read the record, by the clock of its process.
    public var seenAt: Date
    /// Whether recovery or an operator sent the record again: it takes the notification over from the earlier record.
    public var isRedelivery: Bool
    /// A digest of the content; nil where it is not compared. Other content under the same uuid is no copy: it passes, so that
    /// the ledger flags it.
    public var content: Int64?

    /// Creates the value from a record's position and content.
    public init(
        notificationUUID: UUID, position: LogPosition, seenAt: Date, isRedelivery: Bool, content: Int64? = nil
    ) {
        self.notificationUUID = notificationUUID
        self.position = position
        self.seenAt = seenAt
        self.isRedelivery = isRedelivery
        self.content = content
    }
}

/// The deduplicator's filter: which record delivered a notification first.
public struct SeenNotificationStore: Sendable {
    private let connection: PostgresConnection

    /// All statements run on this connection.
    public init(_ connection: PostgresConnection) { self.connection = connection }

    /// Marks notifications as seen by the positions of their records.
    ///
    /// Idempotent: the record that was first passes again, in any process, so that a crash afterwards loses nothing; copies
    /// of it never pass.
    /// - Returns: for each notification, whether it passes: its record is the first, or its content differs from the first.
    public func markSeen(_ notifications: [SeenNotification]) async throws -> [Bool] {
        guard !notifications.isEmpty else { return [] }
        let claims = Self.claims(of: notifications)
        let owners = try await repeating {
            try await connection.pipeline([
                Command(
                    Self.claimFirst, claims.map(\.notificationUUID), claims.map(\.position.topic),
                    claims.map(\.position.partition), claims.map(\.position.offset), claims.map(\.seenAt),
                    claims.filter(\.isRedelivery).map(\.notificationUUID), claims.map(\.content)),
                // A second statement, because only a later one sees rows that others committed while the first waited.
                Command(Self.owners, claims.map(\.notificationUUID)),
            ])[1]
        }
        var owner: [UUID: (position: LogPosition, content: Int64?)] = [:]
        for row in owners {
            let position = LogPosition(
                topic: try row.value("topic"), partition: try row.value("kafka_partition"),
                offset: try row.value("kafka_offset"))
            owner[try row.value("notification_uuid")] = (position, try row.optional("content"))
        }
        return notifications.map { notification in
            guard let owner = owner[notification.notificationUUID] else { return false }
            if owner.position == notification.position { return true }
            guard let known = owner.content, let content = notification.content else { return false }
            return known != content
        }
    }

    /// Deletes notifications first seen before a time. The ledger's key drops later copies.
    ///
    /// Deletes the oldest first, in batches of one transaction each, so that no statement reaches its timeout, no row stays
    /// locked for long, and an error does not undo earlier batches.
    /// - Parameter portion: number of rows per transaction.
    /// - Returns: number of rows.
    public func delete(before time: Date, portion: Int = 20_000) async throws -> Int {
        try await deletingInPortions(of: portion) { try await connection.execute(Self.delete, time, $0).affected }
    }

    /// Number of rows that ``delete(before:portion:)`` would delete, counted by the index up to a limit.
    public func count(before time: Date, limit: Int = 1_000_000) async throws -> Int {
        Int(try await connection.execute(Self.countBefore, time, Int64(limit))[0].value("count", as: Int64.self))
    }

    /// One record per notification: the last redelivery, else the first record.
    private static func claims(of notifications: [SeenNotification]) -> [SeenNotification] {
        var claims: [UUID: SeenNotification] = [:]
        for notification in notifications
        where notification.isRedelivery || claims[notification.notificationUUID] == nil {
            claims[notification.notificationUUID] = notification
        }
        return Array(claims.values)
    }

    /// Sorted, so that two workers lock the same rows in the same order.
    static let claimFirst = Statement(
        "seen-notification-claim",
        """
        insert into seen_notification (notification_uuid, topic, kafka_partition, kafka_offset, seen_at, content)
        select notification_uuid, topic, kafka_partition, kafka_offset, seen_at, content
        from unnest($1::uuid[], $2::text[], $3::integer[], $4::bigint[], $5::timestamptz[], $7::bigint[])
            as given (notification_uuid, topic, kafka_partition, kafka_offset, seen_at, content)
        order by notification_uuid
        on conflict (notification_uuid) do update
        set topic = excluded.topic, kafka_partition = excluded.kafka_partition, kafka_offset = excluded.kafka_offset,
            seen_at = excluded.seen_at, content = excluded.content
        where seen_notification.notification_uuid = any ($6::uuid[])
        """)

    static let owners = Statement(
        "seen-notification-owners",
        """
        select notification_uuid, topic, kafka_partition, kafka_offset, content
        from seen_notification
        where notification_uuid = any ($1::uuid[])
        """)

    static let countBefore = Statement(
        "seen-notification-count-before",
        """
        select count(*) as count
        from (select from seen_notification where seen_at < $1::timestamptz order by seen_at limit $2::bigint) as oldest
        """)

    /// Compares the time again, because a redelivery may take a row over between the search and the deletion.
    static let delete = Statement(
        "seen-notification-delete",
        """
        delete from seen_notification
        where ctid = any (array(
                select ctid from seen_notification where seen_at < $1::timestamptz order by seen_at limit $2::bigint))
            and seen_at < $1::timestamptz
        """)
}
