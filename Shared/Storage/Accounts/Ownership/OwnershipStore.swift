import Contracts
import Postgres
import Subscriptions

import struct Foundation.Date
import struct Foundation.UUID

/// Writes who may use which purchase (`purchase_account`), decided by ``AppleAccount`` alone.
///
/// A transaction that changes what decides it, such as a claim, calls ``decide(_:at:in:)`` after its other writes.
enum OwnershipStore {
    /// Decides about all purchases of the Apple accounts that a change concerns, and writes the rows that differ.
    static func decide(_ change: OwnershipChange, at now: Date, in transaction: PostgresTransaction) throws {
        guard !change.isEmpty else { return }
        let purchases = try lockedPurchases(of: change, in: transaction)
        let inputs = try OwnershipInputs.read(
            transaction.pipeline(OwnershipInputs.commands(reading: purchases))[...])
        _ = try transaction.pipeline([Command(OwnershipLock.end)] + writes(of: inputs, at: now))
    }

    /// Locks all Apple accounts that a change will concern, before it is decided what changes. The next round trip gives back one
    /// result more, the first.
    static func lock(_ change: OwnershipChange, in transaction: PostgresTransaction) throws {
        _ = try lockedPurchases(of: change, in: transaction)
        try transaction.send([Command(OwnershipLock.end)])
    }

    /// All purchases of the Apple accounts that a change concerns, locked. Reads until all customers that show up are locked: almost
    /// always once. Otherwise all locks are given back and taken in their order, because two transactions that each lack a name of the
    /// other would wait for each other.
    private static func lockedPurchases(
        of change: OwnershipChange, in transaction: PostgresTransaction
    ) throws -> Set<OwnershipChange.Name> {
        var locks = change.locks
        while true {
            // The statement after the locks sees what was committed until they were there.
            let rows = try transaction.pipeline(
                [Command(OwnershipLock.begin)] + OwnershipLock.commands(locks)
                    + [command(lockable, reachedFrom: change)])
            var (purchases, customers): (Set<OwnershipChange.Name>, Set<OwnershipLock>) = ([], [])
            for row in rows[rows.count - 1] {
                let name = try Self.name(row)
                if try row.value("is_customer", as: Bool.self) {
                    customers.insert(.customer(name))
                } else {
                    purchases.insert(name)
                }
            }
            let wholly = OwnershipLock.apps(lockedWhollyFor: locks)
            let missing = customers.filter { !wholly.contains($0.app) && !locks.contains($0) }
            if missing.isEmpty { return purchases }
            locks.formUnion(missing)
            _ = try transaction.pipeline([Command(OwnershipLock.giveBack)])
        }
    }

    /// The inputs of all purchases of the Apple accounts that a change concerns.
    /// - Parameter account: whose purchases they concern, too.
    static func inputs(
        of change: OwnershipChange, account: (token: UUID, app: CoverageStore.App)? = nil,
        in transaction: PostgresTransaction
    ) throws -> [CoverageStore.App: OwnershipInputs] {
        let found = try purchases(transaction.pipeline([command(reachedFrom: change, account: account)])[0])
        return try OwnershipInputs.read(transaction.pipeline(OwnershipInputs.commands(reading: found))[...])
    }

    /// The commands that turn the stored decision into the one by the inputs.
    private static func writes(of inputs: [CoverageStore.App: OwnershipInputs], at now: Date) -> [Command] {
        let held = inputs.values.reduce(into: Set<PurchaseAccount>()) { $0.formUnion($1.held) }
        let decided = inputs.values.reduce(into: Set<PurchaseAccount>()) { $0.formUnion($1.decided()) }
        let (gone, new) = (held.subtracting(decided), decided.subtracting(held))
        let kept = Set(new.map(Place.init))
        let removed = gone.filter { !kept.contains(Place($0)) }
        var commands: [Command] = []
        if !removed.isEmpty {
            commands.append(
                Command(
                    remove, removed.map(\.key.environment.rawValue), removed.map(\.key.originalTransactionId),
                    removed.map(\.bundleId), removed.map(\.account)))
        }
        if !new.isEmpty {
            let new = Array(new)
            commands.append(
                Command(
                    upsert, now, new.map(\.key.environment.rawValue), new.map(\.key.originalTransactionId),
                    new.map(\.bundleId), new.map(\.account), new.map(\.mayUse), new.map(\.because.rawValue)))
        }
        // A row of an account that is only added raises the sum of its purchases' revisions.
        if !gone.isEmpty {
            commands.append(Command(raise, gone.map(\.account), gone.map(\.key.environment.rawValue)))
        }
        return commands
    }

    private struct Place: Hashable {
        var key: SubscriptionKey
        var bundleId: String
        var appAccountToken: String

        init(_ account: PurchaseAccount) {
            (key, bundleId, appAccountToken) = (account.key, account.bundleId, account.appAccountToken)
        }
    }

    /// Selects all purchases of the Apple accounts that a change concerns, and of those whose purchases an account owns, claims or
    /// may use.
    static func command(
        reachedFrom change: OwnershipChange, account: (token: UUID, app: CoverageStore.App)? = nil
    ) -> Command {
        command(reached, reachedFrom: change, account: account)
    }

