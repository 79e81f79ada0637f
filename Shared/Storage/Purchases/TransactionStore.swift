import Contracts
import Postgres
import Subscriptions

import struct Foundation.Date
import struct Foundation.UUID

/// Reads the latest signed version of each transaction. Only `LedgerStore.apply` writes it.
public struct TransactionStore: Sendable {
    private let connection: PostgresConnection

    /// All statements run on this connection.
    public init(_ connection: PostgresConnection) { self.connection = connection }

    /// All transactions of a purchase, newest purchase first.
    public func transactions(of key: SubscriptionKey) async throws -> [TransactionFacts] {
        try await versions(of: key).map(\.facts)
    }

    /// All transactions of a purchase, each with the version of the event that delivered it.
    public func versions(of key: SubscriptionKey) async throws -> [TransactionVersion] {
        try await connection.execute(Self.find, key.environment.rawValue, key.originalTransactionId)
            .map { row in try StoredTransaction.read(row).version }
    }

    /// The original transaction ids of an app's transactions; those that are not known are left out.
    package func originals(
        of ids: [String], bundleId: String, in environment: StoreEnvironment
    ) async throws -> [String: String] {
        guard !ids.isEmpty else { return [:] }
        return try await connection.execute(Self.originals, environment.rawValue, ids, bundleId).reduce(into: [:]) {
            originals, row in
            originals[try row.value("transaction_id")] = try row.value("original_transaction_id", as: String.self)
        }
    }

    /// All transactions of the purchases that an account may use while they give access, in no particular order.
    package func transactions(ofAccount account: UUID, in environment: StoreEnvironment) async throws
        -> [ProductTransaction]
    {
        try await connection.execute(Self.ofAccount, account, environment.rawValue).map { row in
            let stored = try StoredTransaction.read(row)
            return ProductTransaction(
                version: stored.version, originalTransactionId: stored.key.originalTransactionId,
                bundleId: stored.bundleId)
        }
    }

    /// Offset 0 makes the planner look up each purchase; a join may read the transactions of all customers.
    static let ofAccount = Statement(
        "transaction-of-account",
        unsafeSQL: """
            with held as materialized (
                select distinct environment as place, original_transaction_id as id
                from purchase_account
                where app_account_token = $1::uuid and environment = $2::text::store_environment and may_use
            )
            select \(StoredTransaction.columns.selected()), \(StoredTransaction.facts.selected())
            from held
            cross join lateral (
                select *
                from transaction
                where environment = held.place and original_transaction_id = held.id
                offset 0
            ) as transaction
            """)

    static let originals = Statement(
        "transaction-originals",
        """
        select transaction_id, original_transaction_id
        from transaction
        where environment = $1::text::store_environment and transaction_id = any ($2::text[]) and bundle_id = $3::text
        """)

    static let find = Statement(
        "transaction-find",
        unsafeSQL: """
            select \(StoredTransaction.columns.selected()), \(StoredTransaction.facts.selected())
            from transaction
            where environment = $1::text::store_environment and original_transaction_id = $2::text
            order by purchased_at desc nulls last, transaction_id desc
            """)

    /// Reads the transactions of the purchases of a batch. Runs after these are locked, so that no other writer adds one.
    static let ofPurchases = Statement(
        "transaction-of-purchases",
        unsafeSQL: """
            select \(StoredTransaction.columns.selected()), \(StoredTransaction.facts.selected())
            \(PurchaseKeys.lookingUp("transaction"))
            """)

    /// When a migration replaced purchases: the beginning of the first transaction of another purchase that names each.
    static let migrations = Statement(
        "transaction-migrations",
        """
        select given_environment as environment, given_id as original_transaction_id, migrated_at
        from unnest($1::text[], $2::text[]) as given (given_environment, given_id)
        cross join lateral (
            select min(coalesce(purchased_at, signed_at)) as migrated_at
            from transaction
            where environment = given_environment::store_environment and previous_original_transaction_id = given_id
                and original_transaction_id <> given_id
        ) as migration
        where migrated_at is not null
        """)

    static func command(migrationsOf keys: [SubscriptionKey]) -> Command {
        Command(migrations, keys.map(\.environment.rawValue), keys.map(\.originalTransactionId))
    }

    static func migrations(_ rows: Rows) throws -> [SubscriptionKey: Date] {
        try rows.reduce(into: [:]) { migrations, row in
            let key = SubscriptionKey(
                environment: try SubscriptionStore.environment(row),
                originalTransactionId: try row.value("original_transaction_id"))
            migrations[key] = try row.value("migrated_at", as: Date.self)
        }
    }

    /// A version replaces a whole row if it is newer, so that any order and any concurrent writer ends in the same row.
    static let upsert = Statement(
        "transaction-upsert",
        unsafeSQL: """
            insert into transaction as held (
                \(StoredTransaction.columns.names()), \(StoredTransaction.facts.names()))
            select *
            from unnest(
                \(StoredTransaction.columns.placeholders()),
                \(StoredTransaction.facts.placeholders(from: StoredTransaction.columns.count + 1))
            ) as given (\(StoredTransaction.columns.names()), \(StoredTransaction.facts.names()))
            order by environment, transaction_id
            on conflict (environment, transaction_id) do update
            set \(StoredTransaction.columns.overwriting()), \(StoredTransaction.facts.overwriting())
            where (held.signed_at, held.event_at, held.notification_uuid)
                < (excluded.signed_at, excluded.event_at, excluded.notification_uuid)
            """)

    static func command(transactionsOf keys: [SubscriptionKey]) -> Command {
        Command(ofPurchases, keys.map(\.environment.rawValue), keys.map(\.originalTransactionId))
    }

    static func command(upserting versions: [StoredTransaction]) -> Command {
        Command(
            upsert,
            all: StoredTransaction.columns.parameters(of: versions)
                + StoredTransaction.facts.parameters(of: versions.map(\.version.facts)))
    }
}

/// A signed version of a transaction and the purchase it belongs to.
struct StoredTransaction: Sendable {
    var version: TransactionVersion
    var key: SubscriptionKey
    var bundleId: String

    /// The columns of the event; the columns of the ``facts`` follow.
    static let columns: [Column<StoredTransaction>] = [
        Column("environment", \.key.environment),
        Column("original_transaction_id", \.key.originalTransactionId),
        Column("bundle_id", \.bundleId),
        Column("event_at", \.version.version.signedDate),
        Column("notification_uuid", \.version.version.notificationUUID),
    ]
    static let facts = TransactionFacts.columns(signedAt: "signed_at")

    static func read(_ row: Row) throws -> StoredTransaction {
        var transaction = try columns.read(row, into: empty)
        transaction.version.facts = try facts.read(row, into: .empty, from: columns.count)
        return transaction
    }

    private static let empty = StoredTransaction(
        version: TransactionVersion(
            .empty, version: EventVersion(signedDate: .distantPast, notificationUUID: .zero)),
        key: SubscriptionKey(environment: .production, originalTransactionId: ""), bundleId: "")
}

extension StoredTransaction {
    /// Nil where the event holds no transaction.
    init?(_ event: PurchaseEvent) {
        guard let facts = event.transaction else { return nil }
        self.init(
            version: TransactionVersion(facts, version: event.version), key: event.key, bundleId: event.bundleId)
    }
}
