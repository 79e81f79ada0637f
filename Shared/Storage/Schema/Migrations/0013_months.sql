-- Sums of calendar months, so that a report over years reads a thirtieth of the rows, and none to convert. Held equal to what the days
-- and the rates say by triggers of both, whichever version of the scheduler writes the days.

-- The sums of a month (UTC) of what purchases add to its days, without lostInDay, which reports read day by day.
create table insight_month (
    amount bigint not null,
    revenuecat_amount bigint not null,
    purchases bigint not null,
    count bigint not null,
    -- Of its first 8, 16 and 24 days: for a part of a month, as retention needs it, few days are read beside one of them.
    count_to_8 bigint not null,
    count_to_16 bigint not null,
    count_to_24 bigint not null,
    month date not null, -- its first day
    step integer not null, -- as in insight_day
    environment store_environment not null,
    bundle_id text not null,
    kind text not null,
    currency text not null,
    product_id text not null,
    storefront text not null,
    period text not null,
    offer text not null,
    primary key (environment, bundle_id, kind, month, step, currency, product_id, storefront, period, offer)
) with (fillfactor = 80);

-- Adds what a statement changed in insight_day. Runs as its owner, so that only days can be written.
create function add_to_insight_month() returns trigger
language plpgsql security definer
set search_path from current
as $$
begin
    execute format(
        $statement$
            insert into insight_month as held (amount, revenuecat_amount, purchases, count, count_to_8, count_to_16, count_to_24, month,
                step, environment, bundle_id, kind, currency, product_id, storefront, period, offer)
            select *
            from (
                select sum(sign * amount), sum(sign * revenuecat_amount), sum(sign * purchases), sum(sign * count),
                    sum(case when day < month + 8 then sign * count else 0 end),
                    sum(case when day < month + 16 then sign * count else 0 end),
                    sum(case when day < month + 24 then sign * count else 0 end), month, step, environment, bundle_id, kind, currency,
                    product_id, storefront, period, offer
                from (select *, date_trunc('month', day::timestamp)::date as month from (%s) as given) as change
                where kind <> 'lostInDay'
                group by month, step, environment, bundle_id, kind, currency, product_id, storefront, period, offer
            ) as total (a, b, c, d, e, f, g)
            where (a, b, c, d, e, f, g) <> (0, 0, 0, 0, 0, 0, 0)
            on conflict (environment, bundle_id, kind, month, step, currency, product_id, storefront, period, offer)
            do update set amount = held.amount + excluded.amount,
                revenuecat_amount = held.revenuecat_amount + excluded.revenuecat_amount,
                purchases = held.purchases + excluded.purchases, count = held.count + excluded.count,
                count_to_8 = held.count_to_8 + excluded.count_to_8, count_to_16 = held.count_to_16 + excluded.count_to_16,
                count_to_24 = held.count_to_24 + excluded.count_to_24
        $statement$,
        case tg_op
            when 'INSERT' then 'select 1 as sign, * from added'
            when 'DELETE' then 'select -1 as sign, * from removed'
            else 'select 1 as sign, * from added union all select -1, * from removed'
        end);
    return null;
end
$$;

create trigger add_to_insight_month after insert on insight_day
    referencing new table as added for each statement execute function add_to_insight_month();
create trigger change_insight_month after update on insight_day
    referencing old table as removed new table as added for each statement execute function add_to_insight_month();
create trigger take_from_insight_month after delete on insight_day
    referencing old table as removed for each statement execute function add_to_insight_month();

-- Charges and refunds of a month (UTC) in a reporting currency, each day by its own rate: the newest of it and the six days before, as
-- over weekends.
create table insight_converted (
    worth numeric not null, -- each day's amount times its rate, added up exactly: trillionths of a thousandth of a unit
    count bigint not null,
    month date not null, -- its first day
    step integer not null, -- as in insight_day
    environment store_environment not null,
    is_rated boolean not null, -- false: of the days without a rate, whose amounts stay in their own currency and count by a rate of one
    reporting_currency text not null,
    bundle_id text not null,
    kind text not null check (kind in ('charge', 'loyalCharge', 'refund', 'refundOfCharge')),
    currency text not null, -- of the days
    product_id text not null,
    storefront text not null,
    period text not null,
    offer text not null,
    primary key (
        reporting_currency, environment, bundle_id, kind, month, currency, step, is_rated, storefront, product_id, period, offer)
) with (fillfactor = 80);

