import Contracts
import Postgres
import Subscriptions

import struct Foundation.Date

/// Decides again, in portions, who may use the purchases of an app after its policy was set.
///
/// Each portion is one transaction that also stores its progress, so another process continues where one was interrupted: the command
/// that sets a policy applies it, and the state-updater applies what is left. Until then purchases after the stored progress are
/// used by the accounts of the policy before. Purchases of the app itself, see ``AccountAppStore``, come last.
public struct PolicyApplication: Sendable {
    private let connection: PostgresConnection

    /// All statements run on this connection.
    public init(_ connection: PostgresConnection) { self.connection = connection }

    /// The result of one portion.
    public struct Portion: Sendable, Equatable {
        /// The app's bundle identifier.
        public var bundleId: String
        /// Production or Sandbox.
        public var environment: StoreEnvironment
        /// Number of purchases decided again; zero where the policy is applied to all.
        public var purchases: Int
    }

    /// Decides about the next purchases of an app whose policy was set.
    /// - Parameter app: nil means any.
    /// - Returns: nil where no policy is left to apply.
    package func next(of app: CoverageStore.App? = nil, limit: Int = 250, at now: Date) async throws -> Portion? {
        try await repeating {
            try await connection.transaction { transaction in
                let pending = try transaction.execute(
                    Self.pending, app?.environment.rawValue, app?.bundleId
                ).first
                guard let pending else { return nil }
                let app = CoverageStore.App(
                    try StoreEnvironment(stored: pending.value("environment")), try pending.value("bundle_id"))
                let decided =
                    try Self.decidePurchases(
                        of: app, after: try pending.optional("applied_purchase"), limit, at: now, in: transaction)
                _ = try transaction.execute(Self.move, app.environment.rawValue, app.bundleId, decided.last)
                return Portion(bundleId: app.bundleId, environment: app.environment, purchases: decided.count)
            }
        }
    }

    /// - Returns: the stored progress after each purchase, and after each purchase of the app itself.
    private static func decidePurchases(
        of app: CoverageStore.App, after progress: String?, _ limit: Int, at now: Date,
        in transaction: PostgresTransaction
    ) throws -> [String] {
        if progress?.hasPrefix(TransferStore.appPrefix) != true {
            let ids = try transaction.execute(
                purchases, app.environment.rawValue, app.bundleId, progress, Int64(limit)
            ).map { row in try row.value("original_transaction_id", as: String.self) }
            try OwnershipStore.decide(OwnershipChange(ids, of: app), at: now, in: transaction)
            if !ids.isEmpty { return ids }
        }
        let identities = try transaction.execute(
            apps, app.environment.rawValue, app.bundleId, progress?.withoutAppPrefix, Int64(limit)
        ).map { row in try row.value("identity", as: String.self) }
        try AccountAppStore.decide(identities, app, in: transaction)
        return identities.map { TransferStore.appPrefix + $0 }
    }

    /// Number of purchases that accounts own or claim, for showing progress.
    package func count(of app: CoverageStore.App) async throws -> Int {
        Int(
            try await connection.execute(Self.count, app.environment.rawValue, app.bundleId)[0].value(
                "purchases", as: Int64.self))
    }

    static let statements = [pending, purchases, apps, move, count]

    /// Locks the policy until the portion is committed, so that two processes take turns.
    private static let pending = Statement(
        "policy-pending",
        """
        select environment::text as environment, bundle_id, applied_purchase
        from sharing_policy
        where not is_applied and ($1::text is null or environment = $1::text::store_environment)
            and ($2::text is null or bundle_id = $2::text)
        order by sharing_policy.environment, bundle_id
        limit 1
        for update
        """)

    private static let purchases = Statement(
        "policy-purchases",
        """
        select distinct original_transaction_id
        from purchase_account
        where environment = $1::text::store_environment and bundle_id = $2::text
            and original_transaction_id > coalesce($3::text, '')
        order by original_transaction_id
        limit $4::bigint
        """)

    private static let apps = Statement(
        "policy-apps",
        """
        select distinct identity
        from account_app
        where environment = $1::text::store_environment and bundle_id = $2::text and identity > coalesce($3::text, '')
        order by identity
        limit $4::bigint
        """)

    private static let move = Statement(
        "policy-move",
        """
        update sharing_policy
        set applied_purchase = $3::text, is_applied = $3::text is null
        where environment = $1::text::store_environment and bundle_id = $2::text
        """)

    private static let count = Statement(
        "policy-count",
        """
        select (
            select count(distinct original_transaction_id)
            from purchase_account
            where environment = $1::text::store_environment and bundle_id = $2::text
        ) + (
            select count(distinct identity)
            from account_app
            where environment = $1::text::store_environment and bundle_id = $2::text
        ) as purchases
        """)
}

extension String {
    /// Nil where the progress is still among the purchases.
    fileprivate var withoutAppPrefix: String? {
        hasPrefix(TransferStore.appPrefix) ? String(dropFirst(TransferStore.appPrefix.count)) : nil
    }
}
