import Contracts
import Postgres
import Subscriptions

/// The statements of `SubscriptionStore`.
enum SubscriptionStatements {
    static let find = Statement(
        "subscription-find",
        unsafeSQL: """
            select \(SubscriptionColumns.selected)
            from subscription
            where environment = $1::text::store_environment and original_transaction_id = $2::text
            """)

    static let page = Statement(
        "subscription-page",
        unsafeSQL: """
            select \(SubscriptionColumns.selected)
            from subscription
            where environment = $1::text::store_environment and original_transaction_id > $2::text
            order by original_transaction_id
            limit $3::bigint
            """)

    /// Reads purchases.
    static let ofPurchases = Statement(
        "subscription-of-purchases",
        unsafeSQL: """
            select \(SubscriptionColumns.selected)
            \(PurchaseKeys.lookingUp("subscription"))
            """)

    /// Reads the purchases of a batch and locks them, in the given order, until the transaction ends.
    static let lock = Statement(
        "subscription-lock",
        unsafeSQL: """
            select \(SubscriptionColumns.selected)
            \(PurchaseKeys.lookingUp("subscription", "for update"))
            """)

    /// Inserts new purchases. The caller compares the number of rows written with the number of rows sent.
    static let insert = Statement(
        "subscription-insert",
        unsafeSQL: """
            insert into subscription (\(SubscriptionColumns.names))
            select *
            from unnest(\(SubscriptionColumns.placeholders)) as given (\(SubscriptionColumns.names))
            order by environment, original_transaction_id
            on conflict do nothing
            """)

    /// Updates a row only if it has the revision that the writer read; the version is compared too, in case an operator
    /// restored a row. The caller compares the number of rows written with the number of rows sent.
    static let update = Statement(
        "subscription-update",
        unsafeSQL: """
            update subscription as held
            set \(SubscriptionColumns.overwriting(by: "given"))
            from unnest(\(SubscriptionColumns.placeholders), $\(SubscriptionColumns.count + 1)::bigint[])
                as given (\(SubscriptionColumns.names), read_revision)
            where held.environment = given.environment
                and held.original_transaction_id = given.original_transaction_id
                and held.revision = given.read_revision
                and (held.signed_at, held.notification_uuid) <= (given.signed_at, given.notification_uuid)
            """)

    static func command(reading keys: [SubscriptionKey]) -> Command {
        Command(ofPurchases, keys.map(\.environment.rawValue), keys.map(\.originalTransactionId))
    }

    static func command(locking keys: [SubscriptionKey]) -> Command {
        Command(lock, keys.map(\.environment.rawValue), keys.map(\.originalTransactionId))
    }

    /// - Parameter purchases: stored and new ones.
    static func commands(writing purchases: [PurchaseInBatch]) -> [Command] {
        let new = purchases.filter { $0.readRevision == 0 }
        let known = purchases.filter { $0.readRevision != 0 }
        var commands: [Command] = []
        if !new.isEmpty {
            commands.append(Command(insert, all: SubscriptionColumns.parameters(of: new.compactMap(\.row))))
        }
        if !known.isEmpty {
            commands.append(
                Command(
                    update,
                    all: SubscriptionColumns.parameters(of: known.compactMap(\.row)) + [known.map(\.readRevision)]))
        }
        return commands
    }
}

extension PurchaseInBatch {
    /// The row to write.
    fileprivate var row: SubscriptionRevision? {
        subscription.map {
            SubscriptionRevision(subscription: $0, revision: revision, unexplainedStatus: unexplainedStatus)
        }
    }
}