-- Adds what a statement changed in insight_day. Runs as its owner, so that only days and rates can be written. A transaction that
-- changes one of them holds the row of insight_position, so that neither misses what the other has not committed.
create function add_to_insight_converted() returns trigger
language plpgsql security definer
set search_path from current
as $$
begin
    if not exists (select from exchange_rate) then
        return null;
    end if;
    execute format(
        $statement$
            with recursive reporting (reporting_currency) as (
                select min(known.reporting_currency)
                from exchange_rate known
                union all
                select (
                    select min(known.reporting_currency)
                    from exchange_rate known
                    where known.reporting_currency > reporting.reporting_currency)
                from reporting
                where reporting.reporting_currency is not null
            ), change as materialized (
                select sum(sign * amount)::bigint as amount, sum(sign * count)::bigint as count, day, step, environment, bundle_id, kind,
                    currency, product_id, storefront, period, offer
                from (%s) as one
                where kind in ('charge', 'loyalCharge', 'refund', 'refundOfCharge')
                group by day, step, environment, bundle_id, kind, currency, product_id, storefront, period, offer
                having sum(sign * amount) <> 0 or sum(sign * count) <> 0
            ), rated as materialized (
                select reporting_currency, place.day, place.currency, trillionths
                from (select distinct day, currency from change) as place
                cross join reporting
                left join lateral (
                    select trillionths
                    from exchange_rate known
                    where known.reporting_currency = reporting.reporting_currency and known.currency = place.currency
                        and known.day <= place.day and known.day > place.day - 7
                    order by known.day desc
                    limit 1
                ) as newest on true
                where reporting_currency is not null
            )
            insert into insight_converted as held (worth, count, month, step, environment, is_rated, reporting_currency, bundle_id, kind,
                currency, product_id, storefront, period, offer)
            select sum(amount::numeric * coalesce(trillionths, 1000000000000)), sum(count), date_trunc('month', day::timestamp)::date,
                step, environment, trillionths is not null, reporting_currency, bundle_id, kind, currency, product_id, storefront, period,
                offer
            from change
            join rated using (day, currency)
            group by date_trunc('month', day::timestamp), step, environment, trillionths is not null, reporting_currency, bundle_id, kind,
                currency, product_id, storefront, period, offer
            on conflict (reporting_currency, environment, bundle_id, kind, month, currency, step, is_rated, storefront, product_id, period,
                offer)
            do update set worth = held.worth + excluded.worth, count = held.count + excluded.count
        $statement$,
        case tg_op
            when 'INSERT' then 'select 1 as sign, * from added'
            when 'DELETE' then 'select -1 as sign, * from removed'
            else 'select 1 as sign, * from added union all select -1, * from removed'
        end);
    return null;
end
$$;

create trigger add_to_insight_converted after insert on insight_day
    referencing new table as added for each statement execute function add_to_insight_converted();
create trigger change_insight_converted after update on insight_day
    referencing old table as removed new table as added for each statement execute function add_to_insight_converted();
create trigger take_from_insight_converted after delete on insight_day
    referencing old table as removed for each statement execute function add_to_insight_converted();

-- Converts months again, of some currencies or, where none are given, of all. Each app's days are looked up, because a join may read
-- the days of all time.
create function convert_insight_months(reporting text, currencies text[], first_month date, past_month date) returns void
language plpgsql
set search_path from current
set work_mem = '64MB' -- nothing is sorted on disk
as $$
begin
    delete from insight_converted
    where reporting_currency = reporting and month >= first_month and month < past_month
        and (currencies is null or currency = any (currencies));
    insert into insight_converted (worth, count, month, step, environment, is_rated, reporting_currency, bundle_id, kind, currency,
        product_id, storefront, period, offer)
    with worth as materialized (
        select currency, rated.day + ahead as day, trillionths
        from (
            select currency, day, trillionths, lead(day) over (partition by currency order by day) as next_day
            from exchange_rate
            where reporting_currency = reporting and day > first_month - 7 and day < past_month
        ) as rated
        cross join generate_series(0, 6) as ahead
        where rated.day + ahead < coalesce(next_day, 'infinity')
    )
    select sum(amount::numeric * coalesce(trillionths, 1000000000000)), sum(count), date_trunc('month', day::timestamp)::date, step,
        environment, trillionths is not null, reporting, bundle_id, kind, currency, product_id, storefront, period, offer
    from (select distinct environment as place, bundle_id as app from insight_month) as known
    cross join unnest(array['charge', 'loyalCharge', 'refund', 'refundOfCharge']) as asked
    cross join lateral (
        select *
        from insight_day
        where environment = place and bundle_id = app and kind = asked and day >= first_month and day < past_month
            and (currencies is null or currency = any (currencies))
        offset 0
    ) as held
    left join worth using (currency, day)
    group by date_trunc('month', day::timestamp), step, environment, trillionths is not null, bundle_id, kind, currency, product_id,
        storefront, period, offer
    having sum(amount) <> 0 or sum(count) <> 0;
end
$$;

-- Converts the months in which a rate that a statement changed counts; all of them where it has the first rates of a reporting currency.
create function convert_insight() returns trigger
language plpgsql security definer
set search_path from current
as $$
begin
    perform from insight_position for update;
    perform convert_insight_months(
        reporting_currency, case when is_known then currencies end,
        case when is_known then date_trunc('month', first_day::timestamp)::date else '-infinity' end,
        case when is_known then (date_trunc('month', last_day::timestamp) + interval '1 month')::date else 'infinity' end)
    from (
        select reporting_currency, array_agg(distinct currency) as currencies, min(day) as first_day, max(day) + 6 as last_day,
            exists (
                select
                from insight_converted held
                where held.reporting_currency = changed.reporting_currency) as is_known
        from changed
        group by reporting_currency
    ) as reporting;
    -- Of a reporting currency without rates nothing is held.
    delete from insight_converted
    where reporting_currency in (select reporting_currency from changed)
        and not exists (
            select
            from exchange_rate known
            where known.reporting_currency = insight_converted.reporting_currency);
    return null;
end
$$;

create trigger convert_added_rates after insert on exchange_rate
    referencing new table as changed for each statement execute function convert_insight();
create trigger convert_changed_rates after update on exchange_rate
    referencing new table as changed for each statement execute function convert_insight();
create trigger convert_removed_rates after delete on exchange_rate
    referencing old table as changed for each statement execute function convert_insight();
