-- Outgoing webhooks: endpoints, what waits for them, and what became of it. No secret is stored: an endpoint's secret is derived
-- from a key file, its id and its generation. No body is stored either: it is made from the timeline when it is sent, so that an
-- erasure holds for deliveries that wait.

create table webhook_endpoint (
    created_at timestamptz not null,
    starts_at timestamptz not null, -- changes that were applied earlier are not sent
    rotated_at timestamptz, -- for a day after it the secret of the generation before signs, too
    id uuid primary key,
    generation integer not null default 1,
    environment store_environment not null,
    is_ordered boolean not null, -- false: each event waits for itself alone
    state text not null check (state in ('testing', 'active', 'paused', 'disabled')),
    url text not null check (octet_length(url) <= 2048),
    bundle_ids text[] not null, -- these three: empty is all
    events text[] not null, -- Apple's types, or types and subtypes
    facts text[] not null -- changes of one of these facts
);

-- How the receiver has answered lately. A row for each endpoint.
create table webhook_health (
    failing_since timestamptz, -- the first of the failures in a row
    next_probe_at timestamptz not null, -- of an endpoint that fails or is tested: the next request
    paused_until timestamptz, -- the receiver's Retry-After
    test_requested_at timestamptz, -- null: no test is due
    disabled_at timestamptz,
    noticed_at timestamptz, -- of notice_about
    endpoint uuid primary key references webhook_endpoint on delete cascade,
    notice_about uuid, -- another endpoint of the environment that was disabled, of which this one is told next
    failures integer not null default 0, -- in a row
    disabled_because text, -- gone, failing
    last_fault text
) with (fillfactor = 50);

-- A row for each endpoint and purchase with something to send; its lock orders enqueueing and sending. The holder of the lease
-- sends the oldest delivery that waits.
create table webhook_queue (
    next_attempt_at timestamptz not null, -- under a lease: its end
    lane bigint not null, -- 0; the row of the timeline where each event waits for itself alone
    endpoint uuid not null,
    lease uuid, -- of the sender; null where none sends
    since date not null, -- no delivery that waits has an earlier day
    original_transaction_id text not null,
    primary key (endpoint, original_transaction_id, lane)
) with (fillfactor = 70);
create index webhook_queue_by_time on webhook_queue (endpoint, next_attempt_at);
create index webhook_queue_leased on webhook_queue (lease) where lease is not null;

-- What was enqueued for an endpoint. The day of a change is that of the timeline, so that a repeated message finds its delivery;
-- the day of a replay is that of the request.
create table webhook_delivery (
    timeline_id bigint not null,
    replay bigint not null, -- 0; else the number of the replay
    first_attempt_at timestamptz,
    finished_at timestamptz,
    endpoint uuid not null,
    notification_uuid uuid not null,
    day date not null,
    attempts integer not null default 0, -- that count: not those to a receiver that fails altogether
    milliseconds integer, -- of the last attempt
    status smallint, -- of the last attempt; null without an answer
    state text not null default 'waiting' check (state in ('waiting', 'delivered', 'given-up')),
    original_transaction_id text not null,
    primary key (endpoint, timeline_id, replay, day)
) partition by range (day);
create index webhook_delivery_waiting on webhook_delivery (endpoint, original_transaction_id, timeline_id, replay)
    where state = 'waiting';
create table webhook_delivery_default partition of webhook_delivery default;

-- Failed attempts, and tests. The last attempt of what was delivered is in its delivery.
create table webhook_attempt (
    attempted_at timestamptz not null,
    timeline_id bigint, -- null: a test
    replay bigint not null,
    endpoint uuid not null,
    day date not null,
    milliseconds integer not null,
    status smallint, -- null without an answer
    fault text, -- null: delivered
    answer text -- the first 1,000 characters, without secrets and accounts
) partition by range (day);
create index webhook_attempt_of_endpoint on webhook_attempt (endpoint, timeline_id, attempted_at);
create table webhook_attempt_default partition of webhook_attempt default;

create sequence webhook_replay_number;

-- Creates the partitions of some days, of both tables. A day of which the default partition has rows is left to it.
create function make_webhook_days(first_delivery date, first_attempt date, last_day date) returns void
language plpgsql security definer
set search_path from current
set lock_timeout = '2s'
as $$
declare
    parent text;
    first_day date;
    day_of_table date;
    is_taken boolean;
begin
    for parent, first_day in values ('webhook_delivery', first_delivery), ('webhook_attempt', first_attempt)
    loop
        for day_of_table in select first_day + ahead from generate_series(0, last_day - first_day) as ahead
        loop
            continue when to_regclass(parent || to_char(day_of_table, '_YYYY_MM_DD')) is not null;
            execute format('select exists (select from %I where day = $1)', parent || '_default')
                into is_taken using day_of_table;
            continue when is_taken;
            execute format(
                'create table %I partition of %I for values from (%L) to (%L)',
                parent || to_char(day_of_table, '_YYYY_MM_DD'), parent, day_of_table, day_of_table + 1);
        end loop;
    end loop;
end;
$$;

-- Drops the partitions of days before the given ones, at least 30 and 14 days old, and such rows of the default partitions.
create function drop_webhook_days(deliveries_before date, attempts_before date) returns bigint
language plpgsql security definer
set search_path from current
set lock_timeout = '2s'
as $$
declare
    old record;
    dropped bigint := 0;
begin
    for old in
        select c.relname as name
        from pg_inherits i
        join pg_class c on c.oid = i.inhrelid
        join (values
            ('webhook_delivery', least(deliveries_before, current_date - 29)),
            ('webhook_attempt', least(attempts_before, current_date - 13))
        ) as kept (parent, first_day) on i.inhparent = kept.parent::regclass
        where c.relname ~ '_\d{4}_\d{2}_\d{2}$' and to_date(right(c.relname, 10), 'YYYY_MM_DD') < kept.first_day
        order by 1
    loop
        execute format('drop table %I', old.name);
        dropped := dropped + 1;
    end loop;
    delete from webhook_delivery_default where day < least(deliveries_before, current_date - 29);
    delete from webhook_attempt_default where day < least(attempts_before, current_date - 13);
    return dropped;
end;
$$;
