import Contracts
import Postgres
import Refunds

import struct Foundation.Date

/// Reads what a policy decides by, as it was known at a moment.
enum RefundSubjects {
    /// Read what was known about transactions at a moment each: requests, outcomes, consents and usage that were stored by then. The
    /// transaction itself and the account of the purchase are those of now.
    static func command(_ keys: [RefundKey], knownAt moments: [Date]) -> Command {
        Command(statement, keys.map(\.environment.rawValue), keys.map(\.transactionId), moments)
    }

    /// What is known now. Not by this process's clock, from which that of the process that stored it may differ.
    static func command(_ keys: [RefundKey]) -> Command {
        command(keys, knownAt: keys.map { _ in .distantFuture })
    }

    /// The subjects in the order of the keys; nil for a transaction without a request by then.
    static func subjects(_ rows: Rows) throws -> [RefundSubject?] {
        try rows.map { row in
            guard let requestedAt = try row.optional("requested_at", as: Date.self) else { return nil }
            var subject = RefundSubject(
                transactionId: try row.value("transaction_id"), bundleId: try row.value("bundle_id"),
                productId: try row.optional("product_id") ?? "", productType: try row.optional("product_type") ?? "",
                requestedAt: requestedAt)
            subject.storefront = try row.optional("storefront")
            subject.priceMilliunits = try row.optional("price_milliunits")
            subject.currency = try row.optional("currency")
            subject.isFamilyShared = try row.value("is_family_shared")
            subject.isAdvancedCommerce = try row.value("is_advanced_commerce")
            subject.purchasedAt = try row.optional("purchased_at")
            subject.originallyPurchasedAt = try row.optional("originally_purchased_at")
            subject.transactionReason = try row.optional("transaction_reason")
            subject.reason = try row.optional("reason")
            subject.isFirstPayment = try row.value("is_first_payment")
            subject.isConvertedFromTrial = try row.value("is_converted_from_trial")
            subject.refunds = try row.value("refunds")
            subject.refundRequests = try row.value("refund_requests")
            subject.paidTransactions = Int(try row.value("paid_transactions", as: Int64.self))
            if try row.value("has_account") {
                subject.account = RefundSubject.Account(
                    createdAt: try row.optional("created_at"),
                    consent: try row.optional("given_at", as: Date.self).map { moment in
                        (isGiven: try row.value("is_given"), at: moment)
                    }, rescindedAt: try row.optional("rescinded_at"))
            }
            if try row.value("has_usage") {
                subject.usage = RefundSubject.UsageReport(
                    percentage: try row.optional("percentage"),
                    deliveryStatus: try row.optional("delivery_status", as: String.self)
                        .flatMap(DeliveryStatus.init),
                    isSampleProvided: try row.optional("is_sample_provided"))
            }
            return subject
        }
    }

    /// Whether a transaction was paid for. Old payloads have no price.
    private static func isPaid(_ name: String) -> String {
        "(coalesce(\(name).price_milliunits, 1) > 0 and \(name).offer_discount_type is distinct from 'FREE_TRIAL')"
    }

    /// A payload, or null for one with a NUL, of which Postgres reads no member: the statement would fail, and no other request of the
    /// same turn would be decided.
    private static func readable(_ column: String) -> String {
        "(case when position('\\u0000' in \(column)::text) = 0 then \(column) end)"
    }

    /// The newest refund that stands, or request, of each other transaction of the customer, by when. A request that is declined after
    /// a refund of some seats takes back nothing.
    private static func others(_ condition: String, where newest: String, beside more: String = "") -> String {
        """
        array(
            select signed_at
            from (
                select newest.signed_at
                from (
                    select distinct on (notification.transaction_id) notification.notification_type, notification.signed_at
                    from unnest(customer.purchases) as purchase
                    cross join lateral (
                        select *
                        from notification
                        where notification.environment = given.environment and original_transaction_id = purchase
                            and \(condition) and recorded_at <= given.known_at
                            and transaction_id <> given.transaction_id and signed_at is not null
                        offset 0
                    ) as notification
                    order by notification.transaction_id, notification.signed_at desc, notification.notification_uuid desc
                ) as newest
                where \(newest)
                \(more)
            ) as told
            order by signed_at desc
            limit 1000)
        """
    }

