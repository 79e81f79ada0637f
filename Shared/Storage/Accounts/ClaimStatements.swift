import Postgres
import Subscriptions

import struct Foundation.Date
import struct Foundation.UUID

/// The statements on the app's accounts in the transaction of `LedgerStore.apply`.
enum ClaimStatements {
    /// Keeps the earliest time of each claim, the last signed date of that time, and the lowest of Apple's ids, so that any
    /// order of arrival ends in the same row. Returns the purchases whose claims changed.
    static let upsert = Statement(
        "claim-upsert",
        """
        insert into account_claim as held (
            environment, original_transaction_id, bundle_id, app_account_token, since, signed_at, app_transaction_id,
            evidence)
        select environment::store_environment, original_transaction_id, bundle_id, app_account_token, min(since),
            (array_agg(signed_at order by since, signed_at desc))[1], min(app_transaction_id collate "C"),
            evidence::claim_evidence
        from unnest(
            $1::text[], $2::text[], $3::text[], $4::uuid[], $5::timestamptz[], $6::timestamptz[], $7::text[], $8::text[]
        ) as given (
            environment, original_transaction_id, bundle_id, app_account_token, since, signed_at, app_transaction_id,
            evidence)
        group by environment, original_transaction_id, bundle_id, app_account_token, evidence
        order by environment, original_transaction_id, bundle_id, app_account_token, evidence
        on conflict (environment, original_transaction_id, bundle_id, app_account_token, evidence) do update
        set since = least(held.since, excluded.since),
            signed_at = case
                when excluded.since < held.since then excluded.signed_at
                when excluded.since > held.since then held.signed_at
                else greatest(held.signed_at, excluded.signed_at)
            end,
            app_transaction_id = least(held.app_transaction_id collate "C", excluded.app_transaction_id)
        where held.since > excluded.since or (held.since = excluded.since and held.signed_at < excluded.signed_at)
            or excluded.app_transaction_id < held.app_transaction_id collate "C"
            or (held.app_transaction_id is null and excluded.app_transaction_id is not null)
        returning environment::text as environment, original_transaction_id, bundle_id
        """)

    /// Finds shared Apple accounts of a batch after its purchases and claims were written. An account that joins them through
    /// a purchase of another batch is found with the next event of either; one that joins them through a third of Apple's ids
    /// is not. The view `shared_account` is always exact.
    static let notice = Statement(
        "claim-notice",
        """
        with given as (
            select environment::store_environment as environment, original_transaction_id, bundle_id,
                app_transaction_id, notification_uuid, event_at, event, traceparent
            from unnest(
                $2::text[], $3::text[], $4::text[], $5::text[], $6::uuid[], $7::timestamptz[], $8::text[], $9::text[]
            ) as given (
                environment, original_transaction_id, bundle_id, app_transaction_id, notification_uuid, event_at,
                event, traceparent)
        ), customer as (
            select distinct environment, bundle_id, app_transaction_id
            from given
            where app_transaction_id is not null
        ), customer_claim as (
            -- The accounts once for each Apple account: by purchase they would be the square of what one customer has in the batch.
            select distinct on (environment, bundle_id, app_transaction_id, app_account_token)
                customer.*, claim.app_account_token, claim.since, claim.signed_at
            from customer
            cross join lateral (
                (
                    select app_account_token, since, signed_at
                    from account_claim
                    where account_claim.app_transaction_id = customer.app_transaction_id
                        and account_claim.environment = customer.environment
                        and account_claim.bundle_id = customer.bundle_id
                    offset 0
                )
                union all
                (
                    -- Not joined: while the tables are small that reads all claims of the app for each customer.
                    select claimed.*
                    from subscription other
                    cross join lateral (
                        select app_account_token, since, signed_at
                        from account_claim
                        where account_claim.environment = other.environment
                            and account_claim.original_transaction_id = other.original_transaction_id
                            and account_claim.bundle_id = other.bundle_id
                        offset 0
                    ) as claimed
                    where other.app_transaction_id = customer.app_transaction_id
                        and other.environment = customer.environment and other.bundle_id = customer.bundle_id
                    offset 0
                )
            ) as claim
            order by environment, bundle_id, app_transaction_id, app_account_token, since, signed_at desc
        ), claimant as (
            -- By a window, because joined with itself it would take the square of the batch.
            select claim.*,
                first_value(claim.app_account_token) over (
                    partition by claim.environment, claim.bundle_id, claim.original_transaction_id
                    order by claim.since, claim.signed_at desc, claim.app_account_token
                ) as first_account_token
            from (
                select given.*, own.app_account_token, own.since, own.signed_at
                from given
                cross join lateral (
                    select app_account_token, since, signed_at
                    from account_claim
                    where account_claim.environment = given.environment
                        and account_claim.original_transaction_id = given.original_transaction_id
                        and account_claim.bundle_id = given.bundle_id
                    offset 0
                ) as own
                union all
                select given.*, customer_claim.app_account_token, customer_claim.since, customer_claim.signed_at
                from given
                join customer_claim using (environment, bundle_id, app_transaction_id)
            ) as claim
        ), noticed as (
            insert into shared_account_notice (
                noticed_at, notification_uuid, environment, bundle_id, original_transaction_id, app_account_token,
                first_account_token)
            select distinct on (environment, bundle_id, first_account_token, app_account_token)
                $1::timestamptz, notification_uuid, environment, bundle_id, original_transaction_id, app_account_token,
                first_account_token
            from claimant
            where app_account_token <> first_account_token
            order by environment, bundle_id, first_account_token, app_account_token, original_transaction_id
            on conflict do nothing
            returning *
        ), reported as (
            -- Once per notification and purchase, as every row of the timeline.
            select noticed.environment, noticed.original_transaction_id, noticed.bundle_id, noticed.notification_uuid,
                given.event_at, given.event, given.traceparent,
                jsonb_agg(
                    jsonb_build_object(
                        'fact', 'sharedAccount', 'from', noticed.first_account_token, 'to', noticed.app_account_token)
                    order by noticed.app_account_token) as changes
            from noticed
            join (
                select distinct notification_uuid, event_at, event, traceparent from given
            ) as given using (notification_uuid)
            group by 1, 2, 3, 4, 5, 6, 7
        ), amended as (
            update timeline
            set changes = timeline.changes || reported.changes
            from reported
            where timeline.environment = reported.environment
                and timeline.original_transaction_id = reported.original_transaction_id
                and timeline.notification_uuid = reported.notification_uuid
            returning timeline.notification_uuid, timeline.original_transaction_id
        ), revised as (
            -- Of messages about a purchase the one with the greater revision is the newer. Its row was locked with the batch.
            update subscription held
            set revision = held.revision + 1
            from reported
            where held.environment = reported.environment
                and held.original_transaction_id = reported.original_transaction_id
                and not exists (
                    select
                    from amended
                    where amended.notification_uuid = reported.notification_uuid
                        and amended.original_transaction_id = reported.original_transaction_id)
            returning held.environment, held.original_transaction_id, held.revision, held.status, held.is_auto_renewing,
                held.product_id
        ), added as (
            insert into timeline (
                occurred_at, applied_at, revision, status, access_until, notification_uuid, environment, has_access,
                is_auto_renewing, original_transaction_id, bundle_id, event, product_id, changes, traceparent)
            select reported.event_at, $1::timestamptz, revised.revision, revised.status, upper(access.period),
                reported.notification_uuid, reported.environment, access.period is not null, revised.is_auto_renewing,
                reported.original_transaction_id, reported.bundle_id, reported.event, coalesce(access.product_id, revised.product_id),
                reported.changes, reported.traceparent
            from reported
            join revised using (environment, original_transaction_id)
            left join access_period access
                on access.environment = reported.environment
                and access.original_transaction_id = reported.original_transaction_id and $1::timestamptz <@ access.period
        )
        select environment::text as environment, bundle_id, original_transaction_id,
            app_account_token::text as app_account_token, first_account_token::text as first_account_token,
            notification_uuid
        from noticed
        """)

