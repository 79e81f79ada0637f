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
