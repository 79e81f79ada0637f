import Contracts
import Postgres
import Subscriptions

/// What another policy for shared Apple accounts would change, without changing it.
public struct PolicyTrial: Sendable, Equatable {
    /// Number of purchases on Apple accounts that several of the app's accounts use; others do not depend on the policy.
    public var shared = 0
    /// The purchases that other accounts would have.
    public var moved: [SubscriptionKey] = []
}

extension SharingStore {
    /// Compares who has each purchase of an app now and under another policy.
    public func trial(
        of policy: SharingPolicy, for bundleId: String, in environment: StoreEnvironment
    ) async throws -> PolicyTrial {
        let app = CoverageStore.App(environment, bundleId)
        let current = try await policies()[app] ?? .standard
        let chosen = try await chosen(of: bundleId, in: environment)
        let rows = try await connection.execute(Self.contested, environment.rawValue, bundleId)
        var customers: [String: [OwnedPurchase]] = [:]
        for row in rows {
            customers[try row.value("customer"), default: []].append(
                OwnedPurchase(
                    key: SubscriptionKey(
                        environment: environment, originalTransactionId: try row.value("original_transaction_id")),
                    bundleId: bundleId, appTransactionId: try row.optional("app_transaction_id"),
                    appAccountToken: try row.optional("owner_account"), boughtAt: try row.optional("bought_at")))
        }
        let purchases = customers.values.flatMap { $0.map(\.key.originalTransactionId) }
        let claims = Dictionary(
            grouping: try await connection.execute(
                StatePreviewStore.claims, environment.rawValue, bundleId, purchases
            ).map { row in try AccountClaim(row, of: bundleId, in: environment) }, by: \.key)
        let moves = try TransferStore.moves(
            try await connection.pipeline([TransferStore.command(movesOf: purchases, in: app)])[0])
        var trial = PolicyTrial()
        for owned in customers.values {
            for account in AppleAccount.all(in: owned.flatMap { claims[$0.key] ?? [] }, purchases: owned, moves: moves)
            {
                trial.shared += account.keys.count
                trial.moved += account.keys.filter { key in
                    account.entitledTokens(to: key, current, chosen: chosen)
                        != account.entitledTokens(to: key, policy, chosen: chosen)
                }
            }
        }
        trial.moved.sort()
        return trial
    }

    /// The purchases of Apple accounts that several of the app's accounts use.
    static let contested = Statement(
        "sharing-contested",
        """
        with owned as materialized (
            select customer, original_transaction_id
            from customer_purchase
            where environment = $1::text::store_environment and bundle_id = $2::text
        ), named as (
            select original_transaction_id, app_account_token
            from account_claim
            where environment = $1::text::store_environment and bundle_id = $2::text
            union
            select original_transaction_id, owner_account_token
            from subscription
            where environment = $1::text::store_environment and bundle_id = $2::text and owner_account_token is not null
        )
        select owned.customer, owned.original_transaction_id, held.app_transaction_id,
            held.owner_account_token::text as owner_account, (
                select max(bought.purchased_at)
                from transaction bought
                where bought.environment = $1::text::store_environment
                    and bought.original_transaction_id = owned.original_transaction_id
                    and bought.transaction_reason = 'PURCHASE' and bought.app_account_token is not null
            ) as bought_at
        from owned
        left join subscription held
            on held.environment = $1::text::store_environment
            and held.original_transaction_id = owned.original_transaction_id
        where owned.customer in (
            select owned.customer
            from owned
            join named using (original_transaction_id)
            group by owned.customer
            having count(distinct named.app_account_token) > 1)
        """)
}
