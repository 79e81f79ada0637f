-- Erasure: accounts of the app whose customers asked to be forgotten.

-- One row for each account that was detached from its purchases or erased. Only a digest of the account is kept: it recognizes
-- what Apple still sends about the account, and what is replayed, recovered or rebuilt, without naming it.
create table erased_account (
    erased_at timestamptz not null,
    topics_until timestamptz not null, -- the retention of Kafka's topics has deleted all older records by then
    swept_until timestamptz, -- payloads about no purchase that were recorded until then are looked through
    purchases bigint not null, -- that the account owned or claimed
    payloads bigint not null, -- that were deleted
    id uuid primary key, -- of the certificate
    -- The account of an erasure whose sweep has not ended, and the developer's own id: with them every process can repeat the sweep
    -- where the database failed in between. Null afterwards.
    unswept_account uuid,
    environment store_environment not null,
    is_complete boolean not null, -- false: detached, Apple's signed payloads are kept
    digest bytea not null unique check (length(digest) = 32),
    bundle_id text not null,
    unswept_customer text,
    detached_purchases text[] not null, -- for an erasure that follows; empty where it is complete
    -- Apple's ids of the customer (appTransactionId) that no other account of the app has, until the sweep has deleted the payloads that
    -- name them: uploaded app transactions and RESCIND_CONSENT name no account and no purchase. Of a detached account they are kept for
    -- an erasure that follows.
    customer_ids text[] not null default '{}'
);
create index erased_account_unswept on erased_account (erased_at) where unswept_account is not null;

-- Purchases whose last account was detached or erased. No account and no certificate is named: a report of their use is not stored
-- again until another account has them, nor, after a complete erasure, a payload: what Apple sends about it still names the customer by
-- its own ids, also where it names no account.
create table erased_purchase (
    environment store_environment not null,
    original_transaction_id text not null,
    is_complete boolean not null default false, -- false: detached, Apple's signed payloads are kept
    primary key (environment, original_transaction_id)
);

create function account_digest(environment store_environment, bundle_id text, app_account_token uuid)
returns bytea
language sql stable
return sha256(convert_to(
    environment::text || ' ' || bundle_id || ' ' || app_account_token::text, 'UTF8'));

-- An erased account gets no rows again. State-updater removes the account from what Apple signed before it writes; this trigger
-- is for the rows of backends and operators.
create function reject_erased_account() returns trigger
language plpgsql
set search_path from current
as $$
begin
    if exists (
        select
        from erased_account
        where digest = account_digest(new.environment, new.bundle_id, new.app_account_token))
    then
        raise exception 'the account was erased; create the customer again, with a new appAccountToken'
            using errcode = 'SK001';
    end if;
    return new;
end;
$$;
create trigger reject_erased before insert on account_claim
    for each row when (new.evidence <> 'apple') execute function reject_erased_account();
create trigger reject_erased before insert on customer for each row execute function reject_erased_account();
create trigger reject_erased before insert on manual_grant for each row execute function reject_erased_account();
create trigger reject_erased before insert on account_app for each row execute function reject_erased_account();
create trigger reject_erased before insert on customer_consent for each row execute function reject_erased_account();
create trigger reject_erased before insert on chosen_account for each row execute function reject_erased_account();
create trigger reject_erased before insert on credit
    for each row when (new.app_account_token is not null) execute function reject_erased_account();
create trigger reject_erased before insert on offer_signature
    for each row when (new.app_account_token is not null) execute function reject_erased_account();

-- The purchases that an account owns or claims, and those from which it was detached; never one of another app. Where no other account of
-- the app has a purchase of the Apple account, those among them, too, that name no account and that it has not uploaded: they name
-- the customer by Apple's id.
create function purchases_of_account(
    asked_environment store_environment, asked_bundle_id text, asked_account uuid)
