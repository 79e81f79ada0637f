import Contracts
import Postgres
import Subscriptions

/// Events, anomalies and apps of each purchase. Written by `LedgerStore.apply` only.
public struct MarkStore: Sendable {
    private let connection: PostgresConnection

    /// All statements run on this connection.
    public init(_ connection: PostgresConnection) { self.connection = connection }

    /// All marks of one purchase.
    public func marks(of key: SubscriptionKey) async throws -> Marks {
        Marks(
            try await connection.execute(Self.find, key.environment.rawValue, key.originalTransactionId).map { row in
                let kind: String = try row.value("kind")
                guard let kind = Mark.Kind(rawValue: kind) else { throw UnknownMark(kind: kind) }
                return Mark(
                    kind: kind, name: try row.value("name"),
                    version: EventVersion(
                        signedDate: try row.value("news_at"), notificationUUID: try row.value("notification_uuid")),
                    transactionId: try row.optional("transaction_id"))
            })
    }

    static let find = Statement(
        "mark-find",
        """
        select kind, name, news_at, notification_uuid, transaction_id
        from mark
        where environment = $1::text::store_environment and original_transaction_id = $2::text
        """)

    static let upsert = Statement(
        "mark-upsert",
        """
        insert into mark as held (
            environment, original_transaction_id, kind, name, news_at, notification_uuid, transaction_id)
        select environment::store_environment, original_transaction_id, kind, name, news_at, notification_uuid,
            transaction_id
        from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::timestamptz[], $6::uuid[], $7::text[])
            as given (environment, original_transaction_id, kind, name, news_at, notification_uuid, transaction_id)
        order by environment, original_transaction_id, kind, name
        on conflict (environment, original_transaction_id, kind, name) do update
        set news_at = excluded.news_at,
            notification_uuid = excluded.notification_uuid,
            transaction_id = excluded.transaction_id
        where (held.news_at, held.notification_uuid) < (excluded.news_at, excluded.notification_uuid)
        """)

    static func command(upserting marks: [SubscriptionKey: Marks]) -> Command {
        let rows = marks.flatMap { key, marks in marks.all.map { (key: key, mark: $0) } }
        return Command(
            upsert, rows.map(\.key.environment.rawValue), rows.map(\.key.originalTransactionId),
            rows.map(\.mark.kind.rawValue), rows.map(\.mark.name), rows.map(\.mark.version.signedDate),
            rows.map(\.mark.version.notificationUUID), rows.map(\.mark.transactionId))
    }
}

/// A newer build wrote a kind of mark this one does not know.
struct UnknownMark: Error, CustomStringConvertible {
    let kind: String
    var description: String {
        "the database holds marks of the kind “\(kind)”, which this build does not know; use a newer build"
    }
}
