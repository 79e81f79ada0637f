import Contracts
import Postgres
import Subscriptions

/// What another policy for shared Apple accounts would change, without changing it.
public struct PolicyTrial: Sendable, Equatable {
    /// Number of purchases on Apple accounts that several of the app's accounts use; others do not depend on the policy.
    public var shared = 0
    /// The purchases that other accounts would have.
    public var moved: [SubscriptionKey] = []
    /// Number of customers whose app transaction several of the app's accounts have sent.
    public var sharedApps = 0
    /// The customers of the app transactions that other accounts would have: Apple's id of each, or a digest where there is none.
    public var movedApps: [String] = []
}

extension SharingStore {
    /// Compares who has each purchase of an app, and each app transaction, now and under another policy.
    /// - Parameter mostAccounts: the number of the app's accounts that may claim one Apple account; nil keeps it as it is. The claims
    ///   that are stored stay.
    public func trial(
        of policy: SharingPolicy, mostAccounts: Int? = nil, for bundleId: String, in environment: StoreEnvironment
    ) async throws -> PolicyTrial {
        let app = CoverageStore.App(environment, bundleId)
        return try await connection.transaction(isolation: .repeatableRead) { transaction in
            func rule(_ present: Rule?) -> Rule {
                Rule(
                    policy: policy, mostAccounts: mostAccounts ?? present?.mostAccounts ?? SharingPolicy.mostAccounts)
            }
            var trial = PolicyTrial()
            let contested = try OwnershipStore.purchases(
                transaction.execute(Self.contested, environment.rawValue, bundleId))
            trial.shared = contested.count
            if !contested.isEmpty {
                let inputs = try OwnershipInputs.read(
                    transaction.pipeline(OwnershipInputs.commands(reading: contested))[...])[app]
                let (now, then) = (users(inputs?.held), users(inputs?.decided(by: rule(inputs?.rule))))
                trial.moved = Set(now.keys).union(then.keys).filter { now[$0] != then[$0] }.sorted()
            }
            let sent = try AppTransactionUploads.contested(app, in: transaction)
            let shared = sent.all.filter { Set(sent.uploads(of: $0).map(\.appAccountToken)).count > 1 }
            trial.sharedApps = shared.count
            guard !shared.isEmpty else { return trial }
            let inputs = try AccountAppStore.inputs(of: shared, in: sent, app, in: transaction)
            trial.movedApps = shared.filter { customer in
                let now = Set(sent.uploads(of: customer).filter(\.isEntitled).map(\.appAccountToken.lowercasedText))
                let then = users(inputs[customer]?.decided(by: rule(inputs[customer]?.rule)))
                return now != then.values.reduce(into: []) { $0.formUnion($1) }
            }
            return trial
        }
    }

    private func users(_ accounts: [PurchaseAccount]?) -> [SubscriptionKey: Set<String>] {
        (accounts ?? []).reduce(into: [:]) { users, one in
            if one.mayUse { users[one.key, default: []].insert(one.appAccountToken) }
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