    /// The refunds that no notification told, as of customers who were imported. Of seats and of items of Advanced Commerce the
    /// transaction says no date: they count from the purchase on, the earliest that they can be of.
    private static let withoutNotification = """
        union all
        select coalesce(bought.revoked_at, least(bought.purchased_at, bought.signed_at))
        from unnest(customer.purchases) as purchase
        cross join lateral (
            select *
            from transaction
            where transaction.environment = given.environment and original_transaction_id = purchase
                and (revoked_at is not null or revoked_seat_quantity > 0 or revocation_percentage > 0)
                and coalesce(revocation_type not in ('FAMILY_REVOKE', 'ASSIGNMENT_REVOKE'), true)
                and coalesce(ownership not in ('FAMILY_SHARED', 'ASSIGNED'), true)
                and transaction_id <> given.transaction_id
            offset 0
        ) as bought
        cross join lateral (
            select coalesce(bool_or(is_revoked or notification_uuid = bought.notification_uuid), false) as is_known,
                coalesce(bool_or(notification_type in ('REFUND', 'REFUND_REVERSED')), false) as is_told
            from notification
            where notification.environment = given.environment and original_transaction_id = purchase
                and transaction_id = bought.transaction_id and recorded_at <= given.known_at
        ) as ledger
        where is_known and not is_told
        """

