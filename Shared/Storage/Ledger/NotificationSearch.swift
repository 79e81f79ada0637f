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
}
