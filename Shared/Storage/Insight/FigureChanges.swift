import Postgres
import Subscriptions

/// The queue of purchases whose figures have to be computed again. A transaction that changes transactions or access periods adds
/// to it; a purchase may be in it several times.
enum FigureChanges {
    static func command(adding keys: [SubscriptionKey]) -> Command {
        Command(insert, keys.map(\.environment.rawValue), keys.map(\.originalTransactionId))
    }

    static let insert = Statement(
        "insight-change-insert",
        """
        insert into insight_change (environment, original_transaction_id)
        select environment::store_environment, original_transaction_id
        from unnest($1::text[], $2::text[]) as given (environment, original_transaction_id)
        """)
}
