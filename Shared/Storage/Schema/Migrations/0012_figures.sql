-- Figures: what purchases earn, and sums of it by day. Computed by the scheduler from transactions and access periods, purchase by
-- purchase, so that every figure can be computed again; and what operators tell of money: exchange rates, taxes within prices, and who
-- pays Apple's lower commission. No row names an account.

-- What one unit of a currency is worth on a day, in a reporting currency.
create table exchange_rate (
    loaded_at timestamptz not null,
    trillionths bigint not null check (trillionths > 0), -- of a unit of the reporting currency
    day date not null,
    reporting_currency text not null,
    currency text not null check (currency <> reporting_currency),
    source text not null, -- whose rates they are, as the operator names them
    primary key (reporting_currency, currency, day)
);

-- The tax that prices of a storefront include, from a day until that of the storefront's next row.
create table tax_share (
    loaded_at timestamptz not null,
    from_day date not null,
    rate integer not null check (rate between 0 and 100000), -- thousandths of a percent of the price without tax
    storefront text not null,
    source text not null,
    primary key (storefront, from_day)
);

-- Whether an app's developer is in Apple's App Store Small Business Program, from a day until that of the app's next row.
create table small_business (
    loaded_at timestamptz not null,
    from_day date not null,
    is_member boolean not null,
    bundle_id text not null,
    primary key (bundle_id, from_day)
);

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
    -- Of all of them but losses, which are those of movements: ten times the day, and 0 for charges, 1 for refunds, 2 for charges that were
    -- refunded, 3 for the first paid period, 4 for trials, 5 to 9 for new, expansion, contraction, churn and reactivation.
    day_keys integer[] not null,
    primary key (environment, original_transaction_id)
) with (fillfactor = 80);
create index insight_purchase_due on insight_purchase (next_at) where next_at is not null;
-- The purchases behind a figure. Entries of a day are a few bytes each, where a row and an index entry of each charge would be more than a
-- hundred. A question reads what was not sorted into the index yet, so that is kept short.
create index insight_purchase_by_day on insight_purchase using gin (day_keys) with (gin_pending_list_limit = 512);

-- The sums of a day (UTC).
--
-- Purchases that were lost are figures, too, so that churn does not read all movements of a year: kinds lostInDay and lostInMonth, the
-- second by the first day of its month. Their step is a set of bits: bit n is set where the purchase is lost in a question that tells
-- apart the dimensions whose numbers add up to n (currency 1, product 2, storefront 4, period 8, offer 16).
create table insight_day (
    amount bigint not null,
    revenuecat_amount bigint not null,
    purchases bigint not null,
    count bigint not null,
    day date not null,
    -- trialPaid: days until the payment; periods, resubscribedPeriods, unbrokenPeriods: their number by paid time; refund, refundOfCharge: 1 of a loyal
    -- charge, whose commission is lower; lostInDay, lostInMonth: see above; else 0
    step integer not null,
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

-- What a purchase changed in the sums of a day after it was reported: what insight_day has more than insight_reported, purchase by
-- purchase. Rows are only added.
create table insight_correction (
    id bigint generated always as identity, -- a list of a day is read page by page in its order
    corrected_at timestamptz not null,
    amount bigint not null,
    count bigint not null,
    day date not null,
    environment store_environment not null,
    bundle_id text not null,
    original_transaction_id text not null,
    kind text not null,
    currency text not null
);
create index insight_correction_by_day on insight_correction (environment, bundle_id, day, id);

-- How far the figures are. A transaction that changes figures locks the only row.
create table insight_position (
    as_of timestamptz, -- every change that was committed by then is in the figures; null: they are not complete yet
    checked_at timestamptz, -- when they were last compared with transactions and access periods
    created_at timestamptz not null default now(), -- before the first comparison, its age counts from here
    differences bigint not null default 0, -- found then
    turn bigint not null default 0, -- transactions that wrote figures; one that was prepared before another wrote is given up
    is_only boolean primary key default true check (is_only)
);
insert into insight_position default values;

-- Triggers fill the queue and no program does, so that nothing is lost while a program of another release runs: during an upgrade, and
-- after one that was taken back. As their owner, because every role that writes one of the tables queues its change.
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

-- What Apple extended counts by the length that it had before, which the ledger knows and the newest version of the transaction does
-- not. An earlier version that arrives after the extension changes no transaction and no access, but the figures of its purchase.
create function queue_extended() returns trigger
language plpgsql security definer
set search_path from current
as $$
begin
    insert into insight_change (environment, original_transaction_id)
    select distinct changed.environment, changed.original_transaction_id
    from changed
    cross join lateral (
        select
        from transaction known
        where known.environment = changed.environment and known.transaction_id = changed.transaction_id
            and known.expires_at > changed.expires_at
        offset 0
    ) as extended
    where changed.original_transaction_id is not null
    on conflict do nothing;
    return null;
end;
$$;
create trigger queue_extended after insert on notification
    referencing new table as changed for each statement execute function queue_extended();