    /// Offset 0 makes the planner look up each purchase: it expects more of them than there are, and would read all of an environment.
    static let statement = Statement(
        "refund-subjects",
        unsafeSQL: """
            select given.transaction_id, coalesce(held.bundle_id, asked.bundle_id, '') as bundle_id, held.product_id,
                held.product_type, held.storefront, held.price_milliunits, held.currency,
                coalesce(held.ownership = 'FAMILY_SHARED', false) as is_family_shared,
                coalesce(asked.is_advanced_commerce, false) as is_advanced_commerce,
                held.purchased_at, held.originally_purchased_at, held.transaction_reason, asked.reason, asked.requested_at,
                coalesce(\(isPaid("held")) and not history.was_paid, false) as is_first_payment,
                coalesce(\(isPaid("held")) and not history.was_paid and history.was_trial, false)
                    as is_converted_from_trial,
                \(others("notification_type in ('REFUND', 'REFUND_REVERSED')",
                    where: "notification_type = 'REFUND'", beside: withoutNotification)) as refunds,
                \(others("notification_type = 'CONSUMPTION_REQUEST'", where: "true")) as refund_requests,
                (
                    select count(*)
                    from unnest(customer.purchases) as purchase
                    cross join lateral (
                        select *
                        from transaction
                        where transaction.environment = given.environment and original_transaction_id = purchase
                        offset 0
                    ) as paid
                    -- Apple charges a renewal up to a day before its period begins.
                    where \(isPaid("paid"))
                        and (paid.purchased_at <= asked.requested_at or paid.transaction_id = given.transaction_id)
                        and coalesce(paid.ownership not in ('FAMILY_SHARED', 'ASSIGNED'), true)
                ) as paid_transactions,
                account.token is not null as has_account, customer_record.created_at, consent.is_given, consent.given_at,
                rescission.rescinded_at, usage.reported_at is not null as has_usage, usage.percentage,
                usage.delivery_status, usage.is_sample_provided
            from unnest($1::text[], $2::text[], $3::timestamptz[]) with ordinality
                as named (environment_name, transaction_id, known_at, place)
            cross join lateral (
                select environment_name::store_environment as environment, transaction_id, known_at
            ) as given
            left join refund_request request
                on request.environment = given.environment and request.transaction_id = given.transaction_id
            left join transaction held
                on held.environment = given.environment and held.transaction_id = given.transaction_id
            left join lateral (
                select min(signed_at) as requested_at, max(bundle_id) as bundle_id,
                    (array_agg(data ->> 'consumptionRequestReason' order by signed_at desc, notification_uuid desc))[1]
                        as reason,
                    bool_or(data -> 'signedTransactionInfo' -> 'advancedCommerceInfo' is not null)
                        as is_advanced_commerce
                from (
                    select told.signed_at, told.notification_uuid, told.bundle_id, \(readable("payload.decoded")) -> 'data' as data
                    from notification told
                    left join notification_payload payload
                        on payload.notification_uuid = told.notification_uuid and payload.recorded_at = told.recorded_at
                    where told.environment = given.environment
                        and told.original_transaction_id = request.original_transaction_id
                        and told.transaction_id = given.transaction_id
                        and told.notification_type = 'CONSUMPTION_REQUEST' and told.recorded_at <= given.known_at
                        and told.signed_at > coalesce((
                            select max(decided.signed_at)
                            from notification decided
                            where decided.environment = given.environment
                                and decided.original_transaction_id = request.original_transaction_id
                                and decided.transaction_id = given.transaction_id
                                and decided.notification_type in ('REFUND', 'REFUND_DECLINED', 'REFUND_REVERSED')
                                and decided.recorded_at <= given.known_at), '-infinity')
                ) as open
            ) as asked on true
            left join lateral (
                select coalesce(bool_or(\(isPaid("earlier"))), false) as was_paid,
                    coalesce(bool_or(earlier.offer_discount_type = 'FREE_TRIAL'), false) as was_trial
                from transaction earlier
                where earlier.environment = given.environment
                    and earlier.original_transaction_id = held.original_transaction_id
                    and earlier.purchased_at < held.purchased_at
            ) as history on true
            left join lateral (
                select app_account_token as token
                from purchase_account
                where purchase_account.environment = given.environment
                    and purchase_account.original_transaction_id = request.original_transaction_id
                    and purchase_account.bundle_id = request.bundle_id and (may_use or because = 'owner')
                order by because = 'owner' desc, decided_at, app_account_token
                limit 1
            ) as account on true
            left join lateral (
                select array(
                    select request.original_transaction_id
                    union
                    select original_transaction_id
                    from purchase_account
                    where purchase_account.environment = given.environment
                        and purchase_account.bundle_id = request.bundle_id and app_account_token = account.token
                        and (may_use or because = 'owner')
                    union
                    select original_transaction_id
                    from subscription
                    where subscription.environment = given.environment and subscription.bundle_id = request.bundle_id
                        and subscription.app_transaction_id = held.app_transaction_id
                ) as purchases
            ) as customer on true
            left join customer customer_record
                on customer_record.environment = given.environment and customer_record.bundle_id = request.bundle_id
                and customer_record.app_account_token = account.token and customer_record.created_at <= given.known_at
            left join lateral (
                select is_given, given_at
                from customer_consent
                where customer_consent.environment = given.environment
                    and customer_consent.bundle_id = request.bundle_id and app_account_token = account.token
                    and kind = 'consumption' and recorded_at <= given.known_at
                order by given_at desc, id desc
                limit 1
            ) as consent on true
            left join lateral (
                select max(told.signed_at) as rescinded_at
                from (
                    select identity
                    from account_app
                    where account_app.environment = given.environment and account_app.bundle_id = request.bundle_id
                        and app_account_token = account.token
                    union
                    select bought.app_transaction_id
                    from unnest(customer.purchases) as purchase
                    cross join lateral (
                        select app_transaction_id
                        from subscription
                        where subscription.environment = given.environment and original_transaction_id = purchase
                        offset 0
                    ) as bought
                ) as app
                join notification told on told.environment = given.environment and told.bundle_id = request.bundle_id
                    and told.notification_type = 'RESCIND_CONSENT' and told.recorded_at <= given.known_at
                    and told.app_transaction_id = app.identity
                where account.token is not null
            ) as rescission on true
            left join lateral (
                select reported_at, percentage, delivery_status, is_sample_provided
                from usage_report
                where usage_report.environment = given.environment
                    and usage_report.transaction_id = given.transaction_id and reported_at <= given.known_at
                order by reported_at desc, id desc
                limit 1
            ) as usage on true
            order by place
            """)
}
