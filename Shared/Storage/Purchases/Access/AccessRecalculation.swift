import Contracts
import Postgres
import Subscriptions

import struct Foundation.Date
import struct Foundation.UUID

/// Recalculates, in batches, the access of purchases made before the duration of their product was set.
///
/// Each batch is one transaction that also stores its progress, so another process continues where one was interrupted. A
/// purchase whose access changes gets a row in the timeline and a message, as after a notification.
public struct AccessRecalculation: Sendable {
    private let connection: PostgresConnection

    /// All statements run on this connection.
    public init(_ connection: PostgresConnection) { self.connection = connection }

    /// The result of one batch.
    public struct Batch: Sendable, Equatable {
        /// The app's bundle identifier.
        public var bundleId: String
        /// Of the product whose access is recalculated, such as `com.example.app.season`.
        public var productId: String
        /// Number of purchases recalculated; zero where the product is done.
        public var purchases: Int
        /// Number of them whose access changed.
        public var changed: Int
    }

    /// Recalculates the next purchases of a product whose duration was set.
    /// - Returns: nil where no purchase is left, or another process recalculates the product.
    public func next(limit: Int = 500, at now: Date) async throws -> Batch? {
        try await repeating {
            try await connection.transaction { transaction in
                guard let product = try transaction.execute(Self.pending).first else { return nil }
                let (bundleId, productId): (String, String) = (
                    try product.value("bundle_id"), try product.value("product_id")
                )
                let found = try transaction.execute(
                    Self.purchases, bundleId, productId,
                    try product.optional("recalculated_environment", as: String.self),
                    try product.optional("recalculated_purchase", as: String.self), Int64(limit))
                let keys = try found.map { row in
                    SubscriptionKey(
                        environment: try StoreEnvironment(stored: row.value("environment")),
                        originalTransactionId: try row.value("original_transaction_id"))
                }
                guard let last = keys.last else {
                    _ = try transaction.execute(Self.done, bundleId, productId)
                    return Batch(bundleId: bundleId, productId: productId, purchases: 0, changed: 0)
                }
                let changed = try Self.recalculate(keys.sorted(), at: now, in: transaction)
                _ = try transaction.execute(
                    Self.move, bundleId, productId, last.environment.rawValue, last.originalTransactionId)
                return Batch(bundleId: bundleId, productId: productId, purchases: keys.count, changed: changed)
            }
        }
    }

    /// - Returns: number of purchases whose access changed.
    private static func recalculate(
        _ keys: [SubscriptionKey], at now: Date, in transaction: PostgresTransaction
    ) throws -> Int {
        var (purchases, durations) = try PurchaseInBatch.read(
            transaction.pipeline(PurchaseInBatch.commands(reading: keys))[...])
        var effects = LedgerBatch.Effects(gaps: Gaps(added: [], neighbours: []))
        for key in keys {
            if let row = try purchases[key]?.recalculate(durations: durations, at: now) { effects.timeline.append(row) }
        }
        effects.written = keys.compactMap { purchases[$0] }.filter(\.isWritten)
        var writing = LedgerWriting(transaction)
        try writing.write(effects, of: LedgerBatch.Additions(), recordedAt: now)
        _ = try writing.results()
        return effects.written.count
    }

    static let statements = [pending, purchases, move, done]

    /// Locks the product until the batch is committed, so that one process at a time recalculates it.
    static let pending = Statement(
        "recalculation-pending",
        """
        select bundle_id, product_id, recalculated_environment::text as recalculated_environment, recalculated_purchase
        from product
        where not is_duration_applied
        order by bundle_id, product_id
        limit 1
        for update skip locked
        """)

    static let purchases = Statement(
        "recalculation-purchases",
        """
        select distinct environment::text as environment, environment as place, original_transaction_id
        from transaction
        where bundle_id = $1::text and product_id = $2::text and product_type = 'Non-Renewing Subscription'
            and expires_at is null
            and (
                $4::text is null
                or (environment, original_transaction_id) > ($3::text::store_environment, $4::text))
        order by place, original_transaction_id
        limit $5::bigint
        """)

    static let move = Statement(
        "recalculation-move",
        """
        update product
        set recalculated_environment = $3::text::store_environment, recalculated_purchase = $4::text
        where bundle_id = $1::text and product_id = $2::text
        """)

    static let done = Statement(
        "recalculation-done",
        """
        update product
        set is_duration_applied = true, recalculated_environment = null, recalculated_purchase = null
        where bundle_id = $1::text and product_id = $2::text
        """)
}
