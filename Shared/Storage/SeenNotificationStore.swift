import Contracts
import Postgres

import struct Foundation.Date
import struct Foundation.UUID

/// A notification seen at a place in the log.
public struct SeenNotification: Sendable, Equatable {
    /// Apple's id; the same in every repetition.
    public var notificationUUID: UUID
    /// Where its record stands in the log.
    public var position: LogPosition
    /// By our clock.
    public var seenAt: Date
    /// Recovery or an operator put the record back: it takes the notification over from whoever has it.
    public var isRedelivery: Bool
    /// A digest of what it says; nil where nobody asks. Apple gives no uuid twice, so one that says something else is no
    /// copy: it passes, for the ledger to flag.
    public var content: Int64?

    /// All fields.
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

/// Who saw a notification first.
public struct SeenNotificationStore: Sendable {
    private let connection: PostgresConnection

    /// All statements run on this connection.
    public init(_ connection: PostgresConnection) { self.connection = connection }

    /// Claims notifications by the coordinates of their records.
    ///
    /// Idempotent: a record that claimed once claims again, whoever reads it, so that a crash after claiming loses
    /// nothing; any copy of it fails forever.
    /// - Returns: for each notification, whether it passes: the notification is its own, or its content is another.
    public func markSeen(_ notifications: [SeenNotification]) async throws -> [Bool] {
        guard !notifications.isEmpty else { return [] }
        let claims = Self.claims(of: notifications)
        let owners = try await repeating {
            try await connection.pipeline([
                Command(
                    Self.claimFirst, claims.map(\.notificationUUID), claims.map(\.position.topic),
                    claims.map(\.position.partition), claims.map(\.position.offset), claims.map(\.seenAt),
                    claims.filter(\.isRedelivery).map(\.notificationUUID), claims.map(\.content)),
                // A statement of its own, because only a later one sees what others committed while ours waited.
                Command(Self.owners, claims.map(\.notificationUUID)),
            ])[1]
        }
        var owner: [UUID: (position: LogPosition, content: Int64?)] = [:]
        for row in owners {
            let position = LogPosition(
                topic: try row.value("topic"), partition: try row.value("log_partition"),
                offset: try row.value("log_offset"))
            owner[try row.value("notification_uuid")] = (position, try row.optional("content"))
        }
        return notifications.map { notification in
            guard let owner = owner[notification.notificationUUID] else { return false }
            if owner.position == notification.position { return true }
            guard let known = owner.content, let content = notification.content else { return false }
            return known != content
        }
    }

    /// Forgets what was first seen before a time. Later copies meet the ledger's key.
    ///
    /// The oldest first, in portions, each in a transaction of its own: however many have gathered, no statement meets
    /// its timeout, no row stays locked for long, and what was forgotten before an error stays so.
    /// - Parameter portion: how many go at once.
    /// - Returns: how many were forgotten.
    public func forget(before time: Date, portion: Int = 20_000) async throws -> Int {
        var forgotten = 0
        while true {
            try Task.checkCancellation()
            let gone = try await connection.execute(Self.forget, time, Int64(portion)).affected
            guard gone > 0 else { return forgotten }
            forgotten += gone
        }
    }

    /// How many ``forget(before:portion:)`` would forget, counted by the index and no further than a limit.
    public func count(before time: Date, limit: Int = 1_000_000) async throws -> Int {
        Int(try await connection.execute(Self.countBefore, time, Int64(limit))[0].value("count", as: Int64.self))
    }

    /// One per notification: the last redelivery, else the first.
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
        insert into seen_notification (notification_uuid, topic, log_partition, log_offset, seen_at, content)
        select notification_uuid, topic, log_partition, log_offset, seen_at, content
        from unnest($1::uuid[], $2::text[], $3::integer[], $4::bigint[], $5::timestamptz[], $7::bigint[])
            as given (notification_uuid, topic, log_partition, log_offset, seen_at, content)
        order by notification_uuid
        on conflict (notification_uuid) do update
        set topic = excluded.topic, log_partition = excluded.log_partition, log_offset = excluded.log_offset,
            seen_at = excluded.seen_at, content = excluded.content
        where seen_notification.notification_uuid = any ($6::uuid[])
        """)

    static let owners = Statement(
        "seen-notification-owners",
        """
        select notification_uuid, topic, log_partition, log_offset, content
        from seen_notification
        where notification_uuid = any ($1::uuid[])
        """)

    static let countBefore = Statement(
        "seen-notification-count-before",
        """
        select count(*) as count
        from (select from seen_notification where seen_at < $1::timestamptz order by seen_at limit $2::bigint) as oldest
        """)

    /// Asks for the time again, because a row may be claimed anew between the search and the deletion.
    static let forget = Statement(
        "seen-notification-forget",
        """
        delete from seen_notification
        where ctid = any (array(
                select ctid from seen_notification where seen_at < $1::timestamptz order by seen_at limit $2::bigint))
            and seen_at < $1::timestamptz
        """)
}
