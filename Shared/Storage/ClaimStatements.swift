import Postgres
import Subscriptions

import struct Foundation.Date

/// The statements of the one transaction that concern the app's accounts.
enum ClaimStatements {
    /// Of each claim the earliest moment, of that moment what was signed last, and of Apple's ids the least: any order of
    /// arrival ends the same.
    static let upsert = Statement(
        "claim-upsert",
        """
        insert into account_claim as held (
            environment, original_transaction_id, bundle_id, app_account_token, since, told_at, app_transaction_id,
            source)
        select environment::store_environment, original_transaction_id, bundle_id, app_account_token, min(since),
            (array_agg(told_at order by since, told_at desc))[1], min(app_transaction_id collate "C"), $1::text
        from unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::timestamptz[], $7::timestamptz[], $8::text[])
            as given (
                environment, original_transaction_id, bundle_id, app_account_token, since, told_at, app_transaction_id)
        group by environment, original_transaction_id, bundle_id, app_account_token
        order by environment, original_transaction_id, bundle_id, app_account_token
        on conflict (environment, original_transaction_id, bundle_id, app_account_token, source) do update
        set since = least(held.since, excluded.since),
            told_at = case
                when excluded.since < held.since then excluded.told_at
                when excluded.since > held.since then held.told_at
                else greatest(held.told_at, excluded.told_at)
            end,
            app_transaction_id = least(held.app_transaction_id collate "C", excluded.app_transaction_id)
        where held.since > excluded.since or (held.since = excluded.since and held.told_at < excluded.told_at)
            or excluded.app_transaction_id < held.app_transaction_id collate "C"
            or (held.app_transaction_id is null and excluded.app_transaction_id is not null)
        """)

    /// Looks at the Apple accounts of a batch after its purchases and claims were written. An account that joins them
    /// through a purchase of another batch is found with the next news of either, one that joins them over a third of
    /// Apple's ids is not; the view `shared_account` is always exact.
    static let notice = Statement(
        "claim-notice",
        """
        with given as (
            select environment::store_environment as environment, original_transaction_id, bundle_id,
                app_transaction_id, notification_uuid, news_at, traceparent
            from unnest(
                $2::text[], $3::text[], $4::text[], $5::text[], $6::uuid[], $7::timestamptz[], $8::text[]
            ) as given (
                environment, original_transaction_id, bundle_id, app_transaction_id, notification_uuid, news_at,
                traceparent)
        ), claimant as (
            -- By a window, because joined with itself it would take the square of the batch.
            select given.*, claim.app_account_token,
                first_value(claim.app_account_token) over (
                    partition by given.environment, given.bundle_id, given.original_transaction_id
                    order by claim.since, claim.told_at desc, claim.app_account_token collate "C"
                ) as first_account_token
            from given
            cross join lateral (
                select app_account_token, since, told_at
                from account_claim
                where account_claim.environment = given.environment
                    and account_claim.original_transaction_id = given.original_transaction_id
                    and account_claim.bundle_id = given.bundle_id
                union all
                select app_account_token, since, told_at
                from account_claim
                where account_claim.app_transaction_id = given.app_transaction_id
                    and account_claim.environment = given.environment
                    and account_claim.bundle_id = given.bundle_id
                union all
                select account_claim.app_account_token, account_claim.since, account_claim.told_at
                from subscription other
                join account_claim using (environment, original_transaction_id, bundle_id)
                where other.app_transaction_id = given.app_transaction_id and other.environment = given.environment
                    and other.bundle_id = given.bundle_id
                    and other.original_transaction_id <> given.original_transaction_id
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
        ), told as (
            insert into timeline (
                occurred_at, learned_at, notification_uuid, environment, original_transaction_id, bundle_id, fact,
                changed_from, changed_to, traceparent)
            select given.news_at, $1::timestamptz, noticed.notification_uuid, noticed.environment,
                noticed.original_transaction_id, noticed.bundle_id, 'sharedAccount', noticed.first_account_token,
                noticed.app_account_token, given.traceparent
            from noticed
            join (select distinct notification_uuid, news_at, traceparent from given) as given using (notification_uuid)
        )
        select environment::text as environment, bundle_id, original_transaction_id, app_account_token,
            first_account_token, notification_uuid
        from noticed
        """)

    static func command(claiming claims: [AccountClaim], source: ClaimSource) -> Command {
        Command(
            upsert, source.rawValue, claims.map(\.key.environment.rawValue), claims.map(\.key.originalTransactionId),
            claims.map(\.bundleId), claims.map(\.appAccountToken), claims.map(\.since), claims.map(\.toldAt),
            claims.map(\.appTransactionId))
    }

    /// - Parameters:
    ///   - entries: of the batch, in its order; of each purchase the last that holds a transaction is named.
    ///   - states: of their purchases after it. Apple's ids of the customers are theirs and those of the news.
    static func command(
        noticingSharingIn entries: [LedgerEntry], states: [SubscriptionKey: SubscriptionRevision], at time: Date
    ) -> Command {
        var newest: [SubscriptionKey: (news: PurchaseEvent, traceparent: String?)] = [:]
        var ids: [SubscriptionKey: Set<String>] = [:]
        for entry in entries {
            guard let news = entry.news, let transaction = news.transaction else { continue }
            newest[news.key] = (news, entry.traceparent)
            if let id = transaction.appTransactionId { ids[news.key, default: []].insert(id) }
        }
        for key in newest.keys {
            if let id = states[key]?.subscription.transaction?.appTransactionId { ids[key, default: []].insert(id) }
        }
        var rows: [(news: PurchaseEvent, id: String?, traceparent: String?)] = []
        for key in newest.keys.sorted() {
            guard let one = newest[key] else { continue }
            for id in ids[key].map({ $0.sorted().map(Optional.some) }) ?? [nil] {
                rows.append((one.news, id, one.traceparent))
            }
        }
        return Command(
            notice, time, rows.map(\.news.key.environment.rawValue), rows.map(\.news.key.originalTransactionId),
            rows.map(\.news.bundleId), rows.map(\.id), rows.map(\.news.version.notificationUUID),
            rows.map(\.news.version.signedDate), rows.map(\.traceparent))
    }
}

/// That an account of the app was found on an Apple account which another account of the app lives on.
public struct SharedAccountNotice: Sendable, Equatable {
    /// The purchase whose news showed it.
    public var key: SubscriptionKey
    /// The app.
    public var bundleId: String
    /// The account that claimed later.
    public var appAccountToken: String
    /// The account that claimed first, as far as is known.
    public var firstAccountToken: String

    init(_ row: Row) throws {
        key = try SubscriptionStore.key(row)
        bundleId = try row.value("bundle_id")
        appAccountToken = try row.value("app_account_token")
        firstAccountToken = try row.value("first_account_token")
    }
}

/// How one of the app's accounts came to claim a purchase.
public enum ClaimSource: String, Sendable, CaseIterable {
    /// Its token is in a transaction that Apple signed.
    case transaction
    /// It uploaded one.
    case upload
}
