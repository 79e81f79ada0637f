import Contracts
import Postgres
import Subscriptions

import struct Foundation.Date

/// What customers may use, answered by the database.
public struct EntitlementStore: Sendable {
    private let connection: PostgresConnection

    /// All statements run on this connection.
    public init(_ connection: PostgresConnection) { self.connection = connection }

    /// One purchase and what it gives.
    public struct Row: Sendable, Equatable {
        /// The purchase.
        public var key: SubscriptionKey
        /// The app.
        public var bundleId: String
        /// The transaction that decided; nil where none is known.
        public var transactionId: String?
        /// What was bought; nil where no transaction is known.
        public var productId: String?
        /// Of the product, 1 being the highest; nil where nobody set it.
        public var level: Int32?
        /// Whether a member of the family bought it.
        public var isFamilyShared: Bool
        /// Until when, unless something changes; nil where there is no end or no access.
        public var until: Date?
        /// What it gives or why it gives nothing.
        public var verdict: String
        /// Whether the customer may use what was bought.
        public var givesAccess: Bool
    }

    /// What some purchases give, all being one customer's, sorted by key.
    /// - Parameter now: the clock.
    public func entitlements(
        of purchases: [String], in environment: StoreEnvironment, at now: Date
    ) async throws -> [Row] {
        try await connection.execute(Self.find, environment.rawValue, purchases, now)
            .map { row in try Self.row(row, environment) }
    }

    /// What one of the app's accounts may use, sorted by key: all that its Apple accounts bought, unless the app's
    /// policy refuses it what it shares with another account.
    /// - Parameters:
    ///   - token: the account.
    ///   - now: the clock.
    public func entitlements(
        ofAccount token: String, of bundleId: String, in environment: StoreEnvironment, at now: Date
    ) async throws -> [Row] {
        try await connection.execute(Self.ofAccount, environment.rawValue, bundleId, token.lowercased(), now)
            .map { row in try Self.row(row, environment) }
    }

    private static func row(_ row: Postgres.Row, _ environment: StoreEnvironment) throws -> Row {
        Row(
            key: SubscriptionKey(
                environment: environment, originalTransactionId: try row.value("original_transaction_id")),
            bundleId: try row.value("bundle_id"), transactionId: try row.optional("transaction_id"),
            productId: try row.optional("product_id"), level: try row.optional("level"),
            isFamilyShared: try row.value("is_family_shared"), until: try row.optional("available_until"),
            verdict: try row.value("verdict"), givesAccess: try row.value("gives_access"))
    }

    /// Sets the level of products within their groups, 1 being the highest; others stay as they are.
    public func setLevels(_ levels: [String: Int32], ofApp bundleId: String) async throws {
        let levels = levels.sorted { $0.key < $1.key }
        _ = try await repeating {
            try await connection.execute(Self.setLevels, bundleId, levels.map(\.key), levels.map(\.value))
        }
    }

    /// Takes the level of products back; they count as below all that have one.
    public func removeLevels(of products: [String], ofApp bundleId: String) async throws {
        _ = try await repeating { try await connection.execute(Self.removeLevels, bundleId, products) }
    }

    /// The level of each product of an app that has one.
    public func levels(ofApp bundleId: String) async throws -> [String: Int32] {
        try await connection.execute(Self.levels, bundleId).reduce(into: [:]) { levels, row in
            levels[try row.value("product_id")] = try row.value("level", as: Int32.self)
        }
    }

    static let levels = Statement(
        "entitlement-levels", "select product_id, level from product_level where bundle_id = $1::text")

    static let removeLevels = Statement(
        "entitlement-remove-levels",
        "delete from product_level where bundle_id = $1::text and product_id = any ($2::text[])")

    static let find = Statement(
        "entitlement-find",
        """
        select original_transaction_id, bundle_id, transaction_id, product_id, level, available_until, verdict,
            is_family_shared, gives_access
        from entitlements_at($1::text::store_environment, $2::text[], $3::timestamptz)
        """)

    static let ofAccount = Statement(
        "entitlement-of-account",
        """
        select original_transaction_id, bundle_id, transaction_id, product_id, level, available_until, verdict,
            is_family_shared, gives_access
        from account_entitlements($1::text::store_environment, $2::text, $3::text, $4::timestamptz)
        """)

    static let setLevels = Statement(
        "entitlement-set-levels",
        """
        insert into product_level (bundle_id, product_id, level)
        select $1::text, product_id, level
        from unnest($2::text[], $3::integer[]) as given (product_id, level)
        order by product_id
        on conflict (bundle_id, product_id) do update
        set level = excluded.level
        """)
}
