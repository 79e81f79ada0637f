import Contracts
import Postgres

import struct Foundation.UUID

/// Reads the transactions of the purchases that an account may use while they give access: what was paid for them.
package enum AccountTransactions {
    /// - Parameter limit: of transactions; the newest purchases come first.
    package static func command(of account: UUID, in environment: StoreEnvironment, limit: Int) -> Command {
        Command(newest, account, environment.rawValue, Int64(limit))
    }

    /// Decodes the result of the command above.
    package static func transactions(_ rows: Rows) throws -> [ProductTransaction] {
        try rows.map { row in
            let stored = try StoredTransaction.read(row)
            return ProductTransaction(
                version: stored.version, originalTransactionId: stored.key.originalTransactionId,
                bundleId: stored.bundleId)
        }
    }

    static let statements = [newest]

    private static let newest = Statement(
        "account-transactions-newest",
        unsafeSQL: """
            select \(StoredTransaction.columns.selected()), \(StoredTransaction.facts.selected())
            from transaction
            where environment = $2::text::store_environment
                and original_transaction_id in (
                    select original_transaction_id
                    from purchase_account
                    where app_account_token = $1::uuid and environment = $2::text::store_environment and may_use)
            order by purchased_at desc nulls last, signed_at desc, transaction_id desc
            limit $3::bigint
            """)
}
