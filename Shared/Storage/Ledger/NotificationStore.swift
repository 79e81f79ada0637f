import Contracts
import Postgres
import Subscriptions

import struct Foundation.Date
import struct Foundation.UUID

/// Reads notifications from the ledger.
public struct NotificationStore: Sendable {
    let connection: PostgresConnection

    /// All statements run on this connection.
    public init(_ connection: PostgresConnection) { self.connection = connection }

    /// Pages through the ledger in the order of the uuids.
    /// - Parameter uuid: the last one of the page before.
    public func page(after uuid: UUID? = nil, limit: Int = 5000) async throws -> [LedgerLine] {
        try await connection.execute(Self.page, uuid ?? .zero, Int64(limit)).map { row in try LedgerLine.read(row) }
    }

    /// Passes each row of the ledger to `body`, page by page, each page in a snapshot of its own.
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
            .map { row in try LedgerLine.read(row) }
    }

    /// The payload as JSON text; nil where the ledger has no such notification, or retention has dropped its payload.
    public func decoded(_ uuid: UUID) async throws -> String? {
        try await connection.execute(Self.decoded, uuid).first?.value("decoded", as: JSONText.self).text
    }

    /// The signed original, byte for byte; nil where the ledger has no such notification, or retention has dropped it.
    public func original(_ uuid: UUID) async throws -> [UInt8]? {
        guard let row = try await connection.execute(Self.original, uuid).first else { return nil }
        return try SignedOriginal(blob: try row.value("signed_original"), headers: try row.value("headers")).original()
    }

    /// The other contents that arrived under a uuid, each once, oldest first.
    public func conflicts(with uuid: UUID) async throws -> [(decoded: String, signedOriginal: [UInt8])] {
        try await connection.execute(Self.conflicts, uuid).map { row in
            (try row.value("decoded", as: JSONText.self).text, try row.value("signed_original"))
        }
    }

    /// The nil uuid, before all others; no notification has it.
    static let page = Statement(
        "notification-page",
        unsafeSQL: """
            select \(LedgerLine.columns.selected())
            from notification
            where notification_uuid > $1::uuid
            order by notification_uuid
            limit $2::bigint
            """)

    static let ofPurchase = Statement(
        "notification-of-purchase",
        unsafeSQL: """
            select \(LedgerLine.columns.selected())
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
