import Contracts
import Postgres

import struct Foundation.Date
import struct Foundation.UUID

/// A notification seen at a place in the log.
public struct Sighting: Sendable, Equatable {
    /// Apple's id; the same in every repetition.
    public var notificationUUID: UUID
    /// Where its record stands in the log.
    public var position: LogPosition
    /// By our clock.
    public var seenAt: Date
    /// Recovery or an operator put the record back: it takes the sighting over from whoever has it.
    public var isReclaim: Bool

    /// All fields.
    public init(notificationUUID: UUID, position: LogPosition, seenAt: Date, isReclaim: Bool) {
        self.notificationUUID = notificationUUID
        self.position = position
        self.seenAt = seenAt
        self.isReclaim = isReclaim
    }
}

/// Who saw a notification first.
public struct SightingStore: Sendable {
    private let connection: PostgresConnection

    /// All statements run on this connection.
    public init(_ connection: PostgresConnection) { self.connection = connection }

    /// Claims notifications by the coordinates of their records.
    ///
    /// Idempotent: a record that claimed once claims again, whoever reads it, so that a crash after claiming loses
    /// nothing; any copy of it fails forever.
    /// - Returns: for each sighting, whether the notification is its own.
    public func claim(_ sightings: [Sighting]) async throws -> [Bool] {
        guard !sightings.isEmpty else { return [] }
        let claims = Self.claims(of: sightings)
        let owners = try await repeating {
            try await connection.pipeline([
                Command(
                    Self.claimFirst, claims.map(\.notificationUUID), claims.map(\.position.topic),
                    claims.map(\.position.partition), claims.map(\.position.offset), claims.map(\.seenAt),
                    claims.filter(\.isReclaim).map(\.notificationUUID)),
                // A statement of its own, because only a later one sees what others committed while ours waited.
                Command(Self.owners, claims.map(\.notificationUUID)),
            ])[1]
        }
        var owner: [UUID: LogPosition] = [:]
        for row in owners {
            owner[try row.value("notification_uuid")] = LogPosition(
                topic: try row.value("topic"), partition: try row.value("log_partition"),
                offset: try row.value("log_offset"))
        }
        return sightings.map { owner[$0.notificationUUID] == $0.position }
    }

    /// Forgets what was first seen before a time. Later copies meet the ledger's key.
    /// - Returns: how many were forgotten.
    public func forget(before time: Date) async throws -> Int {
        try await connection.execute(Self.forget, time).affected
    }

    /// One claim per notification: the last reclaim, else the first sighting.
    private static func claims(of sightings: [Sighting]) -> [Sighting] {
        var claims: [UUID: Sighting] = [:]
        for sighting in sightings where sighting.isReclaim || claims[sighting.notificationUUID] == nil {
            claims[sighting.notificationUUID] = sighting
        }
        return Array(claims.values)
    }

    /// Sorted, so that two workers lock the same rows in the same order.
    static let claimFirst = Statement(
        "sighting-claim",
        """
        insert into sighting (notification_uuid, topic, log_partition, log_offset, seen_at)
        select notification_uuid, topic, log_partition, log_offset, seen_at
        from unnest($1::uuid[], $2::text[], $3::integer[], $4::bigint[], $5::timestamptz[])
            as given (notification_uuid, topic, log_partition, log_offset, seen_at)
        order by notification_uuid
        on conflict (notification_uuid) do update
        set topic = excluded.topic, log_partition = excluded.log_partition, log_offset = excluded.log_offset,
            seen_at = excluded.seen_at
        where sighting.notification_uuid = any ($6::uuid[])
        """)

    static let owners = Statement(
        "sighting-owners",
        """
        select notification_uuid, topic, log_partition, log_offset
        from sighting
        where notification_uuid = any ($1::uuid[])
        """)

    static let forget = Statement("sighting-forget", "delete from sighting where seen_at < $1::timestamptz")
}
