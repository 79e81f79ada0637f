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
    -- apple: it gets Apple's notifications as Apple sent them, so that a server that Apple called before stays current.
    kind text not null default 'changes' check (kind in ('changes', 'apple')),
    url text not null check (octet_length(url) <= 2048),
    bundle_ids text[] not null, -- these three: empty is all
    events text[] not null, -- Apple's types, or types and subtypes
    facts text[] not null -- changes of one of these facts
);

-- How the receiver has answered lately, by the clock of the database. A row for each endpoint.
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
    next_attempt_at timestamptz not null, -- by the clock of the database; under a lease: its end
    lane bigint not null, -- 0; the row of the timeline where each event waits for itself alone
    endpoint uuid not null,
    lease uuid, -- of the sender; null where none sends
    since date not null, -- no delivery that waits has an earlier day
    until date not null, -- and none a later one: so that few partitions are read
    original_transaction_id text not null,
    primary key (endpoint, original_transaction_id, lane)
) with (fillfactor = 70);
create index webhook_queue_by_time on webhook_queue (endpoint, next_attempt_at);
create index webhook_queue_leased on webhook_queue (lease) where lease is not null;

-- What was enqueued for an endpoint. The day of a change is that of the timeline, so that a repeated message finds its delivery;
-- the day of a replay is that of the request.
create table webhook_delivery (
    timeline_id bigint not null, -- of a relay the number of its arrival
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
create index webhook_delivery_delivered on webhook_delivery (endpoint, finished_at) where state = 'delivered';
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
    -- The first 1,000 characters, without secrets and accounts. Null of an endpoint of kind apple: a receiver may send back what it got,
    -- and in a relay Apple names the account.
    answer text
) partition by range (day);
create index webhook_attempt_of_endpoint on webhook_attempt (endpoint, timeline_id, attempted_at);
create table webhook_attempt_default partition of webhook_attempt default;

create sequence webhook_replay_number;

-- Numbers of what endpoints of kind apple get, in place of the id of a row of the timeline, and greater than each of them.
create sequence webhook_relay_number minvalue 4503599627370496;

-- Creates the partitions of some days, of both tables. A day of which the default partition has rows is left to it.
--
-- The days of the log are made and dropped by one process at a time: the others would meet tables that are there already, or gone. One
-- that does not get its turn leaves it to the other one.
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
    if not pg_try_advisory_xact_lock(hashtextextended(current_schema() || ' webhook days', 0)) then
        return;
    end if;
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

-- Drops the partitions of days before the given ones, at least 30 and 14 days old, and such rows of the default partitions. In turn,
-- as above.
create function drop_webhook_days(deliveries_before date, attempts_before date) returns bigint
language plpgsql security definer
set search_path from current
set lock_timeout = '2s'
as $$
declare
    old record;
    dropped bigint := 0;
begin
    if not pg_try_advisory_xact_lock(hashtextextended(current_schema() || ' webhook days', 0)) then
        return 0;
    end if;
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

-- Which rows of the ledger an endpoint of kind apple gets: not what Apple signed that was no notification, and not version 1, which
-- Apple does not sign. The one place that says so; replays and relayed_originals ask it, too.
create function is_relayed(notification_type text) returns boolean
language sql immutable parallel safe
return notification_type not in ('signedTransaction', 'signedRenewalInfo', 'signedAppTransaction', 'V1');

-- Notifications that are to be enqueued for endpoints of kind apple. The transaction that stores them adds rows here and touches
-- nothing that others lock: a replay holds places of the queue, and the ledger must not wait for it. The service that sends takes the
-- rows away.
create table relay_arrival (
    number bigint primary key default nextval('webhook_relay_number'), -- of its deliveries, one for each endpoint
    recorded_at timestamptz not null,
    notification_uuid uuid not null
);

-- As its owner, because the state-updater may not write what is sent.
create function enqueue_relays() returns trigger
language plpgsql security definer
set search_path from current
as $$
begin
    -- Almost always there is no endpoint. The numbers follow Apple's clock within a batch.
    insert into relay_arrival (recorded_at, notification_uuid)
    select recorded_at, notification_uuid
    from (
        select recorded_at, notification_uuid
        from told
        where is_relayed(notification_type)
            and exists (
                select from webhook_endpoint where kind = 'apple' and webhook_endpoint.environment = told.environment)
        order by signed_at, notification_uuid
    ) as wanted;
    return null;
end;
$$;
create trigger enqueue_relays after insert on notification
    referencing new table as told
    for each statement execute function enqueue_relays();

-- Notifications as Apple signed them, of the deliveries that a sender has leased. As its owner: the service that sends reads no
-- other payload, and none where no operator has made an endpoint of kind apple.
create function relayed_originals(given_lease uuid, given uuid[])
returns table (notification_uuid uuid, signed_original bytea, headers bytea[])
language sql stable security definer
set search_path from current
begin atomic
    select known.notification_uuid, payload.signed_original, array(
        select chain.header
        from unnest(payload.chains) with ordinality as referred (digest, place)
        join certificate_chain chain using (digest)
        order by place)
    from webhook_queue queue
    join webhook_endpoint endpoint on endpoint.id = queue.endpoint and endpoint.kind = 'apple'
    join webhook_delivery delivery on delivery.endpoint = queue.endpoint
        and delivery.original_transaction_id = queue.original_transaction_id and delivery.state = 'waiting'
        and delivery.day between queue.since and queue.until and (queue.lane = 0 or delivery.timeline_id = queue.lane)
        and delivery.notification_uuid = any (given)
    join notification known on known.notification_uuid = delivery.notification_uuid
        and known.environment = endpoint.environment
        and (endpoint.bundle_ids = '{}' or known.bundle_id = any (endpoint.bundle_ids))
        and is_relayed(known.notification_type)
    join notification_payload payload
        on payload.notification_uuid = known.notification_uuid and payload.recorded_at = known.recorded_at
    where queue.lease = given_lease;
end;
