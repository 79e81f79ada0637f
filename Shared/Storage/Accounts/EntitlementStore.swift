import Contracts
import Postgres
import Subscriptions

import struct Foundation.Date
import struct Foundation.UUID

/// Reads the access of accounts for the API, in one statement, from the periods that `LedgerStore.apply` has written.
package enum EntitlementStore {
    /// A period of time in which an account may use a product, or a purchase of the account that gives it no access.
    package struct Line: Sendable, Equatable {
        /// The source of a line.
        package enum Source: String, Sendable {
            /// An access period of a purchase that the account may use.
            case access
            /// A purchase that the account owns, claims or may use; it may have periods as well.
            case purchase
            /// A manual grant.
            case grant
            /// The purchase of the app itself: grants the entitlements that the definitions give to its original version.
            case app
        }

        package var source: Source
        package var account: UUID
        package var bundleId: String
        /// The original transaction id of the purchase, or the id of the grant.
        package var id: String
        package var productId: String?
        package var startsAt: Date?
        /// The first moment without access; nil where access has no end.
        package var endsAt: Date?
        /// The first moment at which the purchase no longer gives the product, whatever the reasons; nil where none is known.
        package var until: Date?
        /// The reason of the period, a raw value of `AccessPeriod.Reason`. For the app itself, its original version; for a purchase, a
        /// raw value of `PurchaseAccount.Reason`.
        package var reason: String?
        package var transactionId: String?
        /// Apple's id of the subscription group; nil where it is no subscription.
        package var subscriptionGroupId: String?
        package var ownership: String?
        /// Whether the purchase renews; nil where no renewal info is known.
        package var isAutoRenewing: Bool?
        /// The notification that decided.
        package var notificationUUID: UUID?
        package var signedAt: Date?
        /// The revision of the purchase or grant.
        package var revision: Int64
        /// Of the account, see ``Version``; nil where it was not read.
        package var accountVersion: Int64?

        /// The rule that says whether the account may use the purchase; nil where the line is none of a purchase, or none is stored.
        package var because: PurchaseAccount.Reason? {
            source == .purchase ? reason.flatMap(PurchaseAccount.Reason.init) : nil
        }

        /// Whether a moment is in the period.
        package func contains(_ moment: Date) -> Bool {
            startsAt.map { $0 <= moment } ?? false && (endsAt.map { moment < $0 } ?? true)
        }
    }

    /// - Parameters:
    ///   - bundleIds: nil means all apps.
    ///   - moment: lines that ended before it are left out.
    package static func command(
        of accounts: [UUID], in environment: StoreEnvironment, bundleIds: [String]?, from moment: Date
    ) -> Command {
        Command(ofAccounts, accounts, environment.rawValue, bundleIds, moment.atMilliseconds)
    }

    /// Selects only what the accounts have beside purchases.
    static func command(
        besidePurchasesOf accounts: [UUID], in environment: StoreEnvironment, bundleIds: [String]?
    ) -> Command {
        Command(ofAccountsBesidePurchases, accounts, environment.rawValue, bundleIds)
    }

    /// Decodes the results of the commands above.
    package static func lines(_ rows: Rows) throws -> [Line] {
        try rows.map { row in
            Line(
                source: Line.Source(rawValue: try row.value("source")) ?? .purchase,
                account: try row.value("account"), bundleId: try row.value("bundle_id"), id: try row.value("id"),
                productId: try row.optional("product_id"), startsAt: try row.optional("starts_at"),
                endsAt: try row.optional("ends_at"), until: try row.optional("until"),
                reason: try row.optional("reason"),
                transactionId: try row.optional("transaction_id"),
                subscriptionGroupId: try row.optional("subscription_group_id"),
                ownership: try row.optional("ownership"),
                isAutoRenewing: try row.optional("is_auto_renewing"),
                notificationUUID: try row.optional("notification_uuid"), signedAt: try row.optional("signed_at"),
                revision: try row.value("revision"), accountVersion: try row.optional("account_version"))
        }
    }

    /// The version of what an account may use: equal ones mean equal lines, but that periods end by the clock.
    package struct Version: Sendable, Hashable {
        /// Of the account; 0 where nothing of it ever changed but its purchases.
        package var account: Int64
        /// The sum of the revisions of its purchases.
        package var revisions: Int64

        package init(account: Int64, revisions: Int64) {
            self.account = account
            self.revisions = revisions
        }

        /// - Parameter lines: of one account. Nil where there are none, or they were not read by a command of this type.
        package init?(_ lines: [Line]) {
            guard let version = lines.compactMap(\.accountVersion).max() else { return nil }
            var revisions: [String: Int64] = [:]
            for line in lines where line.source == .purchase {
                revisions["\(line.bundleId) \(line.id)"] = line.revision
            }
            self.init(account: version, revisions: revisions.values.reduce(0, +))
        }
    }

    /// Selects the version of an account: no more than two look-ups by index, and one for each of its purchases.
    package static func command(
        versionOf account: UUID, in environment: StoreEnvironment, bundleIds: [String]?
    ) -> Command {
        Command(version, account, environment.rawValue, bundleIds)
    }

    /// Decodes the result of the command above.
    package static func version(_ rows: Rows) throws -> Version {
        Version(account: try rows[0].value("version"), revisions: try rows[0].value("revisions"))
    }

    /// The newest facts of some purchases, and the reason of their access at a moment.
    package static func command(
        purchases ids: [String], in environment: StoreEnvironment, at moment: Date
    ) -> Command {
        Command(ofPurchases, environment.rawValue, ids, moment.atMilliseconds)
    }

    /// Decodes the results of the command above.
    package static func subscriptions(_ rows: Rows) throws -> [Subscription] {
        try rows.map { row in try SubscriptionColumns.read(row).subscription }
    }

    /// The state of each purchase by its id, from the results of the command above.
    package static func states(_ rows: Rows, at moment: Date) throws -> [String: SubscriptionState] {
        try rows.reduce(into: [:]) { states, row in
            let subscription = try SubscriptionColumns.read(row).subscription
            let reason = try row.optional("access_reason", as: String.self).flatMap(AccessPeriod.Reason.init)
            states[subscription.key.originalTransactionId] = subscription.state(
                at: moment.atMilliseconds, access: reason)
        }
    }

    static let statements = [version, ofAccounts, ofAccountsBesidePurchases, ofPurchases]

    private static let ofPurchases = Statement(
        "entitlement-purchases",
        unsafeSQL: """
            select \(SubscriptionColumns.selected), (
                    select reason
                    from access_period
                    where access_period.environment = subscription.environment
                        and access_period.original_transaction_id = subscription.original_transaction_id
                        and $3::timestamptz <@ period
                ) as access_reason
            from subscription
            where environment = $1::text::store_environment and original_transaction_id = any ($2::text[])
            """)

    private static let version = Statement(
        "entitlement-version",
        """
        select coalesce(
                (
                    select version
                    from account_version
                    where app_account_token = $1::uuid and environment = $2::text::store_environment
                ), 0) as version,
            (
                select coalesce(sum(revision), 0)::bigint
                from purchase_account used
                cross join lateral (
                    select revision
                    from subscription
                    where environment = $2::text::store_environment
                        and original_transaction_id = used.original_transaction_id
                    offset 0
                ) as held
                where used.app_account_token = $1::uuid and used.environment = $2::text::store_environment
                    and ($3::text[] is null or used.bundle_id = any ($3::text[]))
            ) as revisions
        """)

    private static let ofAccounts = Statement(
        "entitlement-of-accounts",
        unsafeSQL: """
            select line.source, given.account, line.bundle_id, line.id, line.product_id, line.starts_at, line.ends_at,
                line.until, line.reason, line.transaction_id,
                coalesce(paid.subscription_group_id, held.subscription_group_id) as subscription_group_id, coalesce(paid.ownership, held.ownership) as ownership,
                held.is_auto_renewing, coalesce(line.notification_uuid, paid.notification_uuid) as notification_uuid,
                coalesce(decisive.signed_at, paid.event_at) as signed_at,
                coalesce(held.revision, line.revision) as revision, coalesce(known.version, 0) as account_version
            from unnest($1::uuid[]) as given (account)
            left join account_version known
                on known.app_account_token = given.account and known.environment = $2::text::store_environment
            cross join lateral (
                select 'access' as source, bundle_id, original_transaction_id as id, product_id,
                    lower(period) as starts_at, upper(period) as ends_at, until, reason, transaction_id, notification_uuid,
                    null::bigint as revision
                from account_access
                where app_account_token = given.account and environment = $2::text::store_environment
                    and ($3::text[] is null or bundle_id = any ($3::text[]))
                    and (upper_inf(period) or upper(period) > $4::timestamptz)
                union all
                select 'purchase', bundle_id, original_transaction_id, null, null, null, null, because, null, null, null
                from purchase_account
                where app_account_token = given.account and environment = $2::text::store_environment
                    and ($3::text[] is null or bundle_id = any ($3::text[]))
                union all
                \(beside)
            ) as line
            left join subscription held
                on line.source in ('access', 'purchase') and held.environment = $2::text::store_environment
                and held.original_transaction_id = line.id
            left join transaction paid
                on line.transaction_id is not null and paid.environment = $2::text::store_environment
                and paid.transaction_id = line.transaction_id
            left join notification decisive on decisive.notification_uuid = line.notification_uuid
            where line.source in ('grant', 'app') or held.revision is not null
            order by given.account, line.bundle_id, line.id, line.starts_at nulls last, line.source
            """)

    /// What accounts have beside purchases.
    private static let ofAccountsBesidePurchases = Statement(
        "entitlement-of-accounts-beside-purchases",
        unsafeSQL: """
            select line.*, given.account, null as subscription_group_id, null as ownership, null::boolean as is_auto_renewing,
                null::timestamptz as signed_at, null::bigint as account_version
            from unnest($1::uuid[]) as given (account)
            cross join lateral (
                \(beside)
            ) as line (
                source, bundle_id, id, product_id, starts_at, ends_at, until, reason, transaction_id, notification_uuid,
                revision)
            """)

    /// For each account: grants by hand, and the purchase of the app.
    private static let beside = """
        select 'grant', bundle_id, id::text, product_id, starts_at, least(ends_at, revoked_at), least(ends_at, revoked_at),
            'manualGrant', null, null::uuid, case when revoked_at is null then 1::bigint else 2 end
        from manual_grant
        where app_account_token = given.account and environment = $2::text::store_environment
            and ($3::text[] is null or bundle_id = any ($3::text[]))
        union all
        select 'app', bundle_id, identity, null, coalesce(original_purchased_at, recorded_at), null, null,
            original_application_version, null, null, 1
        from account_app
        where app_account_token = given.account and environment = $2::text::store_environment
            and ($3::text[] is null or bundle_id = any ($3::text[]))
            and is_entitled
        """
}
