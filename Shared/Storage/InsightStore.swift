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
