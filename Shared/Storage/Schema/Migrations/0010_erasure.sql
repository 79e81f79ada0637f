-- Erasure: accounts of the app whose customers asked to be forgotten.

-- One row for each account that was detached from its purchases or erased. Only a digest of the account is kept: it recognizes
-- what Apple still sends about the account, and what is replayed, recovered or rebuilt, without naming it.
create table erased_account (
    erased_at timestamptz not null,
    topics_until timestamptz not null, -- the retention of Kafka's topics has deleted all older records by then
    purchases bigint not null, -- that the account owned or claimed
    payloads bigint not null, -- that were deleted
    id uuid primary key, -- of the certificate
    environment store_environment not null,
    is_complete boolean not null, -- false: detached, Apple's signed payloads are kept
    digest bytea not null unique check (length(digest) = 32),
    bundle_id text not null,
    detached_purchases text[] not null -- for an erasure that follows; empty where it is complete
);

-- Finds purchases by an account that only their renewal info names: almost none.
create index subscription_by_renewal_account on subscription (renewal_app_account_token)
    where renewal_app_account_token is distinct from owner_account_token;

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

-- The purchases that an account owns or claims, and those from which it was detached; never one of another app.
create function purchases_of_account(
    asked_environment store_environment, asked_bundle_id text, asked_account uuid)
returns text[]
language sql stable
return array(
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
        select unnest(detached_purchases)
        from erased_account
        where digest = account_digest(asked_environment, asked_bundle_id, asked_account)
    ) as concerned (purchase)
    where not exists (
        select
        from subscription
        where environment = asked_environment and original_transaction_id = purchase and bundle_id <> asked_bundle_id));

-- Whether anything is known of an account. Only then it is erased: a typing error must not leave a certificate.
create function is_account_known(asked_environment store_environment, asked_bundle_id text, asked_account uuid)
returns boolean
language sql stable
return
    exists (
        select
        from erased_account
        where digest = account_digest(asked_environment, asked_bundle_id, asked_account))
    or exists (
        select
        from customer
        where app_account_token = asked_account and environment = asked_environment and bundle_id = asked_bundle_id)
    or cardinality(purchases_of_account(asked_environment, asked_bundle_id, asked_account)) > 0
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
        from operator_action
        where app_account_token = asked_account and environment = asked_environment and bundle_id = asked_bundle_id);

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
                and held.owner_account_token <> asked_account));

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
-- this table, and holds the next ones back: every batch either is changed here or knows of the erasure.
create function erase_account(
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

-- The rest of an erasure: payloads that are about no purchase, stored answers of the API, and the audit log, in which the
-- certificate takes the place of the account and of the developer's own id. Answers and entries are found by their columns, and
-- only those of the app and environment: another app may use the same token for another person, and texts may say anything.
-- After erase_account, without its lock.
create function sweep_erased_account(
    certificate uuid, asked_environment store_environment, asked_bundle_id text, asked_account uuid, asked_customer text)
returns void
language plpgsql security definer
set search_path from current
as $$
declare
    name constant text := asked_account::text;
    instead constant text := 'erased account ' || certificate::text;
    -- As a whole word; every character that is no letter or digit stands for itself.
    customer_word constant text :=
        '(?<![[:alnum:]])' || regexp_replace(asked_customer, '([^[:alnum:]])', '\\\1', 'g') || '(?![[:alnum:]])';
begin
    if exists (select from erased_account where id = certificate and is_complete) then
        delete from notification_payload payload
        using notification known
        where known.original_transaction_id is null and known.environment = asked_environment
            and known.bundle_id = asked_bundle_id
            and payload.notification_uuid = known.notification_uuid and payload.recorded_at = known.recorded_at
            and position(name in lower(payload.decoded::text)) > 0;
    end if;
    delete from api_idempotency
    where environment = asked_environment and bundle_id = asked_bundle_id
        and (asked_account = any (app_account_tokens) or customer_id = asked_customer);
    -- Last written by erase_account and by what was decided after it.
    delete from account_version
    where app_account_token = asked_account and environment = asked_environment;
    update operator_action
    set subject = instead,
        reason = case when customer_word is null then reason else regexp_replace(reason, customer_word, instead, 'g') end,
        app_account_token = null,
        customer_id = null
    where environment = asked_environment and bundle_id = asked_bundle_id
        and (app_account_token = asked_account or customer_id = asked_customer);
    update operator_action
    set reason = regexp_replace(reason, name, instead, 'gi')
    where environment = asked_environment and bundle_id = asked_bundle_id and position(name in lower(reason)) > 0;
end;
$$;
