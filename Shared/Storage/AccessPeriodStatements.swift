import Postgres
import Subscriptions

/// The statements on access periods in the transaction of `LedgerStore.apply`. Only rows that differ are written.
enum AccessPeriodStatements {
    /// Runs after the purchases are locked.
    static let ofPurchases = Statement(
        "access-period-of-purchases",
        unsafeSQL: """
            select \(AccessPeriodRow.selected)
            \(PurchaseKeys.lookingUp("access_period"))
            """)

    /// The start identifies a period of a purchase.
    static let remove = Statement(
        "access-period-remove",
        """
        delete from access_period
        using unnest($1::text[], $2::text[], $3::timestamptz[])
            as given (environment, original_transaction_id, starts_at)
        where access_period.environment = given.environment::store_environment
            and access_period.original_transaction_id = given.original_transaction_id
            and lower(access_period.period) = given.starts_at
        """)

    static let insert = Statement(
        "access-period-insert",
        unsafeSQL: """
            insert into access_period (\(AccessPeriodRow.columns.names()), period)
            select \(AccessPeriodRow.columns.names()), tstzrange(starts_at, ends_at)
            from unnest(
                \(AccessPeriodRow.columns.placeholders()),
                \(AccessPeriodRow.bounds.placeholders(from: AccessPeriodRow.columns.count + 1))
            ) as given (\(AccessPeriodRow.columns.names()), \(AccessPeriodRow.bounds.names()))
            order by environment, original_transaction_id, starts_at
            """)

    static func command(periodsOf keys: [SubscriptionKey]) -> Command {
        Command(ofPurchases, keys.map(\.environment.rawValue), keys.map(\.originalTransactionId))
    }

    /// The commands that turn `before` into `after`; deletes come before inserts, so that no two periods overlap at any time.
    static func commands(from before: Set<AccessPeriodRow>, to after: Set<AccessPeriodRow>) -> [Command] {
        let gone = Array(before.subtracting(after))
        let new = Array(after.subtracting(before))
        var commands: [Command] = []
        if !gone.isEmpty {
            commands.append(
                Command(
                    remove, gone.map(\.key.environment.rawValue), gone.map(\.key.originalTransactionId),
                    gone.map(\.startsAt)))
        }
        if !new.isEmpty {
            commands.append(
                Command(
                    insert,
                    all: AccessPeriodRow.columns.parameters(of: new) + AccessPeriodRow.bounds.parameters(of: new)))
        }
        return commands
    }
}