returns text[]
language sql stable
return array(
    -- Each customer once: an account may have thousands of purchases.
    with used as materialized (
        select original_transaction_id
        from purchase_account
        where app_account_token = asked_account and environment = asked_environment and bundle_id = asked_bundle_id
            and may_use
    ), named as materialized (
        select used.original_transaction_id, own.app_transaction_id as customer
        from used
        cross join lateral (
            select app_transaction_id
            from purchase_owner
            where environment = asked_environment and bundle_id = asked_bundle_id
                and original_transaction_id = used.original_transaction_id
            offset 0
        ) as own
    ), shared as materialized (
        select customer
        from (select distinct customer from named) as known
        where exists (
            select
            from (
                select original_transaction_id
                from purchase_owner
                where environment = asked_environment and bundle_id = asked_bundle_id and app_transaction_id = customer
                offset 0
            ) as bought
            join purchase_account held
                on held.environment = asked_environment and held.bundle_id = asked_bundle_id
                and held.original_transaction_id = bought.original_transaction_id
            where held.app_account_token <> asked_account)
    )
    select purchase
    from (
        select original_transaction_id
        from account_claim
        where app_account_token = asked_account and environment = asked_environment and bundle_id = asked_bundle_id
        union
        select original_transaction_id
        from subscription
        where owner_account_token = asked_account and environment = asked_environment and bundle_id = asked_bundle_id
        union
        select original_transaction_id
        from subscription
        where renewal_app_account_token = asked_account
            and renewal_app_account_token is distinct from owner_account_token
            and environment = asked_environment and bundle_id = asked_bundle_id
        union
        select original_transaction_id
        from used
        where not exists (
            select
            from named
            join shared using (customer)
            where named.original_transaction_id = used.original_transaction_id)
        union
        select unnest(detached_purchases)
        from erased_account
        where digest = account_digest(asked_environment, asked_bundle_id, asked_account)
    ) as concerned (purchase)
    where not exists (
        select
        from subscription
        where environment = asked_environment and original_transaction_id = purchase and bundle_id <> asked_bundle_id));

-- Whether an erasure finds anything of an account, beside the certificate of an earlier one and the purchases that it keeps. No role may
-- call it.
create function is_account_stored(asked_environment store_environment, asked_bundle_id text, asked_account uuid)
returns boolean
language sql stable security definer
set search_path from current
return
    exists (
        select
        from customer
        where app_account_token = asked_account and environment = asked_environment and bundle_id = asked_bundle_id)
    or not purchases_of_account(asked_environment, asked_bundle_id, asked_account) <@ coalesce(
        (
            select detached_purchases
            from erased_account
            where digest = account_digest(asked_environment, asked_bundle_id, asked_account)),
        '{}')
    or exists (
        select
        from manual_grant
        where app_account_token = asked_account and environment = asked_environment and bundle_id = asked_bundle_id)
    or exists (
        select
        from account_app
        where app_account_token = asked_account and environment = asked_environment and bundle_id = asked_bundle_id)
    or exists (
        select
        from customer_consent
        where app_account_token = asked_account and environment = asked_environment and bundle_id = asked_bundle_id)
    or exists (
        select
        from chosen_account
        where app_account_token = asked_account and environment = asked_environment and bundle_id = asked_bundle_id)
    or exists (
        select
        from shared_account_notice
        where asked_account in (app_account_token, first_account_token) and environment = asked_environment
            and bundle_id = asked_bundle_id)
    or exists (
        select
        from purchase_transfer
        where asked_account in (from_account_token, to_account_token) and environment = asked_environment
            and bundle_id = asked_bundle_id)
    or exists (
        select
        from offer_signature
        where app_account_token = asked_account and environment = asked_environment and bundle_id = asked_bundle_id)
    or exists (
        select
        from operator_action
        where app_account_token = asked_account and environment = asked_environment and bundle_id = asked_bundle_id);

-- Whether anything is known of an account. Only then it is erased: a typing error must not leave a certificate. Runs as its owner,
-- because the API does not read the audit log.
create function is_account_known(asked_environment store_environment, asked_bundle_id text, asked_account uuid)
returns boolean
language sql stable security definer
set search_path from current
return
    exists (
        select
        from erased_account
        where digest = account_digest(asked_environment, asked_bundle_id, asked_account))
    or is_account_stored(asked_environment, asked_bundle_id, asked_account);

-- Of an account's purchases, the ones without another account.
create function purchases_of_account_alone(
    asked_environment store_environment, asked_account uuid, concerned text[])
