import Contracts
import Postgres
import Subscriptions

import struct Foundation.UUID

/// A transaction of an account, with the purchase and the app that it belongs to.
package struct ProductTransaction: Sendable {
    package var version: TransactionVersion
    package var originalTransactionId: String
    package var bundleId: String
}

/// Reads the newest transaction of one product among the purchases of an account.
package enum ProductTransactionStore {
    /// - Parameter bundleIds: nil means all apps.
    package static func command(
        of productId: String, _ account: UUID, in environment: StoreEnvironment, bundleIds: [String]?
    ) -> Command {
        Command(newest, account, environment.rawValue, bundleIds, productId)
    }

    /// Decodes the result of the command above; nil where no purchase of the account ever bought the product.
    package static func transaction(_ rows: Rows) throws -> ProductTransaction? {
        try rows.first.map { row in
            let stored = try StoredTransaction.read(row)
            return ProductTransaction(
                version: stored.version, originalTransactionId: stored.key.originalTransactionId,
                bundleId: stored.bundleId)
        }
    }

    static let statements = [newest]

    private static let newest = Statement(
        "product-transaction-newest",
        unsafeSQL: """
            select \(StoredTransaction.columns.selected()), \(StoredTransaction.facts.selected())
            from transaction
            where environment = $2::text::store_environment and product_id = $4::text
                and original_transaction_id in (
                    select original_transaction_id
                    from purchase_account
                    where app_account_token = $1::uuid and environment = $2::text::store_environment
                        and ($3::text[] is null or bundle_id = any ($3::text[])))
            order by purchased_at desc nulls last, signed_at desc, transaction_id desc
            limit 1
            """)
}
