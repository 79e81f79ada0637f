import Contracts
import Postgres
import Subscriptions

import struct Foundation.Date
import struct Foundation.UUID

/// The claims of the app's accounts to purchases, and the Apple accounts that several of them share.
public struct CustomerStore: Sendable {
    private let connection: PostgresConnection

    /// All statements run on this connection.
    public init(_ connection: PostgresConnection) { self.connection = connection }

    /// All claims within one app, for ``AppleAccount``; holds them in memory.
    public func claims(of bundleId: String, in environment: StoreEnvironment) async throws -> [AccountClaim] {
        try await connection.execute(Self.claims, environment.rawValue, bundleId).map { row in
            try AccountClaim(row, of: bundleId, in: environment)
        }
    }

    /// Adds claims that do not come from a transaction; `LedgerStore.apply` writes those of transactions. Idempotent.
    ///
    /// A shared Apple account that an upload creates is noticed with the next event of the purchase.
    public func add(_ claims: [AccountClaim]) async throws {
        guard let last = claims.map(\.since).max() else { return }
        try await repeating {
            try await connection.transaction { transaction in
                let written = try transaction.pipeline([ClaimStatements.command(claiming: claims)])
                try OwnershipStore.decide(ClaimStatements.changes(written[0]), at: last, in: transaction)
            }
        }
    }

    /// Purchases that another account may use and this one may not.
    /// - Parameters:
    ///   - account: nil means one that has no claims.
    ///   - isClaimed: whether the account's claims are stored. Before, only a purchase for which Apple names another account
    ///     counts: whether a claim would come first is not known.
    package func withheld(
        _ ids: [String], from account: UUID?, isClaimed: Bool, of bundleId: String, in environment: StoreEnvironment
    ) async throws -> [String] {
        try await connection.execute(Self.withheld, environment.rawValue, bundleId, ids, account, isClaimed)
            .map { row in try row.value("original_transaction_id") }
    }

    /// An Apple account that several of the app's accounts use.
    public struct SharedAccount: Sendable, Equatable {
        /// Apple's id of the customer within the app, or a name derived from a purchase where the transactions have none.
        public var customer: String
        /// The app's bundle identifier.
        public var bundleId: String
        /// The app's accounts, the earliest claim first.
        public var accounts: [Account]

        /// One of the app's accounts.
        public struct Account: Sendable, Equatable {
            /// The account's token, lower-case UUID text.
            public var appAccountToken: String
            /// Its strongest evidence on the Apple account.
            public var evidence: ClaimEvidence
            /// The time of its first claim with that evidence.
            public var since: Date
            /// Whether it may use the purchases of the Apple account.
            public var isEntitled: Bool
        }
    }

    /// All shared Apple accounts, with the accounts that may use their purchases.
    /// - Parameters:
    ///   - bundleId: nil means all apps.
    ///   - limit: Maximum number of the app's accounts in all of them together.
    public func sharedAccounts(
        of bundleId: String? = nil, in environment: StoreEnvironment, limit: Int = .max
    ) async throws -> [SharedAccount] {
        let rows = try await connection.execute(Self.shared, environment.rawValue, bundleId, Int64(limit))
        return try rows.reduce(into: []) { found, row in
            let account = SharedAccount.Account(
                appAccountToken: try row.value("app_account_token"),
                evidence: ClaimEvidence(rawValue: try row.value("evidence")) ?? .old, since: try row.value("since"),
                isEntitled: try row.value("is_entitled"))
            let (customer, app): (String, String) = (try row.value("customer"), try row.value("bundle_id"))
            if let last = found.last, last.customer == customer, last.bundleId == app {
                found[found.count - 1].accounts.append(account)
            } else {
                found.append(SharedAccount(customer: customer, bundleId: app, accounts: [account]))
            }
        }
    }

    static let withheld = Statement(
        "customer-withheld",
        """
        select original_transaction_id
        from purchase_account
        where environment = $1::text::store_environment and bundle_id = $2::text
            and original_transaction_id = any ($3::text[])
        group by original_transaction_id
        having bool_or(may_use and app_account_token is distinct from $4::uuid and ($5::boolean or because = 'owner'))
                and not bool_or(may_use and app_account_token is not distinct from $4::uuid)
            or bool_or(app_account_token = $4::uuid and not may_use)
        order by original_transaction_id
        """)

    static let claims = Statement(
        "customer-claims",
        """
        select original_transaction_id, app_transaction_id, app_account_token::text as app_account_token, since, signed_at,
            evidence::text as evidence
        from account_claim
        where environment = $1::text::store_environment and bundle_id = $2::text
        """)

    static let shared = Statement(
        "customer-shared",
        """
        select customer, bundle_id, app_account_token::text as app_account_token, evidence::text as evidence, since,
            is_entitled
        from shared_account
        where environment = $1::text::store_environment and ($2::text is null or bundle_id = $2::text)
        order by bundle_id, customer, shared_account.evidence, since, signed_at desc, shared_account.app_account_token
        limit $3::bigint
        """)
}

extension AccountClaim {
    init(_ row: Row, of bundleId: String, in environment: StoreEnvironment) throws {
        self.init(
            key: SubscriptionKey(
                environment: environment, originalTransactionId: try row.value("original_transaction_id")),
            bundleId: bundleId, appTransactionId: try row.optional("app_transaction_id"),
            appAccountToken: try row.value("app_account_token"),
            evidence: ClaimEvidence(rawValue: try row.value("evidence")) ?? .old, since: try row.value("since"),
            signedAt: try row.value("signed_at"))
    }
}
