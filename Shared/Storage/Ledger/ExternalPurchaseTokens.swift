import Contracts
import Postgres
import Subscriptions

import struct Foundation.Date

/// Reads the external purchase tokens that Apple's notifications named, while the ledger keeps their payloads.
package struct ExternalPurchaseTokens: Sendable {
    /// A token, as its notifications tell.
    package struct Token: Sendable {
        package var environment: StoreEnvironment
        package var bundleId: String
        package var externalPurchaseId: String
        /// Apple's `tokenType`; nil for tokens that do not expire.
        package var tokenType: String?
        package var createdAt: Date?
        package var expiresAt: Date?
        /// When Apple said last that no report about it has arrived.
        package var unreportedAt: Date?
        /// When a report about it was sent from here; nil where none was, or another program sends them.
        package var reportedAt: Date?
        package var notifications: Int64

        /// Whether Apple misses a report, and none was sent since.
        package var isDue: Bool {
            guard let unreportedAt else { return false }
            return reportedAt.map { $0 < unreportedAt } ?? true
        }
    }

    /// The operation in the audit log by which a report was sent; its subject is the token.
    package static let reportOperation = "external-purchases report"

    private let connection: PostgresConnection

    package init(_ connection: PostgresConnection) { self.connection = connection }

    /// Those that Apple misses a report about first, then the oldest first.
    /// - Parameters:
    ///   - environment: nil means both.
    ///   - bundleId: nil means all apps.
    package func tokens(
        of bundleId: String?, in environment: StoreEnvironment?, limit: Int
    ) async throws -> [Token] {
        try await connection.execute(
            Self.find, environment?.rawValue, bundleId, Self.reportOperation, Int64(limit)
        ).map { row in
            Token(
                environment: try StoreEnvironment(stored: try row.value("environment")),
                bundleId: try row.value("bundle_id"),
                externalPurchaseId: try row.value("token"), tokenType: try row.optional("token_type"),
                createdAt: Self.date(try row.optional("created")), expiresAt: Self.date(try row.optional("expires")),
                unreportedAt: try row.optional("unreported_at"), reportedAt: try row.optional("reported_at"),
                notifications: try row.value("notifications"))
        }
    }

    private static func date(_ number: Double?) -> Date? {
        // Anything beyond is no date that can be written.
        number.flatMap { (-1e14..<1e17).contains($0) ? Date(appleNumber: $0) : nil }
    }

    static let statements = [find]

    private static let find = Statement(
        "external-purchase-tokens",
        """
        select told.environment::text as environment, told.bundle_id, told.token, told.token_type, told.created, told.expires,
            told.unreported_at, told.notifications, reported.reported_at
        from (
            select environment, bundle_id, said ->> 'externalPurchaseId' as token, max(said ->> 'tokenType') as token_type,
                min(case when json_typeof(said -> 'tokenCreationDate') = 'number' then (said ->> 'tokenCreationDate')::double precision end)
                    as created,
                max(case when json_typeof(said -> 'tokenExpirationDate') = 'number' then (said ->> 'tokenExpirationDate')::double precision end)
                    as expires,
                max(signed_at) filter (where subtype = 'UNREPORTED') as unreported_at, count(*) as notifications
            from notification
            join notification_payload using (notification_uuid, recorded_at)
            cross join lateral (select decoded -> 'externalPurchaseToken' as said) as payload
            where notification_type = 'EXTERNAL_PURCHASE_TOKEN' and said ->> 'externalPurchaseId' is not null
                and ($1::text is null or environment = $1::text::store_environment)
                and ($2::text is null or bundle_id = $2::text)
            group by environment, bundle_id, said ->> 'externalPurchaseId'
        ) as told
        left join lateral (
            select max(acted_at) as reported_at
            from operator_action
            where operation = $3::text and subject = told.token and outcome = 'done'
        ) as reported on true
        order by (unreported_at is not null and coalesce(reported_at < unreported_at, true)) desc, created nulls last, token
        limit $4::bigint
        """)
}
