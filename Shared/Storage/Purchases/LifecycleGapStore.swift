import Contracts
import Postgres
import Subscriptions

import struct Foundation.Date

/// Reads the lifecycle gaps of purchases. Only `LedgerStore.apply` writes them.
public struct LifecycleGapStore: Sendable {
    private let connection: PostgresConnection

    /// All statements run on this connection.
    public init(_ connection: PostgresConnection) { self.connection = connection }

    /// The lifecycle gaps of one purchase, in Apple's order.
    public func gaps(of key: SubscriptionKey) async throws -> [LifecycleGap] {
        try await connection.execute(Self.find, key.environment.rawValue, key.originalTransactionId).map { row in
            let kind: String = try row.value("kind")
            guard let kind = LifecycleGap.Kind(rawValue: kind) else { throw UnknownLifecycleGap(kind: kind) }
            return LifecycleGap(
                kind: kind, after: try row.optional("after_uuid"), before: try row.value("before_uuid"),
                from: try row.optional("from_at"), to: try row.value("to_at"))
        }
    }

    static let find = Statement(
        "lifecycle-gap-find",
        """
        select kind, after_uuid, before_uuid, from_at, to_at
        from lifecycle_gap
        where environment = $1::text::store_environment and original_transaction_id = $2::text
        order by to_at, before_uuid, kind
        """)

    static let remove = Statement(
        "lifecycle-gap-remove",
        """
        delete from lifecycle_gap
        using unnest($1::text[], $2::text[], $3::uuid[], $4::boolean[])
            as given (environment, original_transaction_id, before_uuid, is_explained)
        where lifecycle_gap.environment = given.environment::store_environment
            and lifecycle_gap.original_transaction_id = given.original_transaction_id
            and lifecycle_gap.before_uuid = given.before_uuid
            and (lifecycle_gap.kind = 'transaction') = given.is_explained
        """)

    static let insert = Statement(
        "lifecycle-gap-insert",
        """
        insert into lifecycle_gap (
            noticed_at, environment, original_transaction_id, kind, after_uuid, before_uuid, from_at, to_at)
        select $1::timestamptz, environment::store_environment, original_transaction_id, kind, after_uuid, before_uuid,
            from_at, to_at
        from unnest(
            $2::text[], $3::text[], $4::text[], $5::uuid[], $6::uuid[], $7::timestamptz[], $8::timestamptz[]
        ) as given (environment, original_transaction_id, kind, after_uuid, before_uuid, from_at, to_at)
        order by environment, original_transaction_id, before_uuid, kind
        on conflict do nothing
        """)

    /// Inserts one request per purchase and gap, and none again for a gap that is found again.
    static let request = Statement(
        "lifecycle-gap-request",
        """
        insert into recovery_request (
            requested_at, environment, original_transaction_id, bundle_id, reason, before_uuid, from_at, to_at)
        select $1::timestamptz, environment::store_environment, original_transaction_id, min(bundle_id),
            string_agg(kind, ',' order by kind), before_uuid, min(from_at), max(to_at)
        from unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::uuid[], $7::timestamptz[], $8::timestamptz[])
            as given (environment, original_transaction_id, bundle_id, kind, before_uuid, from_at, to_at)
        group by environment, original_transaction_id, before_uuid
        order by environment, original_transaction_id, max(to_at), before_uuid
        on conflict (environment, original_transaction_id, before_uuid) do nothing
        """)

    /// - Parameter purchases: they hold the app of each request.
    static func commands(
        for gaps: Gaps, purchases: [SubscriptionKey: PurchaseInBatch], noticedAt: Date
    ) -> [Command] {
        let found = gaps.found
        let (environments, ids) = (
            found.map(\.key.environment.rawValue), found.map(\.key.originalTransactionId)
        )
        let asked = found.map { purchases[$0.key]?.subscription?.bundleId ?? "" }
        let kinds = found.map(\.gap.kind.rawValue)
        let (before, from, to) = (found.map(\.gap.before), found.map(\.gap.from), found.map(\.gap.to))
        let gone = gaps.revised.map { ($0, false) } + gaps.explained.map { ($0, true) }
        let removing = Command(
            remove, gone.map(\.0.key.environment.rawValue), gone.map(\.0.key.originalTransactionId),
            gone.map(\.0.before), gone.map(\.1))
        let adding = [
            Command(insert, noticedAt, environments, ids, kinds, found.map(\.gap.after), before, from, to),
            Command(request, noticedAt, environments, ids, asked, kinds, before, from, to),
        ]
        return (gone.isEmpty ? [] : [removing]) + (found.isEmpty ? [] : adding)
    }
}

/// A newer build wrote a kind of gap that this build does not know.
struct UnknownLifecycleGap: Error, CustomStringConvertible {
    let kind: String
    var description: String {
        "the database holds lifecycle gaps of the kind “\(kind)”, which this build does not know; use a newer build"
    }
}
