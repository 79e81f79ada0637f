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
    /// - Parameter mostAccounts: the number of the app's accounts that may claim one Apple account; nil keeps it as it is. The claims
    ///   that are stored stay.
    public func trial(
        of policy: SharingPolicy, mostAccounts: Int? = nil, for bundleId: String, in environment: StoreEnvironment
    ) async throws -> PolicyTrial {
        let app = CoverageStore.App(environment, bundleId)
        return try await connection.transaction(isolation: .repeatableRead) { transaction in
            let contested = try OwnershipStore.purchases(
                transaction.execute(Self.contested, environment.rawValue, bundleId))
            var trial = PolicyTrial(shared: contested.count)
            guard !contested.isEmpty else { return trial }
            let inputs = try OwnershipInputs.read(
                transaction.pipeline(OwnershipInputs.commands(reading: contested))[...])[app]
            func users(_ accounts: [PurchaseAccount]?) -> [SubscriptionKey: Set<String>] {
                (accounts ?? []).reduce(into: [:]) { users, one in
                    if one.mayUse { users[one.key, default: []].insert(one.appAccountToken) }
                }
            }
            let most = mostAccounts ?? inputs?.rule.mostAccounts ?? SharingPolicy.mostAccounts
            let rule = Rule(policy: policy, mostAccounts: most)
            let (now, then) = (users(inputs?.held), users(inputs?.decided(by: rule)))
            trial.moved = Set(now.keys).union(then.keys).filter { now[$0] != then[$0] }.sorted()
            return trial
        }
    }

    /// The purchases of Apple accounts that several of the app's accounts use.
    static let contested = Statement(
        "sharing-contested",
        """
        with owned as materialized (
            select customer, original_transaction_id
            from customer_purchase
            where environment = $1::text::store_environment and bundle_id = $2::text
        )
        select $1::text as environment, $2::text as bundle_id, owned.original_transaction_id
        from owned
        where owned.customer in (
            select owned.customer
            from owned
            join purchase_account held
                on held.environment = $1::text::store_environment and held.bundle_id = $2::text
                and held.original_transaction_id = owned.original_transaction_id
            group by owned.customer
            having count(distinct held.app_account_token) > 1)
        """)
}
