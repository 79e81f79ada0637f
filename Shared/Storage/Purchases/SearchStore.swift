import Contracts
import Postgres

import struct Foundation.UUID

/// Finds purchases and accounts by any of their ids, each by an index.
package struct SearchStore: Sendable {
    /// A purchase or account with the id.
    package struct Hit: Sendable, Equatable {
        /// The kind of id that matched.
        package var kind: String
        package var bundleId: String
        package var originalTransactionId: String?
        package var appAccountToken: UUID?
    }

    private let connection: PostgresConnection

    package init(_ connection: PostgresConnection) { self.connection = connection }

    /// - Parameter bundleIds: nil means all apps.
    package func hits(
        _ id: String, in environment: StoreEnvironment, bundleIds: [String]?, limit: Int
    ) async throws -> [Hit] {
        try await connection.execute(
            Self.search, id, UUID(uuidString: id), environment.rawValue, bundleIds, Int64(limit)
        ).map { row in
            Hit(
                kind: try row.value("kind"), bundleId: try row.value("bundle_id"),
                originalTransactionId: try row.optional("original_transaction_id"),
                appAccountToken: try row.optional("app_account_token"))
        }
    }

    static let statements = [search]

    private static let search = Statement(
        "search",
        """
        select kind, bundle_id, original_transaction_id, app_account_token
        from (
            select 'originalTransactionId' as kind, bundle_id, original_transaction_id, owner_account_token as app_account_token
            from subscription
            where environment = $3::text::store_environment and original_transaction_id = $1::text
            union all
            select 'transactionId', bundle_id, original_transaction_id, app_account_token
            from transaction
            where environment = $3::text::store_environment and transaction_id = $1::text
            union all
            select 'appTransactionId', bundle_id, original_transaction_id, owner_account_token
            from subscription
            where app_transaction_id = $1::text and environment = $3::text::store_environment
            union all
            select 'notificationUUID', bundle_id, original_transaction_id, null
            from notification
            where notification_uuid = $2::uuid and environment = $3::text::store_environment
            union all
            select 'appAccountToken', bundle_id, original_transaction_id, app_account_token
            from (
                select bundle_id, original_transaction_id, owner_account_token as app_account_token
                from subscription
                where owner_account_token = $2::uuid and environment = $3::text::store_environment
                union
                select bundle_id, original_transaction_id, app_account_token
                from account_claim
                where app_account_token = $2::uuid and environment = $3::text::store_environment
            ) as owned
            union all
            select 'customerId', bundle_id, null, app_account_token
            from customer
            where environment = $3::text::store_environment and customer_id = $1::text
        ) as found
        where $4::text[] is null or bundle_id = any ($4::text[])
        order by kind, bundle_id, original_transaction_id
        limit $5::bigint
        """)
}