returns text[]
language sql stable
return array(
    select purchase
    from unnest(concerned) as purchase
    where not exists (
        select
        from account_claim other
        where other.environment = asked_environment and other.original_transaction_id = purchase
            and other.app_account_token <> asked_account)
        and not exists (
            select
            from subscription held
            where held.environment = asked_environment and held.original_transaction_id = purchase
                and held.owner_account_token <> asked_account)
        -- An account that came after the asked one was detached may use it without a claim.
        and not exists (
            select
            from purchase_account used
            where used.environment = asked_environment and used.original_transaction_id = purchase
                and used.app_account_token <> asked_account and used.may_use));

-- The signed payloads that a complete erasure deletes: all about purchases of the account alone, of the others those that name it.
create function payloads_of_account(
    asked_environment store_environment, asked_bundle_id text, asked_account uuid, concerned text[], own text[])
returns table (notification_uuid uuid, recorded_at timestamptz)
language sql stable
begin atomic
    select payload.notification_uuid, payload.recorded_at
    from notification known
    join notification_payload payload
        on payload.notification_uuid = known.notification_uuid and payload.recorded_at = known.recorded_at
    where known.environment = asked_environment and known.bundle_id = asked_bundle_id
        and known.original_transaction_id = any (concerned)
        and (
            known.original_transaction_id = any (own)
            or position(asked_account::text in lower(payload.decoded::text)) > 0);
end;

-- Detaches an account from its purchases and deletes its records; a complete erasure also deletes Apple's signed payloads that
-- name it and Apple's id of the customer. The purchases stay, without a customer: they are the sales of the app, and Apple goes
-- on sending notifications about them. Idempotent; a complete one may follow one that only detached.
--
-- Returns nothing, and changes nothing, where nothing is known of the account in this app and environment.
--
-- Runs as its owner, because no service may delete payloads. The lock waits for the batches of the state-updater that have read
-- this table, and holds the next ones back: every batch either is changed here or knows of the erasure. A part of erase_account; no role
-- may call it.
create function detach_account(
    new_id uuid, asked_environment store_environment, asked_bundle_id text, asked_account uuid, asked_completely boolean,
    now_at timestamptz, topics_end_at timestamptz)
returns setof erased_account
language plpgsql security definer
set search_path from current
set lock_timeout = '5s'
as $$
declare
    this constant bytea := account_digest(asked_environment, asked_bundle_id, asked_account);
    name constant text := asked_account::text;
    concerned text[];
    own text[];
    deleted bigint := 0;
begin
    lock table erased_account in access exclusive mode;
    if not is_account_known(asked_environment, asked_bundle_id, asked_account) then
        return;
    end if;
    concerned := purchases_of_account(asked_environment, asked_bundle_id, asked_account);
    own := purchases_of_account_alone(asked_environment, asked_account, concerned);

    if asked_completely then
        with removed as (
            delete from notification_payload payload
            using payloads_of_account(asked_environment, asked_bundle_id, asked_account, concerned, own) as doomed
            where payload.notification_uuid = doomed.notification_uuid and payload.recorded_at = doomed.recorded_at
            returning payload.notification_uuid
        )
        select count(*) into deleted from removed;
        delete from conflicting_notification conflict
        using notification known
        where known.environment = asked_environment and known.bundle_id = asked_bundle_id
            and known.original_transaction_id = any (concerned)
            and conflict.notification_uuid = known.notification_uuid;
    end if;

    update transaction
    set app_account_token = nullif(app_account_token, asked_account),
        app_transaction_id = case
            when not asked_completely or original_transaction_id <> all (own) then app_transaction_id
        end
    where environment = asked_environment and original_transaction_id = any (concerned);
    update subscription
    set revision = revision + 1,
        app_account_token = nullif(app_account_token, asked_account),
        renewal_app_account_token = nullif(renewal_app_account_token, asked_account),
        owner_account_token = case
            when owner_account_token <> asked_account then owner_account_token
            else coalesce(
                nullif(app_account_token, asked_account), nullif(renewal_app_account_token, asked_account))
        end,
        app_transaction_id = case
            when not asked_completely or original_transaction_id <> all (own) then app_transaction_id
        end
    where environment = asked_environment and original_transaction_id = any (concerned);
    update timeline
    set changes = replace(changes::text, name, 'erased')::jsonb
    where environment = asked_environment and original_transaction_id = any (concerned)
        and position(name in changes::text) > 0;

    delete from account_claim
    where app_account_token = asked_account and environment = asked_environment and bundle_id = asked_bundle_id;
    delete from chosen_account
    where app_account_token = asked_account and environment = asked_environment and bundle_id = asked_bundle_id;
    delete from shared_account_notice
    where asked_account in (app_account_token, first_account_token) and environment = asked_environment
        and bundle_id = asked_bundle_id;
    update purchase_transfer
    set from_account_token = nullif(from_account_token, asked_account),
        to_account_token = nullif(to_account_token, asked_account)
    where asked_account in (from_account_token, to_account_token) and environment = asked_environment
        and bundle_id = asked_bundle_id;
    delete from manual_grant
    where app_account_token = asked_account and environment = asked_environment and bundle_id = asked_bundle_id;
    delete from account_app
    where app_account_token = asked_account and environment = asked_environment and bundle_id = asked_bundle_id;
    delete from customer_consent
    where app_account_token = asked_account and environment = asked_environment and bundle_id = asked_bundle_id;
    delete from offer_signature
    where app_account_token = asked_account and environment = asked_environment and bundle_id = asked_bundle_id;
    delete from customer
    where app_account_token = asked_account and environment = asked_environment and bundle_id = asked_bundle_id;

    return query
        insert into erased_account as known (
            erased_at, topics_until, purchases, payloads, id, environment, is_complete, digest, bundle_id,
            detached_purchases)
        values (
            now_at, topics_end_at, cardinality(concerned), deleted, new_id, asked_environment, asked_completely, this,
            asked_bundle_id, case when asked_completely then '{}' else concerned end)
        on conflict (digest) do update
        set is_complete = known.is_complete or excluded.is_complete,
            erased_at = case when excluded.is_complete and not known.is_complete then excluded.erased_at else known.erased_at end,
            topics_until = case
                when excluded.is_complete and not known.is_complete then excluded.topics_until
                else known.topics_until
            end,
            payloads = known.payloads + excluded.payloads,
            detached_purchases = case when known.is_complete then '{}' else excluded.detached_purchases end
        returning *;
