import Postgres
import Subscriptions

import struct Foundation.Date

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

    static let change = Statement(
        "access-period-change",
        unsafeSQL: """
            update access_period
            set \(AccessPeriodRow.columns.overwriting(by: "given")), period = tstzrange(starts_at, ends_at)
            from \(given)
            where access_period.environment = given.environment
                and access_period.original_transaction_id = given.original_transaction_id
                and lower(access_period.period) = given.starts_at
            """)

    static let insert = Statement(
        "access-period-insert",
        unsafeSQL: """
            insert into access_period (\(AccessPeriodRow.columns.names()), period)
            select \(AccessPeriodRow.columns.names()), tstzrange(starts_at, ends_at)
            from \(given)
            order by environment, original_transaction_id, starts_at
            """)

    private static let given = """
        unnest(\((AccessPeriodRow.columns + AccessPeriodRow.bounds).placeholders()))
            as given (\((AccessPeriodRow.columns + AccessPeriodRow.bounds).names()))
        """

    static func command(periodsOf keys: [SubscriptionKey]) -> Command {
        Command(ofPurchases, keys.map(\.environment.rawValue), keys.map(\.originalTransactionId))
    }

    /// The commands that turn `before` into `after`, in an order in which no two periods overlap at any time.
    static func commands(from before: Set<AccessPeriodRow>, to after: Set<AccessPeriodRow>) -> [Command] {
        let gone = before.subtracting(after)
        let new = after.subtracting(before)
        let (known, kept) = (Set(gone.map(Start.init)), Set(new.map(Start.init)))
        let removed = gone.filter { !kept.contains(Start($0)) }
        let changed = Array(new.filter { known.contains(Start($0)) })
        let inserted = Array(new.filter { !known.contains(Start($0)) })
        var commands: [Command] = []
        if !removed.isEmpty {
            commands.append(
                Command(
                    remove, removed.map(\.key.environment.rawValue), removed.map(\.key.originalTransactionId),
                    removed.map(\.startsAt)))
        }
        for (statement, rows) in [(change, changed), (insert, inserted)] where !rows.isEmpty {
            commands.append(
                Command(
                    statement,
                    all: AccessPeriodRow.columns.parameters(of: rows) + AccessPeriodRow.bounds.parameters(of: rows)))
        }
        return commands
    }

    private struct Start: Hashable {
        var key: SubscriptionKey
        var startsAt: Date

        init(_ row: AccessPeriodRow) { (key, startsAt) = (row.key, row.startsAt) }
    }
}
