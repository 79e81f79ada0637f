import Postgres

import struct Foundation.Date
import struct Foundation.UUID

/// The facts of a purchase that a difference is about.
package struct ComparedPurchase: Sendable, Equatable {
    /// One of its transactions, in the newest version.
    package struct Transaction: Sendable, Equatable {
        package var id: String
        package var productId: String
        package var expiresAt: Date?
        package var revokedAt: Date?
        /// Apple's `revocationType`; nil in older payloads.
        package var revocationType: String?
        /// Thousandths of a per cent; nil where Apple names none.
        package var revocationPercentage: Int64?
        package var isUpgraded: Bool
        /// The notification that told of this version.
        package var notificationUUID: UUID
    }

    package var bundleId: String
    package var productType: String?
    package var ownership: String?
    /// Apple's: 1 active, 2 expired, 3 billing retry, 4 grace period, 5 revoked.
    package var status: Int64?
    package var isInBillingRetry: Bool
    /// The products that the purchase gives at the moment, to whichever account.
    package var products: [String]
    /// The accounts that may use it.
    package var holders: [UUID]
    package var transactions: [Transaction] = []
    /// The newest notifications that a refund was taken back, by the transaction that had been refunded.
    package var reversals: [String: UUID] = [:]
    /// The newest notification about the purchase.
    package var notificationUUID: UUID
    /// The notification that told the status.
    package var statusNotification: UUID?
    /// The notification that told the newest transaction, which names the account.
    package var transactionNotification: UUID?
}

extension ComparisonStore {
    /// Facts of purchases, by their ids; those that are not known are left out.
    /// - Parameter moment: at which they give access.
    package func purchases(
        _ ids: [String], _ app: CoverageStore.App, at moment: Date
    ) async throws -> [String: ComparedPurchase] {
        guard !ids.isEmpty else { return [:] }
        let rows = try await connection.pipeline([
            Command(Self.purchases, app.environment.rawValue, ids, moment),
            Command(Self.transactions, app.environment.rawValue, ids),
            Command(Self.reversals, app.environment.rawValue, ids),
        ])
        var purchases: [String: ComparedPurchase] = [:]
        for row in rows[0] {
            var purchase = ComparedPurchase(
                bundleId: try row.value("bundle_id"), productType: try row.optional("product_type"),
                ownership: try row.optional("ownership"), status: try row.optional("status"),
                isInBillingRetry: try row.optional("is_in_billing_retry") ?? false, products: try row.value("products"),
                holders: try row.value("holders"), notificationUUID: try row.value("notification_uuid"))
            purchase.statusNotification = try row.optional("status_event_uuid")
            purchase.transactionNotification = try row.optional("transaction_event_uuid")
            purchases[try row.value("original_transaction_id")] = purchase
        }
        for row in rows[1] {
            purchases[try row.value("original_transaction_id")]?.transactions.append(
                ComparedPurchase.Transaction(
                    id: try row.value("transaction_id"), productId: try row.value("product_id"),
                    expiresAt: try row.optional("expires_at"), revokedAt: try row.optional("revoked_at"),
                    revocationType: try row.optional("revocation_type"),
                    revocationPercentage: try row.optional("revocation_percentage"),
                    isUpgraded: try row.value("is_upgraded"), notificationUUID: try row.value("notification_uuid")))
        }
        for row in rows[2] {
            let id: String = try row.value("transaction_id")
            purchases[try row.value("original_transaction_id")]?.reversals[id] = try row.value("notification_uuid")
        }
        return purchases
    }

    static let purchases = Statement(
        "comparison-purchases",
        """
        select original_transaction_id, bundle_id, product_type, ownership, status, is_in_billing_retry, notification_uuid,
            status_event_uuid, transaction_event_uuid, array(
                select product_id
                from access_period
                where access_period.environment = subscription.environment
                    and access_period.original_transaction_id = subscription.original_transaction_id
                    and $3::timestamptz <@ period
            ) as products, array(
                select app_account_token
                from purchase_account
                where purchase_account.environment = subscription.environment
                    and purchase_account.original_transaction_id = subscription.original_transaction_id
                    and purchase_account.bundle_id = subscription.bundle_id and may_use
            ) as holders
        from subscription
        where environment = $1::text::store_environment and original_transaction_id = any ($2::text[])
        """)

    static let transactions = Statement(
        "comparison-transactions",
        """
        select original_transaction_id, transaction_id, product_id, expires_at, revoked_at, revocation_type,
            revocation_percentage, is_upgraded, notification_uuid
        from transaction
        where environment = $1::text::store_environment and original_transaction_id = any ($2::text[])
        order by original_transaction_id, expires_at nulls last, transaction_id
        """)

    static let reversals = Statement(
        "comparison-reversals",
        """
        select distinct on (original_transaction_id, transaction_id) original_transaction_id, transaction_id,
            notification_uuid
        from notification
        where environment = $1::text::store_environment and original_transaction_id = any ($2::text[])
            and notification_type = 'REFUND_REVERSED' and transaction_id is not null
        order by original_transaction_id, transaction_id, signed_at desc
        """)
}
