import Contracts
import Postgres
import Subscriptions

import struct Foundation.UUID

/// The timeline and notifications of one purchase, page by page, the oldest first.
package struct PurchasePages: Sendable {
    private let connection: PostgresConnection

    package init(_ connection: PostgresConnection) { self.connection = connection }

    /// - Parameter id: the id of the last row of the page before; 0 for the first page.
    package func timeline(of key: SubscriptionKey, after id: Int64, limit: Int) async throws -> [TimelineRow] {
        try await connection.execute(
            Self.timeline, key.environment.rawValue, key.originalTransactionId, id, Int64(limit)
        ).map { row in try TimelineRow.read(row) }
    }

    /// The notifications in Apple's order.
    /// - Parameter uuid: the last one of the page before; nil for the first page.
    package func notifications(
        of key: SubscriptionKey, after uuid: UUID?, limit: Int
    ) async throws -> [LedgerLine] {
        try await connection.execute(
            Self.notifications, key.environment.rawValue, key.originalTransactionId, uuid, Int64(limit)
        ).map { row in try LedgerLine.read(row) }
    }

    /// The newest signed version of a transaction, with the purchase it belongs to and the notification that held it.
    package func transaction(
        _ id: String, in environment: StoreEnvironment
    ) async throws -> (version: TransactionVersion, originalTransactionId: String, bundleId: String)? {
        try await connection.execute(Self.transaction, environment.rawValue, id).first.map { row in
            let stored = try StoredTransaction.read(row)
            return (stored.version, stored.key.originalTransactionId, stored.bundleId)
        }
    }

    static let statements = [timeline, notifications, transaction]

    private static let timeline = Statement(
        "purchase-timeline-page",
        unsafeSQL: """
            select \(TimelineRow.selected)
            from \(TimelineRow.source)
            where environment = $1::text::store_environment and original_transaction_id = $2::text and id > $3::bigint
            order by id
            limit $4::bigint
            """)

    private static let notifications = Statement(
        "purchase-notifications-page",
        unsafeSQL: """
            select \(LedgerLine.columns.selected())
            from notification
            where environment = $1::text::store_environment and original_transaction_id = $2::text
                and ($3::uuid is null or (signed_at, notification_uuid) > (
                    select last.signed_at, last.notification_uuid
                    from notification last
                    where last.notification_uuid = $3::uuid))
            order by signed_at, notification_uuid
            limit $4::bigint
            """)

    private static let transaction = Statement(
        "purchase-transaction",
        unsafeSQL: """
            select \(StoredTransaction.columns.selected()), \(StoredTransaction.facts.selected())
            from transaction
            where environment = $1::text::store_environment and transaction_id = $2::text
            """)
}
