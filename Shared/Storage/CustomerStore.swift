import Contracts
import Postgres
import Subscriptions

import struct Foundation.Date

/// Which of the app's accounts claim which purchases.
public struct CustomerStore: Sendable {
    private let connection: PostgresConnection

    /// All statements run on this connection.
    public init(_ connection: PostgresConnection) { self.connection = connection }

    /// All claims within one app, for ``AppleAccount``; holds them in memory.
    public func claims(of bundleId: String, in environment: StoreEnvironment) async throws -> [AccountClaim] {
        try await connection.execute(Self.claims, environment.rawValue, bundleId).map { row in
            AccountClaim(
                key: SubscriptionKey(
                    environment: environment, originalTransactionId: try row.value("original_transaction_id")),
                bundleId: bundleId, appTransactionId: try row.optional("app_transaction_id"),
                appAccountToken: try row.value("app_account_token"), since: try row.value("since"))
        }
    }

    /// The app's accounts that live on one Apple account with others, the earliest claim first: one list per Apple
    /// account.
    public func sharedAccounts(of bundleId: String, in environment: StoreEnvironment) async throws -> [[String]] {
        try await connection.execute(Self.shared, environment.rawValue, bundleId).map { row in
            try row.value("tokens", as: String.self).split(separator: " ").map(String.init)
        }
    }

    static let claims = Statement(
        "customer-claims",
        """
        select original_transaction_id, app_transaction_id, app_account_token, since
        from account_claim
        where environment = $1::text::store_environment and bundle_id = $2::text
        """)

    /// A token is a UUID, so a space parts them.
    static let shared = Statement(
        "customer-shared",
        """
        select array_to_string(tokens, ' ') as tokens
        from shared_account
        where environment = $1::text::store_environment and bundle_id = $2::text
        order by customer
        """)
}