    /// The purchases whose claims changed, from the results of the statement `upsert`.
    static func changes(_ rows: Rows) throws -> OwnershipChange {
        OwnershipChange(
            try rows.map { row in (key: try SubscriptionStore.key(row), bundleId: try row.value("bundle_id")) })
    }

    static func command(claiming claims: [AccountClaim]) -> Command {
        // `PurchaseEvent` drops tokens that are no UUID; this is a safeguard.
        let claims = claims.compactMap { claim in UUID(uuidString: claim.appAccountToken).map { (claim, token: $0) } }
        return Command(
            upsert, claims.map(\.0.key.environment.rawValue),
            claims.map(\.0.key.originalTransactionId), claims.map(\.0.bundleId), claims.map(\.token),
            claims.map(\.0.since), claims.map(\.0.signedAt), claims.map(\.0.appTransactionId),
            claims.map(\.0.evidence.rawValue))
    }

    /// - Parameters:
    ///   - entries: the entries of the batch, in order; the last one of each purchase with a transaction is named in the notice.
    ///   - purchases: the purchases after the batch. Apple's ids of the customers come from them and from the events.
    static func command(
        noticingSharingIn entries: [LedgerEntry], purchases: [SubscriptionKey: PurchaseInBatch], at time: Date
    ) -> Command {
        var newest: [SubscriptionKey: (event: PurchaseEvent, traceparent: String?)] = [:]
        var ids: [SubscriptionKey: Set<String>] = [:]
        for entry in entries {
            guard let event = entry.event, let transaction = event.transaction else { continue }
            newest[event.key] = (event, entry.notification.traceparent)
            if let id = transaction.appTransactionId { ids[event.key, default: []].insert(id) }
        }
        for key in newest.keys {
            if let id = purchases[key]?.subscription?.transaction?.appTransactionId { ids[key, default: []].insert(id) }
        }
        var rows: [(event: PurchaseEvent, id: String?, traceparent: String?)] = []
        for key in newest.keys.sorted() {
            guard let one = newest[key] else { continue }
            for id in ids[key].map({ $0.sorted().map(Optional.some) }) ?? [nil] {
                rows.append((one.event, id, one.traceparent))
            }
        }
        return Command(
            notice, time, rows.map(\.event.key.environment.rawValue), rows.map(\.event.key.originalTransactionId),
            rows.map(\.event.bundleId), rows.map(\.id), rows.map(\.event.version.notificationUUID),
            rows.map(\.event.version.signedDate), rows.map(\.event.eventName), rows.map(\.traceparent))
    }
}

/// A notice that two accounts of the app use one Apple account.
public struct SharedAccountNotice: Sendable, Equatable {
    /// The purchase whose event revealed it.
    public var key: SubscriptionKey
    /// The app's bundle identifier.
    public var bundleId: String
    /// The account that claimed later.
    public var appAccountToken: String
    /// The account with the earliest known claim.
    public var firstAccountToken: String

    init(_ row: Row) throws {
        key = try SubscriptionStore.key(row)
        bundleId = try row.value("bundle_id")
        appAccountToken = try row.value("app_account_token")
        firstAccountToken = try row.value("first_account_token")
    }
}