end;
$$;

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

-- Locks what an erasure of an account changes, until the transaction ends: what the caller reads then is what erase_account erases.
-- False, and nothing is locked, where an erasure would change nothing: nothing is known of the account, or an earlier one has erased as
-- much. The pipeline waits for the lock, which is on the whole table, because the account has no row yet, and of this mode, because no
-- other waits for a transaction that has only read. Runs as its owner, because no service may lock the table.
create function lock_erasures(
    asked_environment store_environment, asked_bundle_id text, asked_account uuid, asked_completely boolean)
returns boolean
language plpgsql security definer
set search_path from current
set lock_timeout = '5s'
as $$
begin
    -- One after the other: two that have read the table would wait for each other's lock, and the pipeline behind them.
    perform pg_advisory_xact_lock(hashtextextended(current_schema() || ' erasures', 0));
    if not is_account_stored(asked_environment, asked_bundle_id, asked_account)
        and not exists (
            select
            from erased_account
            where digest = account_digest(asked_environment, asked_bundle_id, asked_account)
                and not is_complete and asked_completely)
    then
        return false;
    end if;
    -- Each attempt that waits for the lock has the pipeline wait behind it, and what has lasted so long does not end in time.
    if is_held_longer('erased_account', interval '1 minute') then
        raise exception 'another transaction, such as a dump, holds the table erased_account; erase the customer when it has ended'
            using errcode = 'lock_not_available';
    end if;
    lock table erased_account in access exclusive mode;
    return true;
end;
$$;

-- Erases an account, or only detaches it, see detach_account. Deletes what was reported of the use of its purchases, too, keeps for the
-- sweep whose account it was and Apple's ids of the customer, which afterwards no row tells, notes the purchases of the account alone, and
-- forgets whose credits they were and which requests restored. Returns nothing, and changes nothing, where nothing is left to erase.
create function erase_account(
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
    -- detach_account asks again whether the account is known, under the lock.
    if not lock_erasures(asked_environment, asked_bundle_id, asked_account, asked_completely) then
        return;
    end if;
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
    insert into erased_purchase as known (environment, original_transaction_id, is_complete)
    select asked_environment, unnest(own), asked_completely
    on conflict (environment, original_transaction_id) do update
    set is_complete = true
    where excluded.is_complete and not known.is_complete;
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
