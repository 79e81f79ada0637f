import Contracts
import Postgres
import Subscriptions

import struct Foundation.Date

/// Why customers leave, answered by the database. The views may be queried by themselves; always name the environment.
public struct InsightStore: Sendable {
    private let connection: PostgresConnection

    /// All statements run on this connection.
    public init(_ connection: PostgresConnection) { self.connection = connection }

    /// One time that auto-renew was switched off.
    public struct CancellationRow: Sendable, Equatable {
        /// The transaction whose period was to be the last.
        public var transactionId: String?
        /// When, by Apple's clock.
        public var at: Date
        /// From then to the end of the period; negative after it, nil where the end is unknown.
        public var secondsBeforeEnd: Double?
        /// Where in the period it was, by the names of `Cancellation.Timing`.
        public var timing: String
        /// Whether it was switched on again within the same period.
        public var isUndone: Bool
    }

    /// Every time that auto-renew of a purchase was switched off, in Apple's order.
    public func cancellations(of key: SubscriptionKey) async throws -> [CancellationRow] {
        try await connection.execute(Self.cancellations, key.environment.rawValue, key.originalTransactionId)
            .map { row in
                CancellationRow(
                    transactionId: try row.optional("transaction_id"), at: try row.value("cancelled_at"),
                    secondsBeforeEnd: try row.optional("seconds_before_end"),
                    timing: try row.value("timing"), isUndone: try row.value("is_undone"))
            }
    }

    /// Why a purchase ended; only of use where it did. Nil where it is not known.
    public func expiryReason(of key: SubscriptionKey) async throws -> ExpiryReason? {
        let rows = try await connection.execute(
            Self.expiryReason, key.environment.rawValue, key.originalTransactionId)
        return try rows.first.flatMap { row in ExpiryReason(rawValue: try row.value("reason")) }
    }

    /// How long a customer has been with one subscription group; see `Loyalty`.
    public struct LoyaltyRow: Sendable, Equatable {
        /// The group.
        public var subscriptionGroupIdentifier: String
        /// Start of the service without too long a gap.
        public var recentStart: Date
        /// Seconds of paid service since then.
        public var paidSeconds: Double
        /// When a year of it was or will be complete; nil where what is paid for is less.
        public var reducedCommissionStart: Date?
    }

    /// How long some purchases, all that one customer has, were paid for: one row for each subscription group with
    /// service that has begun.
    /// - Parameter now: the clock.
    public func loyalty(
        of purchases: [String], in environment: StoreEnvironment, at now: Date
    ) async throws -> [LoyaltyRow] {
        try await connection.execute(Self.loyalty, environment.rawValue, purchases, now).map { row in
            LoyaltyRow(
                subscriptionGroupIdentifier: try row.value("subscription_group_id"),
                recentStart: try row.value("recent_start_at"), paidSeconds: try row.value("paid_seconds"),
                reducedCommissionStart: try row.optional("reduced_commission_at"))
        }
    }

    /// Where a purchase stands with a price increase; nil where the purchase is not known.
    public func priceConsent(of key: SubscriptionKey) async throws -> PriceConsent? {
        let rows = try await connection.execute(
            Self.priceConsent, key.environment.rawValue, key.originalTransactionId)
        return try rows.first.map { row in
            let toldAt: Date? = try row.optional("told_at")
            let consent: String = try row.value("consent")
            return switch (consent, toldAt) {
            case ("pending", let date?): .pending(since: date)
            case ("accepted", let date?): .accepted(at: date)
            case ("refused", let date?): .refused(at: date)
            default: .none
            }
        }
    }

    /// How often auto-renew was switched within each period, by transaction id; the empty id stands for an unknown one.
    public func renewalSwitches(of key: SubscriptionKey) async throws -> [String: Int] {
        try await connection.execute(Self.renewalSwitches, key.environment.rawValue, key.originalTransactionId)
            .reduce(into: [:]) { counts, row in
                counts[try row.value("transaction_id")] = Int(try row.value("switches", as: Int64.self))
            }
    }

    static let loyalty = Statement(
        "insight-loyalty",
        """
        select subscription_group_id, recent_start_at, paid_seconds, reduced_commission_at
        from loyalty_at($1::text::store_environment, $2::text[], $3::timestamptz)
        """)

    static let priceConsent = Statement(
        "insight-price-consent",
        """
        select consent, told_at
        from price_consent
        where environment = $1::text::store_environment and original_transaction_id = $2::text
        """)

    static let renewalSwitches = Statement(
        "insight-renewal-switches",
        """
        select transaction_id, switches
        from renewal_switch_count
        where environment = $1::text::store_environment and original_transaction_id = $2::text
        """)

    static let cancellations = Statement(
        "insight-cancellations",
        """
        select transaction_id, cancelled_at, seconds_before_end::double precision as seconds_before_end, timing, is_undone
        from cancellation
        where environment = $1::text::store_environment and original_transaction_id = $2::text
        order by cancelled_at
        """)

    static let expiryReason = Statement(
        "insight-expiry-reason",
        """
        select reason
        from expiry_reason
        where environment = $1::text::store_environment and original_transaction_id = $2::text
        """)
}
