-- Which rows of the ledger an endpoint of kind apple gets: not what Apple signed that was no notification, and not version 1, which
-- Apple does not sign. The one place that says so; replays and relayed_originals ask it, too.
create function is_relayed(notification_type text) returns boolean
language sql immutable parallel safe
return notification_type not in ('signedTransaction', 'signedRenewalInfo', 'signedAppTransaction', 'V1');

-- Notifications that are to be enqueued for endpoints of kind apple. The transaction that stores them adds rows here and touches
-- nothing that others lock: a replay holds places of the queue, of which the ledger waited before. The service that sends takes the
-- rows away.
create table relay_arrival (
    number bigint primary key default nextval('webhook_relay_number'), -- of its deliveries, one for each endpoint
    recorded_at timestamptz not null,
    notification_uuid uuid not null
);

create or replace function enqueue_relays() returns trigger
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

-- As before, with the one place that says what is relayed.
create or replace function relayed_originals(given_lease uuid, given uuid[])
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
        and is_relayed(known.notification_type)
    join notification_payload payload
        on payload.notification_uuid = known.notification_uuid and payload.recorded_at = known.recorded_at
    where queue.lease = given_lease;
end;

-- A receiver may send back what it got, and in a relay Apple names the account. Of such answers nothing is kept.
update webhook_attempt
set answer = null
where endpoint in (select id from webhook_endpoint where kind = 'apple') and answer is not null;

-- Purchases whose last account was detached or erased. No account and no certificate is named: a report of their use is not stored
-- again until another account has them.
create table erased_purchase (
    environment store_environment not null,
    original_transaction_id text not null,
    primary key (environment, original_transaction_id)
);
insert into erased_purchase (environment, original_transaction_id)
select distinct environment, unnest(detached_purchases)
from erased_account;

-- Whether another transaction has held a lock on a table for a while, as a dump does. False where the owner may not see when other
-- transactions began. No role may call it.
create function is_held_longer(asked regclass, than interval) returns boolean
language sql stable security definer
set search_path from current
begin atomic
    select exists (
        select
        from pg_locks held
        join pg_stat_activity session on session.pid = held.pid
        where held.locktype = 'relation' and held.relation = asked and held.granted and held.pid <> pg_backend_pid()
            and held.database = (select oid from pg_database where datname = current_database())
            and session.backend_type = 'client backend' and session.xact_start < clock_timestamp() - than);
end;

-- As before, and keeps for the sweep whose account it was, notes the purchases of the account alone, and forgets whose credits they
-- were and which requests restored.
create or replace function erase_account(
    new_id uuid, asked_environment store_environment, asked_bundle_id text, asked_account uuid, asked_completely boolean,
    now_at timestamptz, topics_end_at timestamptz)
returns setof erased_account
language plpgsql security definer
set search_path from current
set lock_timeout = '5s'
as $$
declare
    concerned text[];
    own text[];
    ids text[];
    own_id text;
    certificate erased_account;
