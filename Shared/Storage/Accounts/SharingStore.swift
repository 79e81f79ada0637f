import Contracts
import Postgres
import Subscriptions

import struct Foundation.Date
import struct Foundation.UUID

/// Operators' settings for Apple accounts that several of the app's accounts use.
///
/// Stored in the database and not in a file, so that every process and every query uses them at once.
public struct SharingStore: Sendable {
    let connection: PostgresConnection

    /// All statements run on this connection.
    public init(_ connection: PostgresConnection) { self.connection = connection }

    /// The configured rules; other apps have the standard ones.
    package func rules() async throws -> [CoverageStore.App: Rule] {
        try Self.rules(try await connection.execute(Self.policies))
    }

    /// The configured policies; other apps have `SharingPolicy.standard`.
    public func policies() async throws -> [CoverageStore.App: SharingPolicy] {
        try Self.policies(try await connection.execute(Self.policies))
    }

    /// The rules of an app for its accounts that use one Apple account.
    package struct Rule: Sendable, Equatable {
        package var policy: SharingPolicy
        /// Whether a restore needs a device mark to move a purchase.
        package var needsDevice: Bool
        /// The number of accounts that may claim one Apple account by uploads, and may use it by `allow`.
        package var mostAccounts: Int

        package init(
            policy: SharingPolicy = .standard, needsDevice: Bool = false, mostAccounts: Int = SharingPolicy.mostAccounts
        ) {
            self.policy = policy
            self.needsDevice = needsDevice
            self.mostAccounts = mostAccounts
        }
    }

    static func policies(_ rows: Rows) throws -> [CoverageStore.App: SharingPolicy] {
        try rules(rows).mapValues(\.policy)
    }

    static func rules(_ rows: Rows) throws -> [CoverageStore.App: Rule] {
        try rows.reduce(into: [:]) { rules, row in
            let app = CoverageStore.App(
                try StoreEnvironment(stored: row.value("environment")), try row.value("bundle_id"))
            rules[app] = Rule(
                policy: SharingPolicy(rawValue: try row.value("policy")) ?? .standard,
                needsDevice: try row.value("needs_device"),
                mostAccounts: Int(try row.value("most_accounts", as: Int32.self)))
        }
    }

    /// Selects the policy of one app in one environment; no row where none is configured.
    static func command(policyOf app: CoverageStore.App) -> Command {
        Command(Self.policy, app.environment.rawValue, app.bundleId)
    }

    /// Sets the policy of an app in an environment, and decides by it who may use each purchase. Restores that were decided before
    /// stay as they are. After an interruption the state-updater applies it to the rest.
    /// - Parameters:
    ///   - needsDevice: whether a restore needs a device mark to move a purchase.
    ///   - mostAccounts: the number of accounts that may claim one Apple account, 1 to 1000; nil keeps it as it is. Claims that are
    ///     stored stay.
    ///   - audit: a row of the audit log, written in the same transaction as the policy.
    ///   - progress: is told of each portion.
    public func setPolicy(
        _ policy: SharingPolicy, needsDevice: Bool = false, mostAccounts: Int? = nil,
        of bundleId: String, in environment: StoreEnvironment, at time: Date, audit: OperatorAction? = nil,
        progress: (PolicyApplication.Portion) -> Void = { _ in }
    ) async throws {
        try await repeating {
            try await connection.transaction { transaction in
                // Transactions that decide by the policy before have committed when the lock is there.
                _ = try transaction.pipeline([
                    Command(
                        Self.setPolicy, environment.rawValue, bundleId, policy.rawValue, time, needsDevice,
                        policy == .standard, mostAccounts.map { Int32($0) }, Int32(SharingPolicy.mostAccounts)),
                    OwnershipLock.all(of: CoverageStore.App(environment, bundleId)),
                ])
                if let audit { _ = try transaction.pipeline([OperatorActionStore.command(recording: [audit])]) }
            }
        }
        let app = CoverageStore.App(environment, bundleId)
        let application = PolicyApplication(connection)
        while let portion = try await application.next(of: app, at: time) {
            try Task.checkCancellation()
            progress(portion)
        }
    }

    /// The accounts that operators chose.
    public func chosen(of bundleId: String, in environment: StoreEnvironment) async throws -> Set<String> {
        Set(
            try await connection.execute(Self.chosen, environment.rawValue, bundleId).map { row in
                try row.value("app_account_token")
            })
    }

    /// Chooses an account: on a shared Apple account it is entitled, and other accounts only if chosen as well.
    public func choose(
        _ token: String, of bundleId: String, in environment: StoreEnvironment, at time: Date
    ) async throws {
        let token = try UUID(accountToken: token)
        try await repeating {
            try await connection.transaction { transaction in
                try Self.choose(token, of: CoverageStore.App(environment, bundleId), at: time, in: transaction)
            }
        }
    }

