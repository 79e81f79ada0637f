import Postgres

extension FigureStore {
    static let statements = [
        lock, turn, begin, changed, take, due, move, report, apps, movements, extended, removeMovements, addMovements,
        fold, status, waiting,
        clearDays,
        clearMonths, clearConverted, addDays, enqueueAll, removeEmpty, removeEmptyMonths, removeEmptyConverted,
    ]

    /// One transaction at a time changes figures.
    static let lock = Statement("figures-lock", "select from insight_position for update")

    /// The number of transactions that wrote figures so far.
    static let turn = Statement("figures-turn", "select turn from insight_position")

    static let begin = Statement(
        "figures-begin", "update insight_position set turn = turn + 1 where turn = $1::bigint returning turn")

    static let changed = Statement(
        "figures-changed",
        """
        select environment::text as environment, original_transaction_id, changed_by::text as changed_by
        from insight_change
        order by insight_change.environment, insight_change.original_transaction_id, insight_change.changed_by
        limit $1::bigint
        """)

    static let take = Statement(
        "figures-take",
        """
        delete from insight_change
        where ctid = any (array(
            select change.ctid
            from unnest($1::text[], $2::text[], $3::text[]) as given (environment, id, changed_by)
            cross join lateral (
                select ctid
                from insight_change
                where environment = given.environment::store_environment and original_transaction_id = given.id
                    and changed_by = given.changed_by::xid8
                offset 0
            ) as change))
        """)

    static let due = Statement(
        "figures-due",
        """
        select environment::text as environment, original_transaction_id
        from insight_purchase
        where next_at <= $1::timestamptz
        order by next_at
        limit $2::bigint
        """)

    static let move = Statement(
        "figures-move", "update insight_position set as_of = greatest(as_of, $1::timestamptz)")

    /// Keeps the sums of days that are over and complete, once each. A day that was not complete within a month has no first report.
    /// The row of a day without a kind has no sums, because those of different currencies are never added.
    static let report = Statement(
        "figures-report",
        unsafeSQL: """
            insert into insight_reported (reported_at, amount, count, day, environment, bundle_id, kind, currency)
            select $1::timestamptz, case when grouping(kind) = 0 then sum(amount) else 0 end,
                case when grouping(kind) = 0 then sum(count) else 0 end, complete.day, complete.environment, complete.bundle_id,
                coalesce(kind, ''), coalesce(currency, '')
            from coverage_day complete
            left join insight_day figure on figure.environment = complete.environment
                and figure.bundle_id = complete.bundle_id and figure.day = complete.day
                and \(isReported)
            where completed_at is not null
                and complete.day between ($1::timestamptz at time zone 'UTC')::date - 31
                    and ($1::timestamptz at time zone 'UTC')::date - 1
                and not exists (
                    select
                    from insight_reported reported
                    where reported.environment = complete.environment and reported.bundle_id = complete.bundle_id
                        and reported.day = complete.day)
            group by grouping sets (
                (complete.day, complete.environment, complete.bundle_id, kind, currency),
                (complete.day, complete.environment, complete.bundle_id))
            having grouping(kind) = 1 or kind is not null
            """)

    static let apps = Statement(
        "figures-apps",
        unsafeSQL: """
            select environment::text as environment, original_transaction_id, bundle_id
            \(PurchaseKeys.lookingUp("subscription"))
            """)

    static let movements = Statement(
        "figures-movements",
        unsafeSQL: """
            select \(MovementRow.columns.selected())
            \(PurchaseKeys.lookingUp("mrr_movement"))
            """)

    /// The transactions of purchases whose period Apple extended, each with its end before that. The ledger has every version that arrived,
    /// and the table of transactions the newest.
    static let extended = Statement(
        "figures-extended",
        """
        select given_environment as environment, given_id as original_transaction_id, transaction_id, nominal_end
        from unnest($1::text[], $2::text[]) as given (given_environment, given_id)
        cross join lateral (
            select transaction_id, min(expires_at) as nominal_end
            from notification
            where environment = given_environment::store_environment and original_transaction_id = given_id
                and transaction_id is not null
            group by transaction_id
            having min(expires_at) < max(expires_at)
            offset 0
        ) as extended
        """)

    static let removeMovements = Statement(
        "figures-remove-movements",
        """
        delete from mrr_movement
        using unnest($1::text[], $2::text[]) as given (given_environment, given_id)
        where environment = given_environment::store_environment and original_transaction_id = given_id
        """)

    static let addMovements = Statement(
        "figures-add-movements",
        unsafeSQL: """
            insert into mrr_movement (\(MovementRow.columns.names()))
            select *
            from unnest(\(MovementRow.columns.placeholders())) as given (\(MovementRow.columns.names()))
            """)

