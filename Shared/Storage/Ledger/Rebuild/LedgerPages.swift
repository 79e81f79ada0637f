import Contracts
import Postgres
import Records

import struct Foundation.Date
import struct Foundation.UUID

/// Reads the ledger in the order in which it was recorded, without the signed originals.
public struct LedgerPages: Sendable {
    private let connection: PostgresConnection

    /// All statements run on this connection.
    public init(_ connection: PostgresConnection) { self.connection = connection }

    /// One notification, as the state-updater read it from Kafka.
    public struct Recorded: Sendable {
        /// The notification without its signed original.
        public var notification: VerifiedNotification
        /// Topic, partition and offset of its record.
        public var position: LogPosition
        /// The place after it, at which the next page begins.
        public var place: Place
    }

    /// A place in the ledger.
    public struct Place: Sendable {
        fileprivate var recordedAt: Date
        fileprivate var position: LogPosition
        fileprivate var uuid: UUID
    }

    /// Number of notifications, for showing progress.
    public func count() async throws -> Int {
        Int(try await connection.execute(Self.count)[0].value("notifications", as: Int64.self))
    }

    /// The next notifications; empty at the end. Leaves out notifications that are committed later with an earlier time; see
    /// `missing`.
    public func page(after place: Place?, limit: Int = 500) async throws -> [Recorded] {
        try await connection.execute(
            Self.page, place?.recordedAt ?? .distantPast, place?.position.partition ?? -1,
            place?.position.offset ?? -1, place?.uuid ?? .zero, Int64(limit)
        ).map { row in try Self.recorded(row) }
    }

    /// The oldest notifications that another schema's ledger lacks. Reads both ledgers completely.
    public func missing(in schema: String, limit: Int = 500) async throws -> [Recorded] {
        let statement = Statement(
            unsafeSQL: """
                select \(LedgerLine.columns.selected()), decoded
                from notification
                join notification_payload using (notification_uuid, recorded_at)
                where not exists (
                    select
                    from \(FreshSchema.quoted(schema)).notification other
                    where other.notification_uuid = notification.notification_uuid)
                order by recorded_at, kafka_partition, kafka_offset, notification_uuid
                limit $1::bigint
                """)
        return try await connection.execute(statement, Int64(limit)).map { row in try Self.recorded(row) }
    }

    private static func recorded(_ row: Row) throws -> Recorded {
        let line = try LedgerLine.read(row)
        let position = LogPosition(topic: Topics.unique.name, partition: line.partition, offset: line.offset)
        return Recorded(
            notification: VerifiedNotification(
                notificationUUID: line.notificationUUID, notificationType: line.notificationType,
                subtype: line.subtype, environment: line.environment, bundleId: line.bundleId,
                appAppleId: line.appAppleId, originalTransactionId: line.originalTransactionId,
                transactionId: line.transactionId, signedDate: line.signedDate, receivedAt: line.receivedAt,
                source: NotificationSource(rawValue: line.source) ?? .replay, traceparent: nil,
                decoded: Array(try row.value("decoded", as: JSONText.self).text.utf8), signedPayload: []),
            position: position,
            place: Place(recordedAt: line.recordedAt, position: position, uuid: line.notificationUUID))
    }

    static let count = Statement("ledger-pages-count", "select count(*) as notifications from notification_payload")

    static let page = Statement(
        "ledger-pages-page",
        unsafeSQL: """
            select \(LedgerLine.columns.selected()), decoded
            from notification
            join notification_payload using (notification_uuid, recorded_at)
            where recorded_at >= $1::timestamptz
                and (recorded_at, kafka_partition, kafka_offset, notification_uuid)
                    > ($1::timestamptz, $2::integer, $3::bigint, $4::uuid)
            order by recorded_at, kafka_partition, kafka_offset, notification_uuid
            limit $5::bigint
            """)

    static let statements = [count, page, FreshSchema.find, FreshSchema.user]
}