    /// Chooses an account, or removes its choice, with a row of the audit log, both or neither.
    /// - Returns: false where a choice is removed that was not made; then there is no row.
    package func choose(
        _ account: UUID, undo: Bool, of app: CoverageStore.App, audit: OperatorAction
    ) async throws -> Bool {
        try await repeating {
            try await connection.transaction { transaction in
                if undo {
                    guard try Self.unchoose(account, of: app, at: audit.actedAt, in: transaction) else { return false }
                } else {
                    try Self.choose(account, of: app, at: audit.actedAt, in: transaction)
                }
                try transaction.commit(after: [OperatorActionStore.command(recording: [audit])])
                return true
            }
        }
    }

    private static func choose(
        _ token: UUID, of app: CoverageStore.App, at time: Date, in transaction: PostgresTransaction
    ) throws {
        _ = try transaction.execute(Self.choose, app.environment.rawValue, app.bundleId, token, time)
        try decide(token, of: app, at: time, in: transaction)
    }

    /// Decides about all purchases that an account owns or claims, those of the app itself among them. Transactions that decide by the choice before have committed when
    /// the lock is there.
    private static func decide(
        _ token: UUID, of app: CoverageStore.App, at time: Date, in transaction: PostgresTransaction
    ) throws {
        let reached = try transaction.pipeline([
            OwnershipLock.all(of: app), OwnershipStore.command(reachedFrom: OwnershipChange(), account: (token, app)),
        ])[1]
        try OwnershipStore.decide(
            OwnershipChange(try OwnershipStore.purchases(reached).map(\.id), of: app), at: time, in: transaction)
        try AccountAppStore.decide(
            AccountAppStore.identities(of: token, app, in: transaction), app, in: transaction)
    }

    /// Removes the choice of an account, so that the policy decides again.
    /// - Returns: whether the account was chosen.
    public func unchoose(
        _ token: String, of bundleId: String, in environment: StoreEnvironment, at time: Date
    ) async throws -> Bool {
        let token = try UUID(accountToken: token)
        return try await repeating {
            try await connection.transaction { transaction in
                try Self.unchoose(token, of: CoverageStore.App(environment, bundleId), at: time, in: transaction)
            }
        }
    }

    private static func unchoose(
        _ token: UUID, of app: CoverageStore.App, at time: Date, in transaction: PostgresTransaction
    ) throws -> Bool {
        let removed = try transaction.execute(Self.unchoose, app.environment.rawValue, app.bundleId, token).affected
        try decide(token, of: app, at: time, in: transaction)
        return removed > 0
    }

    static let policies = Statement(
        "sharing-policies",
        "select environment::text as environment, bundle_id, policy, needs_device, most_accounts from sharing_policy")

    static let policy = Statement(
        "sharing-policy",
        """
        select environment::text as environment, bundle_id, policy, needs_device, most_accounts
        from sharing_policy
        where environment = $1::text::store_environment and bundle_id = $2::text
        """)

    /// A device mark decides about later restores alone, the number of accounts about those that share by `allow`, and without a row
    /// the standard policy was applied.
    static let setPolicy = Statement(
        "sharing-set-policy",
        """
        insert into sharing_policy as known (
            environment, bundle_id, policy, decided_at, needs_device, is_applied, most_accounts)
        values (
            $1::text::store_environment, $2::text, $3::text, $4::timestamptz, $5::boolean, $6::boolean,
            coalesce($7::integer, $8::integer))
        on conflict (environment, bundle_id) do update
        set policy = excluded.policy, decided_at = excluded.decided_at, needs_device = excluded.needs_device,
            most_accounts = coalesce($7::integer, known.most_accounts),
            is_applied = known.is_applied and known.policy = excluded.policy
                and (coalesce($7::integer, known.most_accounts) = known.most_accounts or excluded.policy <> 'allow'),
            applied_purchase = case
                when known.policy = excluded.policy
                    and (coalesce($7::integer, known.most_accounts) = known.most_accounts or excluded.policy <> 'allow')
                then known.applied_purchase
            end
        """)

    static let chosen = Statement(
        "sharing-chosen",
        """
        select app_account_token::text as app_account_token
        from chosen_account
        where environment = $1::text::store_environment and bundle_id = $2::text
        """)

    static let choose = Statement(
        "sharing-choose",
        """
        insert into chosen_account (environment, bundle_id, app_account_token, decided_at)
        values ($1::text::store_environment, $2::text, $3::uuid, $4::timestamptz)
        on conflict do nothing
        """)

    static let unchoose = Statement(
        "sharing-unchoose",
        """
        delete from chosen_account
        where environment = $1::text::store_environment and bundle_id = $2::text and app_account_token = $3::uuid
        """)
}
