import Contracts
import Postgres

import struct Foundation.Date
import struct Foundation.UUID

/// A search of the ledger. A field that is nil restricts nothing.
public struct NotificationSearch: Sendable, Equatable {
    /// Apple's `notificationType`.
    public var notificationType: String?
    /// Apple's `subtype`.
    public var subtype: String?
    /// Apple's environment.
    public var environment: StoreEnvironment?
    /// The app's bundle identifier.
    public var bundleId: String?
    /// How the notification arrived: a raw value of `NotificationSource`.
    public var source: NotificationSource?
    /// Recorded at or after this time.
    public var from: Date?
    /// Recorded before this time.
    public var to: Date?

    /// A search without restrictions.
    public init() {}
}

extension NotificationStore {
    /// The matching notifications, the one recorded last first. Reads backwards by time until `limit` rows match: a search
    /// for a rare type without `from` reads the whole ledger.
    public func newest(_ limit: Int, where search: NotificationSearch) async throws -> [LedgerLine] {
        try await connection.execute(
            Self.search, search.notificationType, search.subtype, search.environment?.rawValue, search.bundleId,
            search.source?.rawValue, search.from, search.to, Int64(limit)
        ).map { row in try LedgerLine.read(row) }
    }

    /// Number of notifications recorded within a time, and number of them whose payload retention has dropped.
    public func count(
        from: Date, to: Date, environment: StoreEnvironment?, bundleId: String?
    ) async throws -> (all: Int, dropped: Int) {
        let row = try await connection.execute(Self.countBetween, from, to, environment?.rawValue, bundleId)[0]
        return (
            Int(try row.value("count", as: Int64.self)), Int(try row.value("dropped", as: Int64.self))
        )
    }

    /// The uuids recorded within a time, page by page in their order.
    /// - Parameter uuid: the last one of the page before.
    public func uuids(
        from: Date, to: Date, environment: StoreEnvironment?, bundleId: String?, after uuid: UUID?, limit: Int
    ) async throws -> [UUID] {
        try await connection.execute(
            Self.uuidsBetween, from, to, environment?.rawValue, bundleId, uuid ?? .zero, Int64(limit)
        ).map { row in try row.value("notification_uuid") }
    }

    /// The given uuids that the ledger holds.
    public func known(_ uuids: [UUID]) async throws -> Set<UUID> {
        guard !uuids.isEmpty else { return [] }
        return try Set(
            await connection.execute(LedgerStatements.recorded, uuids).map { row in try row.value("notification_uuid") }
        )
    }

    /// The row of one notification; nil where the ledger does not hold it.
    public func line(_ uuid: UUID) async throws -> LedgerLine? {
        try await connection.execute(Self.one, uuid).first.map { row in try LedgerLine.read(row) }
    }

    static let search = Statement(
        "notification-search",
        unsafeSQL: """
            select \(LedgerLine.columns.selected())
            from notification
            where recorded_at >= coalesce($6::timestamptz, '-infinity')
                and recorded_at < coalesce($7::timestamptz, 'infinity')
                and ($1::text is null or notification_type = $1::text)
                and ($2::text is null or subtype = $2::text)
                and ($3::text is null or environment = $3::text::store_environment)
                and ($4::text is null or bundle_id = $4::text)
                and ($5::text is null or source = $5::text)
            order by recorded_at desc, notification_uuid
            limit $8::bigint
            """)

    static let one = Statement(
        "notification-one",
        unsafeSQL: """
            select \(LedgerLine.columns.selected())
            from notification
            where notification_uuid = $1::uuid
            """)

    static let countBetween = Statement(
        "notification-count-between",
        """
        select count(*) as count, count(*) filter (where payload.notification_uuid is null) as dropped
        from notification
        left join notification_payload payload
            on payload.notification_uuid = notification.notification_uuid
            and payload.recorded_at = notification.recorded_at
            and payload.recorded_at >= $1::timestamptz and payload.recorded_at < $2::timestamptz
        where notification.recorded_at >= $1::timestamptz and notification.recorded_at < $2::timestamptz
            and ($3::text is null or environment = $3::text::store_environment)
            and ($4::text is null or bundle_id = $4::text)
        """)

    static let uuidsBetween = Statement(
        "notification-uuids-between",
        """
        select notification_uuid
        from notification
        where recorded_at >= $1::timestamptz and recorded_at < $2::timestamptz
            and ($3::text is null or environment = $3::text::store_environment)
            and ($4::text is null or bundle_id = $4::text)
            and notification_uuid > $5::uuid
        order by notification_uuid
        limit $6::bigint
        """)
}
