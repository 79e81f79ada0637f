import Contracts
import Postgres
import Subscriptions

/// The statements of `SubscriptionStore`, apart from it because the columns are many.
enum SubscriptionStatements {
    /// All but `environment`, which is read and written as text.
    private static let columns: [StaticString] = [
        """
        revision, original_transaction_id, bundle_id, signed_at, notification_uuid, status, status_news_at,
        status_news_uuid, transaction_news_at, transaction_news_uuid, renewal_news_at, renewal_news_uuid,
        """, TransactionColumns.names, ", transaction_signed_at,", RenewalColumns.names,
        ", bundle_news_at, bundle_news_uuid",
    ]

    private static let select: [StaticString] = ["select environment::text as environment,"] + columns

    static let find = Statement(
        "subscription-find",
        parts: select + [
            """
            from subscription
            where environment = $1::text::store_environment and original_transaction_id = $2::text
            """
        ])

    static let page = Statement(
        "subscription-page",
        parts: select + [
            """
            from subscription
            where environment = $1::text::store_environment and original_transaction_id > $2::text
            order by original_transaction_id
            limit $3::bigint
            """
        ])

    /// What the purchases of a batch were like before it, locked in order until the transaction ends.
    static let lock = Statement(
        "subscription-lock",
        parts: select + [
            """
            from subscription
            where (environment, original_transaction_id) in (
                select given.environment::store_environment, given.original_transaction_id
                from unnest($1::text[], $2::text[]) as given (environment, original_transaction_id))
            order by subscription.environment, original_transaction_id
            for update
            """
        ])

    /// A row is written over the revision its writer has read, or not at all; the version is checked too, in case a row was
    /// ever restored by hand. The caller compares the number of rows written with the number of rows sent.
    static let upsert = Statement(
        "subscription-upsert",
        parts: ["insert into subscription as held (environment,"] + columns
            + [") select environment::store_environment,"] + columns + [
                """
                from unnest(
                    $1::text[], $2::bigint[], $3::text[], $4::text[], $5::timestamptz[], $6::uuid[], $7::bigint[],
                    $8::timestamptz[], $9::uuid[], $10::timestamptz[], $11::uuid[], $12::timestamptz[], $13::uuid[],
                    $14::text[], $15::text[], $16::text[], $17::text[], $18::timestamptz[], $19::timestamptz[],
                    $20::timestamptz[], $21::bigint[], $22::text[], $23::text[], $24::boolean[], $25::timestamptz[],
                    $26::bigint[], $27::bigint[], $28::text[], $29::bigint[], $30::text[], $31::text[], $32::text[],
                    $33::text[], $34::text[], $35::text[], $36::text[], $37::timestamptz[], $38::boolean[],
                    $39::text[], $40::boolean[], $41::timestamptz[], $42::bigint[], $43::bigint[], $44::timestamptz[],
                    $45::timestamptz[], $46::text[], $47::bigint[], $48::text[], $49::bigint[], $50::text[],
                    $51::timestamptz[], $52::timestamptz[], $53::uuid[]
                ) as given (environment,
                """
            ] + columns + [
                """
                )
                order by given.environment, given.original_transaction_id
                on conflict (environment, original_transaction_id) do update
                set
                    revision = excluded.revision,
                    bundle_id = excluded.bundle_id,
                    signed_at = excluded.signed_at,
                    notification_uuid = excluded.notification_uuid,
                    status = excluded.status,
                    status_news_at = excluded.status_news_at,
                    status_news_uuid = excluded.status_news_uuid,
                    transaction_news_at = excluded.transaction_news_at,
                    transaction_news_uuid = excluded.transaction_news_uuid,
                    renewal_news_at = excluded.renewal_news_at,
                    renewal_news_uuid = excluded.renewal_news_uuid,
                """, TransactionColumns.overwriting,
                """
                    , transaction_signed_at = excluded.transaction_signed_at,
                    is_auto_renewing = excluded.is_auto_renewing,
                    auto_renew_product_id = excluded.auto_renew_product_id,
                    is_in_billing_retry = excluded.is_in_billing_retry,
                    grace_period_expires_at = excluded.grace_period_expires_at,
                    expiration_intent = excluded.expiration_intent,
                    price_increase_status = excluded.price_increase_status,
                    recent_start_at = excluded.recent_start_at,
                    renewal_at = excluded.renewal_at,
                    renewal_product_id = excluded.renewal_product_id,
                    renewal_price_milliunits = excluded.renewal_price_milliunits,
                    renewal_currency = excluded.renewal_currency,
                    renewal_offer_type = excluded.renewal_offer_type,
                    renewal_offer_id = excluded.renewal_offer_id,
                    renewal_signed_at = excluded.renewal_signed_at,
                    bundle_news_at = excluded.bundle_news_at,
                    bundle_news_uuid = excluded.bundle_news_uuid
                where held.revision = excluded.revision - 1
                    and (held.signed_at, held.notification_uuid) <= (excluded.signed_at, excluded.notification_uuid)
                """,
            ])

    static func command(locking keys: [SubscriptionKey]) -> Command {
        Command(lock, keys.map(\.environment.rawValue), keys.map(\.originalTransactionId))
    }

    static func command(upserting known: [SubscriptionRevision]) -> Command {
        let rows = known.map(\.subscription)
        var parameters: [any PostgresParameter] = [
            rows.map(\.key.environment.rawValue),
            known.map { $0.revision + 1 },
            rows.map(\.key.originalTransactionId),
            rows.map(\.bundleId),
            rows.map(\.version.signedDate),
            rows.map(\.version.notificationUUID),
        ]
        parameters += [
            rows.map { $0.status.map(Int64.init) },
            rows.map { $0.statusVersion?.signedDate },
            rows.map { $0.statusVersion?.notificationUUID },
            rows.map { $0.transactionVersion?.signedDate },
            rows.map { $0.transactionVersion?.notificationUUID },
            rows.map { $0.renewalVersion?.signedDate },
            rows.map { $0.renewalVersion?.notificationUUID },
        ]
        parameters += TransactionColumns.parameters(rows.map(\.transaction))
        parameters += RenewalColumns.parameters(rows.map(\.renewal))
        parameters += [rows.map(\.bundleIdVersion.signedDate), rows.map(\.bundleIdVersion.notificationUUID)]
        return Command(upsert, all: parameters)
    }
}
