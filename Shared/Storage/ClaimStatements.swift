import Postgres
import Subscriptions

import struct Foundation.Date

/// The statements of the one transaction that concern the app's accounts.
enum ClaimStatements {
    /// Each column is the least of what was told, so that any order of arrival ends the same.
    static let upsert = Statement(
        "claim-upsert",
        """
        insert into account_claim as held (
            environment, original_transaction_id, bundle_id, app_account_token, since, app_transaction_id, source)
        select environment::store_environment, original_transaction_id, bundle_id, app_account_token, min(since),
            min(app_transaction_id collate "C"), $1::text
        from unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::timestamptz[], $7::text[])
            as given (environment, original_transaction_id, bundle_id, app_account_token, since, app_transaction_id)
        group by environment, original_transaction_id, bundle_id, app_account_token
        order by environment, original_transaction_id, bundle_id, app_account_token
        on conflict (environment, original_transaction_id, bundle_id, app_account_token, source) do update
        set since = least(held.since, excluded.since),
            app_transaction_id = least(held.app_transaction_id collate "C", excluded.app_transaction_id)
        where held.since > excluded.since or excluded.app_transaction_id < held.app_transaction_id collate "C"
            or (held.app_transaction_id is null and excluded.app_transaction_id is not null)
        """)

    /// Looks at the Apple accounts of a batch after their claims were written. An account that joins them through a
    /// purchase of another batch is found with the next news of either; the view `shared_account` is always exact.
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
            select given.*, claim.app_account_token, claim.since
            from given
            cross join lateral (
                select app_account_token, since
                from account_claim
                where account_claim.environment = given.environment
                    and account_claim.original_transaction_id = given.original_transaction_id
                    and account_claim.bundle_id = given.bundle_id
                union all
                select app_account_token, since
                from account_claim
                where account_claim.app_transaction_id = given.app_transaction_id
                    and account_claim.environment = given.environment
                    and account_claim.bundle_id = given.bundle_id
            ) as claim
        ), noticed as (
            insert into shared_account_notice (
                noticed_at, notification_uuid, environment, bundle_id, original_transaction_id, app_account_token,
                first_account_token)
            select distinct on (other.environment, other.bundle_id, first.app_account_token, other.app_account_token)
                $1::timestamptz, other.notification_uuid, other.environment, other.bundle_id,
                other.original_transaction_id, other.app_account_token, first.app_account_token
            from (
                select distinct on (environment, bundle_id, original_transaction_id) *
                from claimant
                order by environment, bundle_id, original_transaction_id, since, app_account_token collate "C"
            ) as first
            join claimant other using (environment, bundle_id, original_transaction_id)
            where other.app_account_token <> first.app_account_token
            order by other.environment, other.bundle_id, first.app_account_token, other.app_account_token,
                other.original_transaction_id
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
            join given using (environment, bundle_id, original_transaction_id, notification_uuid)
        )
        select environment::text as environment, bundle_id, original_transaction_id, app_account_token,
            first_account_token, notification_uuid
        from noticed
        """)

    static func command(claiming claims: [AccountClaim], source: ClaimSource) -> Command {
        Command(
            upsert, source.rawValue, claims.map(\.key.environment.rawValue), claims.map(\.key.originalTransactionId),
            claims.map(\.bundleId), claims.map(\.appAccountToken), claims.map(\.since), claims.map(\.appTransactionId))
    }

    /// - Parameter entries: of the batch, in its order; of each purchase the last that holds a transaction is looked at.
    static func command(noticingSharingIn entries: [LedgerEntry], at time: Date) -> Command {
        var newest: [SubscriptionKey: (news: News, traceparent: String?)] = [:]
        for entry in entries {
            if let news = entry.news, news.transaction != nil { newest[news.key] = (news, entry.traceparent) }
        }
        let sorted = newest.values.sorted { $0.news.key < $1.news.key }
        let rows = sorted.map(\.news)
        return Command(
            notice, time, rows.map(\.key.environment.rawValue), rows.map(\.key.originalTransactionId),
            rows.map(\.bundleId), rows.map { $0.transaction?.appTransactionId },
            rows.map(\.stamp.notificationUUID), rows.map(\.stamp.signedDate), sorted.map(\.traceparent))
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

extension AccountClaim {
    /// Nil where the news holds no transaction with a token.
    init?(_ news: News) {
        guard let transaction = news.transaction, let token = transaction.appAccountToken else { return nil }
        self.init(
            key: news.key, bundleId: news.bundleId, appTransactionId: transaction.appTransactionId,
            appAccountToken: token, since: transaction.purchaseDate ?? transaction.signedDate)
    }
}