    /// Keeps what each purchase adds to the days, and adds the difference to what it added before to the sums; that of days which are
    /// reported is kept by purchase, too.
    static let fold = Statement(
        "figures-fold",
        unsafeSQL: """
            with purchase as (
                select environment::store_environment as environment, original_transaction_id, bundle_id, next_at,
                    figures::jsonb as figures, day_keys::integer[] as day_keys, place
                from unnest(\(PurchaseRow.columns.placeholders())) with ordinality
                    as given (\(PurchaseRow.columns.names()), place)
            ), figure as (
                select *
                from unnest(\(FigureRow.columns.placeholders(from: PurchaseRow.columns.count + 1)))
                    as given (\(FigureRow.columns.names()))
            ), kept as (
                insert into insight_purchase as held (\(PurchaseRow.columns.names()))
                select \(PurchaseRow.columns.names())
                from purchase
                on conflict (environment, original_transaction_id) do update
                set bundle_id = excluded.bundle_id, next_at = excluded.next_at, figures = excluded.figures,
                    day_keys = excluded.day_keys
                where (held.bundle_id, held.next_at, held.figures)
                    is distinct from (excluded.bundle_id, excluded.next_at, excluded.figures)
            ), change as materialized (
                select environment, bundle_id, original_transaction_id, kind, day, step::integer, currency, product_id,
                    storefront, period, offer, amount, revenuecat_amount, purchases, count
                from figure
                join purchase using (place)
                union all
                select environment, held.bundle_id, original_transaction_id, kind, day, step, currency, product_id, storefront,
                    period, offer, -amount, -revenuecat_amount, -purchases, -count
                from purchase
                join insight_purchase held using (environment, original_transaction_id)
                cross join lateral (\(unpacked)) as unpacked
            ), reported as materialized (
                select environment, bundle_id, day
                from (select distinct environment, bundle_id, day from change) as place
                where exists (
                    select
                    from insight_reported held
                    where held.environment = place.environment and held.bundle_id = place.bundle_id
                        and held.day = date '1970-01-01' + place.day::integer and held.kind = ''
                    offset 0)
            ), corrected as (
                insert into insight_correction (
                    corrected_at, amount, count, day, environment, bundle_id, original_transaction_id, kind, currency)
                select $\(PurchaseRow.columns.count + FigureRow.columns.count + 1)::timestamptz, sum(amount), sum(count),
                    date '1970-01-01' + day::integer, environment, bundle_id, original_transaction_id, kind, currency
                from change
                join reported using (environment, bundle_id, day)
                where \(isReported)
                group by day, environment, bundle_id, original_transaction_id, kind, currency
                having sum(amount) <> 0 or sum(count) <> 0
            )
            insert into insight_day as held (\(columns))
            select environment, bundle_id, kind, date '1970-01-01' + day::integer, step, currency, product_id, storefront,
                period, offer, sum(amount), sum(revenuecat_amount), sum(purchases), sum(count)
            from change
            group by environment, bundle_id, kind, day, step, currency, product_id, storefront, period, offer
            having sum(amount) <> 0 or sum(revenuecat_amount) <> 0 or sum(purchases) <> 0 or sum(count) <> 0
            on conflict (environment, bundle_id, kind, day, step, currency, product_id, storefront, period, offer)
            do update set amount = held.amount + excluded.amount,
                revenuecat_amount = held.revenuecat_amount + excluded.revenuecat_amount,
                purchases = held.purchases + excluded.purchases, count = held.count + excluded.count
            """)

    /// Without what time alone changes, and what is counted again from movements.
    private static let isReported = """
        kind not in ('lostInDay', 'lostInMonth', 'trialRunning', 'trialEnded', 'trialPaid', 'periods', 'resubscribedPeriods',
            'unbrokenPeriods')
        """

    private static let columns = """
        environment, bundle_id, kind, day, step, currency, product_id, storefront, period, offer, amount, revenuecat_amount,
        purchases, count
        """

    /// The elements of `held.figures` as rows.
    private static let unpacked = """
        select (one->>0)::bigint as day, one->>1 as kind, (one->>2)::integer as step, one->>3 as currency,
            one->>4 as product_id, one->>5 as storefront, one->>6 as period, one->>7 as offer, (one->>8)::bigint as amount,
            (one->>9)::bigint as revenuecat_amount, (one->>10)::bigint as purchases, (one->>11)::bigint as count
        from jsonb_array_elements(held.figures) as one
        """

    static let status = Statement(
        "figures-status",
        """
        select as_of, checked_at, coalesce(checked_at, created_at) as unchecked_since, differences
        from insight_position
        """)

    static let waiting = Statement(
        "figures-waiting",
        """
        select count(*) as purchases
        from (select distinct environment, original_transaction_id from insight_change) as waiting
        """)

    static let clearDays = Statement("figures-clear-days", "delete from insight_day")

    /// What is left without any day.
    static let clearMonths = Statement("figures-clear-months", "delete from insight_month")

    static let clearConverted = Statement("figures-clear-converted", "delete from insight_converted")

    static let addDays = Statement(
        "figures-add-days",
        unsafeSQL: """
            insert into insight_day (\(columns))
            select environment, bundle_id, kind, date '1970-01-01' + day::integer, step, currency, product_id, storefront,
                period, offer, sum(amount), sum(revenuecat_amount), sum(purchases), sum(count)
            from insight_purchase held
            cross join lateral (\(unpacked)) as unpacked
            group by environment, bundle_id, kind, day, step, currency, product_id, storefront, period, offer
            """)

    static let enqueueAll = Statement(
        "figures-enqueue-all",
        """
        insert into insight_change (environment, original_transaction_id)
        select environment, original_transaction_id from subscription
        """)

    static let removeEmpty = Statement(
        "figures-remove-empty",
        "delete from insight_day where amount = 0 and revenuecat_amount = 0 and purchases = 0 and count = 0")

    static let removeEmptyMonths = Statement(
        "figures-remove-empty-months",
        "delete from insight_month where amount = 0 and revenuecat_amount = 0 and purchases = 0 and count = 0")

    static let removeEmptyConverted = Statement(
        "figures-remove-empty-converted", "delete from insight_converted where worth = 0 and count = 0")
}
