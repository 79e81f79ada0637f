import Contracts
import Postgres

import struct Foundation.Date
import struct Foundation.UUID

/// The credits that consumables gave to accounts: each transaction is credited once, and a refund takes it back.
package struct CreditStore: Sendable {
    /// The credit of one transaction.
    package struct Credit: Sendable, Equatable {
        package var transactionId: String
        package var bundleId: String
        package var productId: String
        /// The unit that is counted, such as `coins`; for a product without a setting, the product itself.
        package var unit: String
        /// The quantity of the transaction.
        package var quantity: Int64
        /// Quantity times what the product gave when it was credited.
        package var amount: Int64
        /// The part of the amount that a refund took back.
        package var takenBack: Int64
        /// Nil where it was detached or erased since.
        package var account: UUID?
        package var creditedAt: Date
        /// When Apple refunded or revoked the transaction; nil where it did not, or reversed it.
        package var revokedAt: Date?
    }

    /// The credits of an account in one unit.
    package struct Balance: Sendable, Equatable {
        package var bundleId: String
        package var unit: String
        /// Number of transactions.
        package var credits: Int64
        package var credited: Int64
        package var takenBack: Int64
        /// The credited amount that is left. The app itself accounts for what the customer has spent.
        package var balance: Int64
        /// The newest credit.
        package var creditedAt: Date
    }

    /// The outcome of ``credit(_:in:to:among:by:at:storing:)``.
    package enum Outcome: Sendable, Equatable {
        /// - Parameter isNew: false where it was credited before.
        case credited(Credit, isNew: Bool)
        /// No transaction of these apps has the id.
        case unknown
        /// The product has another type.
        case notConsumable(String)
        /// Apple refunded all of it before it was credited.
        case revoked
        /// No account may use the purchase, or not the one that was named.
        case noAccount
        /// Several accounts may use it, and none was named.
        case severalAccounts
        /// Another account than the one that was named has got it.
        case otherAccount
    }

    private let connection: PostgresConnection

    package init(_ connection: PostgresConnection) { self.connection = connection }

    /// Credits a transaction to an account, once.
    /// - Parameters:
    ///   - account: one that may use the purchase; nil is the only one that may.
    ///   - bundleIds: nil means all apps.
    ///   - name: who credits it.
    ///   - storing: further statements of the transaction that credits it.
    package func credit(
        _ transactionId: String, in environment: StoreEnvironment, to account: UUID?, among bundleIds: [String]?,
        by name: String, at now: Date, storing: @escaping @Sendable (Credit) -> [Command] = { _ in [] }
    ) async throws -> Outcome {
        try await repeating {
            try await connection.transaction { transaction in
                // An erasure waits until it is stored, and detaches it, or it waits for the erasure.
                let read = [
                    ErasedAccounts.command(among: []),
                    Command(Self.bought, environment.rawValue, transactionId, bundleIds),
                    Command(Self.ofTransactions, environment.rawValue, [transactionId]),
                ]
                let found = try transaction.pipeline(read)
                guard let bought = found[1].first else { return .unknown }
                if let credit = try found[2].first.map(Self.read) { return Self.known(credit, account) }
                let type: String = try bought.value("product_type")
                guard type == "Consumable" else { return .notConsumable(type) }
                guard try !bought.value("is_refunded", as: Bool.self) else { return .revoked }
                let accounts = try bought.value("accounts", as: [String].self).compactMap { UUID(uuidString: $0) }
                if account == nil, accounts.count > 1 { return .severalAccounts }
                guard let given = account ?? accounts.first, accounts.contains(given) else { return .noAccount }
                let added = try transaction.pipeline([
                    Command(Self.insert, environment.rawValue, transactionId, given, name, now),
                    Command(Self.ofTransactions, environment.rawValue, [transactionId]),
                ])
                guard let credit = try added[1].first.map(Self.read) else { return .unknown }
                // A row that a faster request inserted is seen now.
                guard added[0].affected == 1 else { return Self.known(credit, account) }
                let further = storing(credit)
                if !further.isEmpty { _ = try transaction.pipeline(further) }
                return .credited(credit, isNew: true)
            }
        }
    }

    /// The credits of transactions by their ids, those of all apps; a transaction that was not credited has none.
    package func credits(of transactionIds: [String], in environment: StoreEnvironment) async throws -> [Credit] {
        try await connection.execute(Self.ofTransactions, environment.rawValue, transactionIds).map(Self.read)
    }

    private static func known(_ credit: Credit, _ account: UUID?) -> Outcome {
        account == nil || account == credit.account ? .credited(credit, isNew: false) : .otherAccount
    }

    /// The balances of an account, by app and unit.
    /// - Parameter bundleIds: nil means all apps.
    package func balances(
        of account: UUID, in environment: StoreEnvironment, bundleIds: [String]?
    ) async throws -> [Balance] {
        try await connection.execute(Self.balances, account, environment.rawValue, bundleIds).map { row in
            Balance(
                bundleId: try row.value("bundle_id"), unit: try row.value("unit"), credits: try row.value("credits"),
                credited: try row.value("credited"), takenBack: try row.value("taken_back"),
                balance: try row.value("balance"), creditedAt: try row.value("credited_at"))
        }
    }

    private static func read(_ row: Row) throws -> Credit {
        Credit(
            transactionId: try row.value("transaction_id"), bundleId: try row.value("bundle_id"),
            productId: try row.value("product_id"), unit: try row.value("unit"), quantity: try row.value("quantity"),
            amount: try row.value("amount"), takenBack: try row.value("taken_back"),
            account: try row.optional("app_account_token"), creditedAt: try row.value("credited_at"),
            revokedAt: try row.optional("revoked_at"))
    }

    static let statements = [bought, ofTransactions, insert, balances]

    private static let bought = Statement(
        "credit-bought",
        """
        select product_type,
            revoked_at is not null and coalesce(revocation_percentage, 100000) >= 100000 as is_refunded,
            array(
                select app_account_token::text
                from purchase_account held
                where held.environment = bought.environment
                    and held.original_transaction_id = bought.original_transaction_id
                    and held.bundle_id = bought.bundle_id and held.may_use
                order by app_account_token) as accounts
        from transaction bought
        where environment = $1::text::store_environment and transaction_id = $2::text
            and ($3::text[] is null or bundle_id = any ($3::text[]))
        """)

    /// One look-up by index for each, see ``PurchaseKeys``.
    private static let ofTransactions = Statement(
        "credit-of-transactions",
        """
        select credited.*
        from unnest($2::text[]) as given (given_id)
        cross join lateral (
            select *
            from current_credit
            where environment = $1::text::store_environment and transaction_id = given_id
            offset 0
        ) as credited
        """)

    /// A transaction of old has no quantity, and is one.
    private static let insert = Statement(
        "credit-insert",
        """
        insert into credit (
            environment, transaction_id, bundle_id, product_id, quantity, amount, unit, app_account_token, credited_by,
            credited_at)
        select environment, transaction_id, bundle_id, product_id, bought.quantity,
            bought.quantity * coalesce(product.credit_amount, 1), coalesce(product.credit_unit, product_id), $3::uuid,
            $4::text, $5::timestamptz
        from (
            select environment, transaction_id, bundle_id, product_id, greatest(coalesce(quantity, 1), 1) as quantity
            from transaction
            where environment = $1::text::store_environment and transaction_id = $2::text
        ) as bought
        left join product using (bundle_id, product_id)
        on conflict (environment, transaction_id) do nothing
        """)

    private static let balances = Statement(
        "credit-balances",
        """
        select bundle_id, unit, credits, credited, taken_back, balance, credited_at
        from account_balance
        where app_account_token = $1::uuid and environment = $2::text::store_environment
            and ($3::text[] is null or bundle_id = any ($3::text[]))
        order by bundle_id, unit
        """)
}
