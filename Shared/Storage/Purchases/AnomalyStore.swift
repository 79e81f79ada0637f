import Contracts
import Postgres
import Subscriptions

/// Reads the anomalies of purchases. Only `LedgerStore.apply` writes them.
public struct AnomalyStore: Sendable {
    private let connection: PostgresConnection

    /// All statements run on this connection.
    public init(_ connection: PostgresConnection) { self.connection = connection }

    /// The anomalies of one purchase, in the order of `Anomaly`, without those that only a newer build knows. `otherApp` is
    /// read from the ledger.
    public func anomalies(of key: SubscriptionKey) async throws -> [Anomaly] {
        let names = try await Set(
            connection.execute(
                Self.find, key.environment.rawValue, key.originalTransactionId, Anomaly.otherApp.rawValue
            )
            .map { row in try row.value("name", as: String.self) })
        return Anomaly.allCases.filter { names.contains($0.rawValue) }
    }

    static let find = Statement(
        "anomaly-find",
        """
        select name
        from anomaly
        where environment = $1::text::store_environment and original_transaction_id = $2::text
        union all
        select $3::text
        where exists (
            select
            from notification
            where environment = $1::text::store_environment and original_transaction_id = $2::text
            having count(distinct bundle_id) > 1)
        """)

    static let upsert = Statement(
        "anomaly-upsert",
        unsafeSQL: """
            insert into anomaly as held (\(FoundAnomaly.columns.names()))
            select *
            from unnest(\(FoundAnomaly.columns.placeholders())) as given (\(FoundAnomaly.columns.names()))
            order by environment, original_transaction_id, name
            on conflict (environment, original_transaction_id, name) do update
            set \(FoundAnomaly.columns.overwriting())
            where (held.event_at, held.notification_uuid) < (excluded.event_at, excluded.notification_uuid)
            """)

    static func command(upserting found: [FoundAnomaly]) -> Command {
        Command(upsert, all: FoundAnomaly.columns.parameters(of: found))
    }
}

/// An anomaly of an event.
struct FoundAnomaly: Sendable {
    var key: SubscriptionKey
    var name: String
    var version: EventVersion
    var transactionId: String?

    static let columns: [Column<FoundAnomaly>] = [
        Column("environment", \.key.environment),
        Column("original_transaction_id", \.key.originalTransactionId),
        Column("name", \.name),
        Column("event_at", \.version.signedDate),
        Column("notification_uuid", \.version.notificationUUID),
        Column("transaction_id", \.transactionId),
    ]

    /// The anomalies of some events, the newest of each purchase and kind: a statement writes no row twice.
    static func newest(in events: some Sequence<PurchaseEvent>) -> [FoundAnomaly] {
        var newest: [SubscriptionKey: [String: FoundAnomaly]] = [:]
        for event in events {
            for anomaly in event.anomalies {
                let known = newest[event.key]?[anomaly.rawValue]
                if let known, known.version > event.version { continue }
                newest[event.key, default: [:]][anomaly.rawValue] = FoundAnomaly(
                    key: event.key, name: anomaly.rawValue, version: event.version,
                    transactionId: event.transaction?.transactionId)
            }
        }
        return newest.values.flatMap(\.values)
    }
}