begin
    -- The pipeline waits for the lock: an unknown account locks nothing. detach_account asks again, under the lock.
    if not is_account_known(asked_environment, asked_bundle_id, asked_account) then
        return;
    end if;
    -- Each attempt that waits for the lock has the pipeline wait behind it, and what has lasted so long does not end in time.
    if is_held_longer('erased_account', interval '1 minute') then
        raise exception 'another transaction, such as a dump, holds the table erased_account; erase the customer when it has ended'
            using errcode = 'lock_not_available';
    end if;
    lock table erased_account in access exclusive mode;
    concerned := purchases_of_account(asked_environment, asked_bundle_id, asked_account);
    own := purchases_of_account_alone(asked_environment, asked_account, concerned);
    ids := array(
        select id
        from (
            select app_transaction_id
            from subscription
            where environment = asked_environment and original_transaction_id = any (own)
            union
            select app_transaction_id
            from transaction
            where environment = asked_environment and original_transaction_id = any (own)
            union
            select app_transaction_id
            from account_claim
            where environment = asked_environment and bundle_id = asked_bundle_id and app_account_token = asked_account
                and original_transaction_id = any (own)
            union
            select identity
            from account_app
            where environment = asked_environment and bundle_id = asked_bundle_id and app_account_token = asked_account
            union
            select unnest(customer_ids)
            from erased_account
            where digest = account_digest(asked_environment, asked_bundle_id, asked_account)
        ) as held (id)
        where id is not null
            and not exists (
                select
                from account_app other
                where other.identity = id and other.environment = asked_environment and other.bundle_id = asked_bundle_id
                    and other.app_account_token <> asked_account)
            and not exists (
                select
                from account_claim other
                where other.app_transaction_id = id and other.environment = asked_environment
                    and other.bundle_id = asked_bundle_id and other.app_account_token <> asked_account)
            and not exists (
                select
                from subscription purchase
                where purchase.app_transaction_id = id and purchase.environment = asked_environment
                    and purchase.bundle_id = asked_bundle_id
                    and (
                        purchase.owner_account_token <> asked_account
                        or exists (
                            select
                            from account_claim other
                            where other.environment = asked_environment
                                and other.original_transaction_id = purchase.original_transaction_id
                                and other.app_account_token <> asked_account))));
    select customer_id
    into own_id
    from customer
    where app_account_token = asked_account and environment = asked_environment and bundle_id = asked_bundle_id;
    delete from usage_report
    where environment = asked_environment and bundle_id = asked_bundle_id and original_transaction_id = any (concerned);
    insert into erased_purchase (environment, original_transaction_id)
    select asked_environment, unnest(own)
    on conflict do nothing;
    -- The transaction stays credited: another account must not get it again.
    update credit
    set app_account_token = null
    where app_account_token = asked_account and environment = asked_environment and bundle_id = asked_bundle_id;
    -- Who has a copy of the request finds its restore by it.
    update purchase_transfer
    set request_uuid = null
    where to_account_token = asked_account and environment = asked_environment and bundle_id = asked_bundle_id
        and request_uuid is not null;
    select *
    into certificate
    from detach_account(
        new_id, asked_environment, asked_bundle_id, asked_account, asked_completely, now_at, topics_end_at);
    if not found then
        return;
    end if;
    return query
        update erased_account
        set customer_ids = ids, unswept_account = asked_account,
            unswept_customer = coalesce(own_id, unswept_customer), swept_until = null
        where id = certificate.id
        returning *;
end;
$$;

-- What one consumable of a product gives, as operators set it. Without it one of the product itself.
alter table product
    add column credit_amount bigint check (credit_amount > 0),
    add column credit_unit text,
    add check (num_nulls(credit_amount, credit_unit) in (0, 2));

-- What consumables gave to accounts, each transaction once, when a backend asked for it. Rows are only added; what a refund takes back
-- follows from the transaction.
create table credit (
    credited_at timestamptz not null,
    quantity bigint not null check (quantity > 0),
    amount bigint not null check (amount > 0), -- quantity times what the product gave at that time
    app_account_token uuid, -- null: the account was detached or erased
    environment store_environment not null,
    transaction_id text not null,
    bundle_id text not null,
    product_id text not null,
    unit text not null,
    credited_by text not null, -- the API key
    primary key (environment, transaction_id)
);
create index credit_by_account on credit (app_account_token, environment, bundle_id) where app_account_token is not null;
create trigger reject_erased before insert on credit
    for each row when (new.app_account_token is not null) execute function reject_erased_account();

-- Credits with what Apple has taken back: all of it, or the share that was refunded, rounded in the customer's favour. A refund
-- that Apple reversed takes nothing back.
create view current_credit as
select credit.credited_at, bought.revoked_at, credit.quantity, credit.amount,
    case
        when bought.revoked_at is null then 0
        else trunc(credit.amount::numeric * least(coalesce(bought.revocation_percentage, 100000), 100000) / 100000)::bigint
    end as taken_back,
    credit.app_account_token, credit.environment, credit.transaction_id, credit.bundle_id, credit.product_id, credit.unit,
    credit.credited_by
from credit
join transaction bought using (environment, transaction_id);

-- What each account was given, by unit. What the account has spent is the app's own.
create view account_balance as
select app_account_token, environment, bundle_id, unit, count(*) as credits, sum(amount)::bigint as credited,
    sum(taken_back)::bigint as taken_back, sum(amount - taken_back)::bigint as balance,
    max(credited_at) as credited_at
from current_credit
where app_account_token is not null
group by app_account_token, environment, bundle_id, unit;
