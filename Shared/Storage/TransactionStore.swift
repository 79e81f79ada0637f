import Contracts
import Postgres
import Subscriptions

/// The latest signed version of each transaction. Written by `LedgerStore.apply` only.
public struct TransactionStore: Sendable {
    private let connection: PostgresConnection

    /// All statements run on this connection.
    public init(_ connection: PostgresConnection) { self.connection = connection }

    /// All transactions of a purchase, newest purchase first.
    public func transactions(of key: SubscriptionKey) async throws -> [TransactionFacts] {
        try await connection.execute(Self.find, key.environment.rawValue, key.originalTransactionId)
            .compactMap { row in try TransactionColumns.read(row, signedAt: "signed_at") }
    }

    static let find = Statement(
        "transaction-find",
        parts: [
            "select", TransactionColumns.names,
            """
            , signed_at
            from transaction
            where environment = $1::text::store_environment and original_transaction_id = $2::text
            order by purchased_at desc nulls last, transaction_id desc
            """,
        ])

    /// Whole versions replace each other, so the guard alone makes any order end the same, whoever else is writing.
    static let upsert = Statement(
        "transaction-upsert",
        parts: [
            """
            insert into transaction as held (
                notification_uuid, news_at, environment, original_transaction_id, bundle_id,
            """, TransactionColumns.names,
            """
            , signed_at)
            select
                notification_uuid, news_at, environment::store_environment, original_transaction_id, bundle_id,
            """, TransactionColumns.names,
            """
            , signed_at
            from unnest(
                $1::uuid[], $2::timestamptz[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[],
                $9::text[], $10::timestamptz[], $11::timestamptz[], $12::timestamptz[], $13::bigint[], $14::text[],
                $15::text[], $16::boolean[], $17::timestamptz[], $18::bigint[], $19::bigint[], $20::text[],
                $21::bigint[], $22::text[], $23::text[], $24::text[], $25::text[], $26::text[], $27::text[],
                $28::text[], $29::timestamptz[]
            ) as given (notification_uuid, news_at, environment, original_transaction_id, bundle_id,
            """, TransactionColumns.names,
            """
            , signed_at)
            order by environment, transaction_id
            on conflict (environment, transaction_id) do update
            set notification_uuid = excluded.notification_uuid,
                news_at = excluded.news_at,
                original_transaction_id = excluded.original_transaction_id,
                bundle_id = excluded.bundle_id,
            """, TransactionColumns.overwriting,
            """
                , signed_at = excluded.signed_at
            where (held.signed_at, held.news_at, held.notification_uuid)
                < (excluded.signed_at, excluded.news_at, excluded.notification_uuid)
            """,
        ])

    static func command(upserting versions: [TransactionVersion]) -> Command {
        Command(
            upsert,
            all: [
                versions.map(\.version.notificationUUID), versions.map(\.version.signedDate),
                versions.map(\.key.environment.rawValue),
                versions.map(\.key.originalTransactionId), versions.map(\.bundleId),
            ] + TransactionColumns.parameters(versions.map(\.facts)))
    }
}

/// A signed version of a transaction and where it came from.
struct TransactionVersion: Sendable {
    /// Of the news that held it.
    var version: EventVersion
    var key: SubscriptionKey
    var bundleId: String
    var facts: TransactionFacts

    /// Nil where the news holds no transaction.
    init?(_ news: PurchaseEvent) {
        guard let facts = news.transaction else { return nil }
        self.version = news.version
        self.key = news.key
        self.bundleId = news.bundleId
        self.facts = facts
    }

    /// Of the same transaction the version signed later counts; the statement that writes says the same.
    func isOlder(than other: TransactionVersion) -> Bool {
        guard facts.signedDate == other.facts.signedDate else { return facts.signedDate < other.facts.signedDate }
        return version < other.version
    }
}
