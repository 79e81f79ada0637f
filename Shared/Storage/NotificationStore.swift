import Contracts
import Postgres
import Subscriptions

import struct Foundation.Date
import struct Foundation.UUID

/// A row of the ledger without its payload.
public struct LedgerLine: Sendable, Equatable {
    /// Apple's id; the same in every repetition.
    public var notificationUUID: UUID
    /// Apple's word, raw, so that an unknown one is kept.
    public var notificationType: String
    /// Apple's word, raw; nil where there is none.
    public var subtype: String?
    /// Where the purchase was made.
    public var environment: StoreEnvironment
    /// The app, by its bundle identifier.
    public var bundleId: String
    /// The purchase it is about; nil for a TEST and the like.
    public var originalTransactionId: String?
    /// The transaction it holds, if any.
    public var transactionId: String?
    /// By Apple's clock; nil where Apple gave none.
    public var signedDate: Date?
    /// When ingest took it.
    public var receivedAt: Date
    /// When it was committed to the ledger.
    public var recordedAt: Date
    /// How it came to us.
    public var source: String
    /// False where something newer was known already.
    public var hasAdvanced: Bool
    /// How often the same uuid came again with other content.
    public var contentConflicts: Int
}

/// Reads the ledger.
public struct NotificationStore: Sendable {
    let connection: PostgresConnection

    /// All statements run on this connection.
    public init(_ connection: PostgresConnection) { self.connection = connection }

    /// Pages through the ledger in the order of the uuids.
    /// - Parameter uuid: the last one of the page before.
    public func page(after uuid: UUID? = nil, limit: Int = 5000) async throws -> [LedgerLine] {
        let first = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
        return try await connection.execute(Self.page, uuid ?? first, Int64(limit)).map { row in try Self.line(row) }
    }

    /// Hands the whole ledger over, page by page, each page in a snapshot of its own.
    public func forEach(_ body: (LedgerLine) throws -> Void) async throws {
        var last: UUID?
        while true {
            let page = try await page(after: last)
            for line in page { try body(line) }
            guard let uuid = page.last?.notificationUUID else { return }
            last = uuid
        }
    }

    /// The notifications about one purchase, in Apple's order.
    public func lines(of key: SubscriptionKey) async throws -> [LedgerLine] {
        try await connection.execute(Self.ofPurchase, key.environment.rawValue, key.originalTransactionId)
            .map { row in try Self.line(row) }
    }

    /// The payload as JSON text; nil where the ledger has no such notification, or has dropped by age what it said.
    public func decoded(_ uuid: UUID) async throws -> String? {
        try await connection.execute(Self.decoded, uuid).first?.value("decoded", as: JSONText.self).text
    }

    /// The signed original, byte for byte; nil where the ledger has no such notification, or has dropped it by age.
    public func original(_ uuid: UUID) async throws -> [UInt8]? {
        guard let row = try await connection.execute(Self.original, uuid).first else { return nil }
        return try SignedOriginal(blob: try row.value("signed_original"), headers: try row.value("headers")).original()
    }

    /// What else came under a uuid, each content once, oldest first.
    public func conflicts(with uuid: UUID) async throws -> [(decoded: String, signedOriginal: [UInt8])] {
        try await connection.execute(Self.conflicts, uuid).map { row in
            (try row.value("decoded", as: JSONText.self).text, try row.value("signed_original"))
        }
    }

    static func line(_ row: Row) throws -> LedgerLine {
        LedgerLine(
            notificationUUID: try row.value("notification_uuid"), notificationType: try row.value("notification_type"),
            subtype: try row.optional("subtype"), environment: try SubscriptionStore.environment(row),
            bundleId: try row.value("bundle_id"), originalTransactionId: try row.optional("original_transaction_id"),
            transactionId: try row.optional("transaction_id"), signedDate: try row.optional("signed_at"),
            receivedAt: try row.value("received_at"), recordedAt: try row.value("recorded_at"),
            source: try row.value("source"), hasAdvanced: try row.value("has_advanced"),
            contentConflicts: Int(try row.value("content_conflicts", as: Int32.self)))
    }

    /// The nil uuid, after which the first page begins, belongs to no notification.
    static let page = Statement(
        "notification-page",
        """
        select notification_uuid, notification_type, subtype, environment::text as environment, bundle_id,
            original_transaction_id, transaction_id, signed_at, received_at, recorded_at, source, has_advanced,
            content_conflicts
        from notification
        where notification_uuid > $1::uuid
        order by notification_uuid
        limit $2::bigint
        """)

    static let ofPurchase = Statement(
        "notification-of-purchase",
        """
        select notification_uuid, notification_type, subtype, environment::text as environment, bundle_id,
            original_transaction_id, transaction_id, signed_at, received_at, recorded_at, source, has_advanced,
            content_conflicts
        from notification
        where environment = $1::text::store_environment and original_transaction_id = $2::text
        order by signed_at, notification_uuid
        """)

    static let conflicts = Statement(
        "notification-conflicts",
        """
        select decoded, signed_original
        from conflicting_notification
        where notification_uuid = $1::uuid
        order by recorded_at, digest
        """)

    static let decoded = Statement(
        "notification-decoded",
        """
        select decoded
        from notification
        join notification_payload using (notification_uuid, recorded_at)
        where notification_uuid = $1::uuid
        """)

    static let original = Statement(
        "notification-original",
        """
        select signed_original, array(
            select header
            from unnest(chains) with ordinality as given (digest, place)
            join certificate_chain using (digest)
            order by place) as headers
        from notification
        join notification_payload using (notification_uuid, recorded_at)
        where notification_uuid = $1::uuid
        """)
}
