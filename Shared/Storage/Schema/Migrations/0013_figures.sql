-- Figures: what purchases earn, and sums of it by day. Computed by the scheduler from transactions and access periods, purchase by
-- purchase, so that every figure can be computed again. No row names an account.

-- Purchases whose transactions or access periods changed since their figures were computed; one row for each transaction of the
-- database that changed them. A queue. The row of another transaction does not stand for a change: the scheduler may have read before.
create table insight_change (
    changed_by xid8 not null default pg_current_xact_id(),
    environment store_environment not null,
    original_transaction_id text not null,
    primary key (environment, original_transaction_id, changed_by)
);

-- The movements of monthly revenue of each purchase: sums of rounded values, and their differences, so that the sum of all movements
-- before a moment is the revenue at it. A renewal at the same price has none.
create table mrr_movement (
    at timestamptz not null, -- by Apple's clock
    amount bigint not null, -- thousandths of a unit of currency
    revenuecat_amount bigint not null, -- the same with RevenueCat's factors: a week counts four times
    environment store_environment not null,
    purchases smallint not null, -- 1: it earns in this cell since; -1: it does not any more; 0: it did and does
    bundle_id text not null,
    original_transaction_id text not null,
    transaction_id text not null, -- whose period began or ended
    kind text not null check (kind in ('new', 'expansion', 'contraction', 'churn', 'reactivation')),
    currency text not null,
    product_id text not null,
    storefront text not null, -- empty: Apple did not sign it; period and offer: there is none
    period text not null,
    offer text not null
);
create index mrr_movement_by_purchase on mrr_movement (environment, original_transaction_id);
create index mrr_movement_by_time on mrr_movement (environment, bundle_id, at);

-- What each purchase has added to insight_day, so that it can be taken back when the purchase changes.
create table insight_purchase (
    next_at timestamptz, -- when its figures change by the clock alone
    environment store_environment not null,
    original_transaction_id text not null,
    bundle_id text not null,
    -- [[days since 1970, kind, step, currency, product, storefront, period, offer, amount, RevenueCat's amount, purchases, count]]
    figures jsonb not null,
    primary key (environment, original_transaction_id)
) with (fillfactor = 80);
create index insight_purchase_due on insight_purchase (next_at) where next_at is not null;

-- The sums of a day (UTC).
create table insight_day (
    amount bigint not null,
    revenuecat_amount bigint not null,
    purchases bigint not null,
    count bigint not null,
    day date not null,
    step integer not null, -- trialPaid: days until the payment; periods, unbrokenPeriods: their number by paid time; else 0
    environment store_environment not null,
    bundle_id text not null,
    kind text not null,
    currency text not null,
    product_id text not null,
    storefront text not null,
    period text not null,
    offer text not null,
    primary key (environment, bundle_id, kind, day, step, currency, product_id, storefront, period, offer)
) with (fillfactor = 80);

-- The sums of a day as they were when it was complete by coverage, for comparison with insight_day. Rows are only added.
create table insight_reported (
    reported_at timestamptz not null,
    amount bigint not null,
    count bigint not null,
    day date not null,
    environment store_environment not null,
    bundle_id text not null,
    kind text not null, -- empty: the day was reported, perhaps without any figures; amount and count are 0
    currency text not null,
    primary key (environment, bundle_id, day, kind, currency)
);

-- How far the figures are. A transaction that changes figures locks the only row.
create table insight_position (
    as_of timestamptz, -- every change that was committed by then is in the figures; null: they are not complete yet
    checked_at timestamptz, -- when they were last compared with transactions and access periods
    created_at timestamptz not null default now(), -- before the first comparison, its age counts from here
    differences bigint not null default 0, -- found then
    is_only boolean primary key default true check (is_only)
);
insert into insight_position default values;

-- All purchases are computed once. Before the triggers, whose creation keeps other transactions from writing, because it takes long.
insert into insight_change (environment, original_transaction_id)
select environment, original_transaction_id from subscription;

-- Replays of webhooks select the changes of a time. Not a BRIN, which reads a fifth of the table for a day: every row is updated once it is
-- published, and later rows take the places of the versions before.
create index timeline_by_time on timeline (applied_at);

-- Triggers fill the queue and no program does, so that nothing is lost while programs of the release before run: during an upgrade,
-- and after one that was taken back. As its owner, because every role that writes one of the tables queues its change.
create function queue_figures() returns trigger
language plpgsql security definer
set search_path from current
as $$
begin
    if tg_op = 'UPDATE' then
        -- A transaction may pass to another purchase.
        insert into insight_change (environment, original_transaction_id)
        select environment, original_transaction_id from changed
        union
        select environment, original_transaction_id from former
        on conflict do nothing;
    else
        insert into insight_change (environment, original_transaction_id)
        select distinct environment, original_transaction_id from changed
        on conflict do nothing;
    end if;
    return null;
end;
$$;
create trigger queue_inserted after insert on transaction
    referencing new table as changed for each statement execute function queue_figures();
create trigger queue_updated after update on transaction
    referencing old table as former new table as changed for each statement execute function queue_figures();
create trigger queue_deleted after delete on transaction
    referencing old table as changed for each statement execute function queue_figures();
create trigger queue_inserted after insert on access_period
    referencing new table as changed for each statement execute function queue_figures();
create trigger queue_updated after update on access_period
    referencing old table as former new table as changed for each statement execute function queue_figures();
create trigger queue_deleted after delete on access_period
    referencing old table as changed for each statement execute function queue_figures();

-- Purchases that came between the two.
insert into insight_change (environment, original_transaction_id)
select environment, original_transaction_id
from subscription
where not exists (
    select
    from insight_change queued
    where queued.environment = subscription.environment
        and queued.original_transaction_id = subscription.original_transaction_id);