    private static func command(
        _ statement: Statement, reachedFrom change: OwnershipChange,
        account: (token: UUID, app: CoverageStore.App)? = nil
    ) -> Command {
        let (purchases, customers) = (Array(change.purchases), Array(change.customers))
        return Command(
            statement, purchases.map(\.app.environment.rawValue), purchases.map(\.app.bundleId), purchases.map(\.id),
            customers.map(\.app.environment.rawValue), customers.map(\.app.bundleId), customers.map(\.id),
            account?.token, account?.app.environment.rawValue, account?.app.bundleId)
    }

    static func purchases(_ rows: Rows) throws -> Set<OwnershipChange.Name> {
        try rows.reduce(into: []) { found, row in found.insert(try name(row)) }
    }

    private static func name(_ row: Row) throws -> OwnershipChange.Name {
        OwnershipChange.Name(
            app: CoverageStore.App(
                try StoreEnvironment(stored: row.value("environment")), try row.value("bundle_id")),
            id: try row.value("original_transaction_id"))
    }

    static let statements =
        OwnershipLock.statements + OwnershipInputs.statements + [reached, lockable, remove, upsert, raise]

    /// Purchases and Apple's ids of customers take turns, so that a customer of thousands of purchases costs no more for each. As
    /// joins of the view, without the subqueries, the planner expects a billion rows and each call clears a hash table of megabytes.
    private static let names = """
        with recursive named (is_customer, environment, bundle_id, id) as (
            (
                select false, environment::store_environment, bundle_id, id
                from unnest($1::text[], $2::text[], $3::text[]) as given (environment, bundle_id, id)
                union
                select true, environment::store_environment, bundle_id, id
                from unnest($4::text[], $5::text[], $6::text[]) as given (environment, bundle_id, id)
                union
                select false, environment, bundle_id, original_transaction_id
                from purchase_account
                where app_account_token = $7::uuid and environment = $8::text::store_environment
                    and bundle_id = $9::text
            )
            union
            select not named.is_customer, named.environment, named.bundle_id, next.id
            from named
            cross join lateral (
                (
                    select app_transaction_id as id
                    from purchase_owner
                    where not named.is_customer and environment = named.environment and bundle_id = named.bundle_id
                        and original_transaction_id = named.id
                    offset 0
                )
                union all
                (
                    select original_transaction_id
                    from purchase_owner
                    where named.is_customer and environment = named.environment and bundle_id = named.bundle_id
                        and app_transaction_id = named.id
                    offset 0
                )
            ) as next
            where next.id is not null
        )
        """

    private static let reached = Statement(
        "ownership-reached",
        unsafeSQL: """
            \(names)
            select environment::text as environment, bundle_id, id as original_transaction_id
            from named
            where not is_customer
            """)

    /// The same, and Apple's ids of the customers on the way.
    private static let lockable = Statement(
        "ownership-lockable",
        unsafeSQL: """
            \(names)
            select environment::text as environment, bundle_id, id as original_transaction_id, is_customer
            from named
            """)

    private static let remove = Statement(
        "ownership-remove",
        """
        delete from purchase_account
        using unnest($1::text[], $2::text[], $3::text[], $4::uuid[])
            as gone (environment, original_transaction_id, bundle_id, app_account_token)
        where purchase_account.environment = gone.environment::store_environment
            and purchase_account.original_transaction_id = gone.original_transaction_id
            and purchase_account.bundle_id = gone.bundle_id
            and purchase_account.app_account_token = gone.app_account_token
        """)

    /// As the function `raise_account_version`.
    private static let raise = Statement(
        "ownership-raise",
        """
        insert into account_version as known (version, app_account_token, environment)
        select pg_current_xact_id()::text::bigint, app_account_token, environment::store_environment
        from (
            select distinct app_account_token, environment
            from unnest($1::uuid[], $2::text[]) as given (app_account_token, environment)
        ) as changed
        order by app_account_token, environment
        on conflict (app_account_token, environment) do update
        set version = greatest(known.version + 1, excluded.version)
        """)

    private static let upsert = Statement(
        "ownership-upsert",
        """
        insert into purchase_account (
            decided_at, environment, original_transaction_id, bundle_id, app_account_token, may_use, because)
        select $1::timestamptz, environment::store_environment, original_transaction_id, bundle_id, app_account_token,
            may_use, because
        from unnest($2::text[], $3::text[], $4::text[], $5::uuid[], $6::boolean[], $7::text[])
            as given (environment, original_transaction_id, bundle_id, app_account_token, may_use, because)
        order by environment, original_transaction_id, bundle_id, app_account_token
        on conflict (environment, original_transaction_id, bundle_id, app_account_token) do update
        set decided_at = excluded.decided_at, may_use = excluded.may_use, because = excluded.because
        """)
}

extension PurchaseAccount {
    /// `PurchaseEvent` drops tokens that are no UUID; this is a safeguard.
    fileprivate var account: UUID { UUID(uuidString: appAccountToken) ?? .zero }
}
