-- The sums of calendar months, so that a report over years reads a thirtieth of the rows. Held equal to the sums of insight_day by
-- triggers, whichever version of the scheduler writes the days.

-- The sums of a month (UTC) of what purchases add to its days, without periods and unbrokenPeriods, which reports read day by day.
create table insight_month (
    amount bigint not null,
    revenuecat_amount bigint not null,
    purchases bigint not null,
    count bigint not null,
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
            insert into insight_month as held (amount, revenuecat_amount, purchases, count, month, step, environment, bundle_id, kind,
                currency, product_id, storefront, period, offer)
            select sum(sign * amount), sum(sign * revenuecat_amount), sum(sign * purchases), sum(sign * count),
                date_trunc('month', day::timestamp)::date, step, environment, bundle_id, kind, currency, product_id, storefront,
                period, offer
            from (%s) as change
            where kind not in ('periods', 'unbrokenPeriods')
            group by date_trunc('month', day::timestamp), step, environment, bundle_id, kind, currency, product_id, storefront, period,
                offer
            having sum(sign * amount) <> 0 or sum(sign * revenuecat_amount) <> 0 or sum(sign * purchases) <> 0
                or sum(sign * count) <> 0
            on conflict (environment, bundle_id, kind, month, step, currency, product_id, storefront, period, offer)
            do update set amount = held.amount + excluded.amount,
                revenuecat_amount = held.revenuecat_amount + excluded.revenuecat_amount,
                purchases = held.purchases + excluded.purchases, count = held.count + excluded.count
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

-- The days that there are. Creating a trigger has locked the table, so none is added meanwhile.
set local work_mem = '256MB'; -- ten times faster, because nothing is sorted on disk
insert into insight_month (amount, revenuecat_amount, purchases, count, month, step, environment, bundle_id, kind, currency, product_id,
    storefront, period, offer)
select sum(amount), sum(revenuecat_amount), sum(purchases), sum(count), date_trunc('month', day::timestamp)::date, step, environment,
    bundle_id, kind, currency, product_id, storefront, period, offer
from insight_day
where kind not in ('periods', 'unbrokenPeriods')
group by date_trunc('month', day::timestamp), step, environment, bundle_id, kind, currency, product_id, storefront, period, offer;
reset work_mem;
