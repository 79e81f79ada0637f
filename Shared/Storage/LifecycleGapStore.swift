import Contracts
import Postgres
import Subscriptions

import struct Foundation.Date

/// What nobody told. Written by `LedgerStore.apply` only.
public struct LifecycleGapStore: Sendable {
    private let connection: PostgresConnection

    /// All statements run on this connection.
    public init(_ connection: PostgresConnection) { self.connection = connection }

    /// What is missing in the life of one purchase, in Apple's order.
    public func skippedSteps(of key: SubscriptionKey) async throws -> [LifecycleGap] {
        try await connection.execute(Self.find, key.environment.rawValue, key.originalTransactionId).map { row in
            let kind: String = try row.value("kind")
            guard let kind = LifecycleGap.Kind(rawValue: kind) else { throw UnknownSkippedStep(kind: kind) }
            return LifecycleGap(
                kind: kind, after: try row.optional("after_uuid"), before: try row.value("before_uuid"),
                from: try row.optional("from_at"), to: try row.value("to_at"))
        }
    }

    static let find = Statement(
        "skipped-step-find",
        """
        select kind, after_uuid, before_uuid, from_at, to_at
        from skipped_step
        where environment = $1::text::store_environment and original_transaction_id = $2::text
        order by to_at, before_uuid, kind
        """)

    static let remove = Statement(
        "skipped-step-remove",
        """
        delete from skipped_step
        using unnest($1::text[], $2::text[], $3::uuid[]) as given (environment, original_transaction_id, before_uuid)
        where skipped_step.environment = given.environment::store_environment
            and skipped_step.original_transaction_id = given.original_transaction_id
            and skipped_step.before_uuid = given.before_uuid
        """)

    static let insert = Statement(
        "skipped-step-insert",
        """
        insert into skipped_step (
            noticed_at, environment, original_transaction_id, kind, after_uuid, before_uuid, from_at, to_at)
        select $1::timestamptz, environment::store_environment, original_transaction_id, kind, after_uuid, before_uuid,
            from_at, to_at
        from unnest(
            $2::text[], $3::text[], $4::text[], $5::uuid[], $6::uuid[], $7::timestamptz[], $8::timestamptz[]
        ) as given (environment, original_transaction_id, kind, after_uuid, before_uuid, from_at, to_at)
        order by environment, original_transaction_id, before_uuid, kind
        on conflict do nothing
        """)

    /// Once per purchase and gap: what was asked for is not asked for again, though the gap be found again.
    static let request = Statement(
        "skipped-step-request",
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

    /// - Parameter states: of the purchases, which say for which app to ask.
    static func commands(
        for gaps: Gaps, states: [SubscriptionKey: SubscriptionRevision], noticedAt: Date
    ) -> [Command] {
        let found = gaps.found
        let (environments, ids) = (
            found.map(\.key.environment.rawValue), found.map(\.key.originalTransactionId)
        )
        let asked = found.map { states[$0.key]?.subscription.bundleId ?? "" }
        let kinds = found.map(\.step.kind.rawValue)
        let (before, from, to) = (found.map(\.step.before), found.map(\.step.from), found.map(\.step.to))
        let removing = Command(
            remove, gaps.revised.map(\.key.environment.rawValue), gaps.revised.map(\.key.originalTransactionId),
            gaps.revised.map(\.before))
        let adding = [
            Command(insert, noticedAt, environments, ids, kinds, found.map(\.step.after), before, from, to),
            Command(request, noticedAt, environments, ids, asked, kinds, before, from, to),
        ]
        return (gaps.revised.isEmpty ? [] : [removing]) + (found.isEmpty ? [] : adding)
    }
}

/// A newer build wrote a kind of skipped step this one does not know.
struct UnknownSkippedStep: Error, CustomStringConvertible {
    let kind: String
    var description: String {
        "the database holds skipped steps of the kind “\(kind)”, which this build does not know; use a newer build"
    }
}
