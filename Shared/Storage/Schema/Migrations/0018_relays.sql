-- Webhook endpoints of kind apple get Apple's notifications as Apple sent them, so that a server that Apple called before stays
-- current. An instance of webhooks of an earlier release knows no kinds: create such an endpoint when all are of this one.
alter table webhook_endpoint
    add column kind text not null default 'changes' check (kind in ('changes', 'apple'));

-- Numbers of what such endpoints get, in place of the id of a row of the timeline, and greater than each of them.
create sequence webhook_relay_number minvalue 4503599627370496;

-- Enqueues the notifications of a batch in the transaction that stores them: each once for each endpoint. Not what Apple signed
-- that was no notification, and not version 1, which Apple does not sign. Notifications about no purchase have no order among them, so
-- that none waits for another. As its owner, because the state-updater may not write
-- what is sent.
create function enqueue_relays() returns trigger
language plpgsql security definer
set search_path from current
as $$
begin
    -- Almost always there is none. A removal of an endpoint waits until what is enqueued for it is stored.
    perform from webhook_endpoint where kind = 'apple' order by id for key share;
    if not found then
        return null;
    end if;
    with added as (
        insert into webhook_delivery (timeline_id, replay, endpoint, notification_uuid, day, original_transaction_id)
        select nextval('webhook_relay_number'), 0, endpoint, notification_uuid, day, original_transaction_id
        from (
            select endpoint.id as endpoint, told.notification_uuid, (told.recorded_at at time zone 'UTC')::date as day,
                coalesce(told.original_transaction_id, '') as original_transaction_id
            from told
            join webhook_endpoint endpoint on endpoint.kind = 'apple' and endpoint.environment = told.environment
                and endpoint.starts_at <= told.recorded_at
                and (endpoint.bundle_ids = '{}' or told.bundle_id = any (endpoint.bundle_ids))
                and (
                    endpoint.events = '{}' or told.notification_type = any (endpoint.events)
                    or concat_ws('/', told.notification_type, told.subtype) = any (endpoint.events))
            where told.notification_type not in ('signedTransaction', 'signedRenewalInfo', 'signedAppTransaction', 'V1')
            order by endpoint.id, told.signed_at, told.notification_uuid
        ) as wanted
        returning endpoint, timeline_id, day, original_transaction_id
    )
    insert into webhook_queue (next_attempt_at, lane, endpoint, since, original_transaction_id)
    select (select max(recorded_at) from told), lane, endpoint, min(day), original_transaction_id
    from (
        select added.endpoint, added.day, added.original_transaction_id,
            case when endpoint.is_ordered and added.original_transaction_id <> '' then 0 else added.timeline_id end as lane
        from added
        join webhook_endpoint endpoint on endpoint.id = added.endpoint
    ) as waiting
    group by endpoint, original_transaction_id, lane
    order by endpoint, original_transaction_id, lane
    on conflict (endpoint, original_transaction_id, lane) do update
    set since = least(webhook_queue.since, excluded.since);
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
        and delivery.day >= queue.since and (queue.lane = 0 or delivery.timeline_id = queue.lane)
        and delivery.notification_uuid = any (given)
    join notification known on known.notification_uuid = delivery.notification_uuid
        and known.environment = endpoint.environment
        and (endpoint.bundle_ids = '{}' or known.bundle_id = any (endpoint.bundle_ids))
        and known.notification_type not in ('signedTransaction', 'signedRenewalInfo', 'signedAppTransaction', 'V1')
    join notification_payload payload
        on payload.notification_uuid = known.notification_uuid and payload.recorded_at = known.recorded_at
    where queue.lease = given_lease;
end;

-- The days of the log are made and dropped by one process at a time: the others would meet tables that are there already, or gone. One
-- that does not get its turn leaves it to the other one.
create or replace function make_webhook_days(first_delivery date, first_attempt date, last_day date) returns void
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

-- As before, in turn.
create or replace function drop_webhook_days(deliveries_before date, attempts_before date) returns bigint
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
