-- The rest of an erasure, which locks nothing that the pipeline needs: what names no purchase, and what is no state of purchases.

-- Deletes, of what is about no purchase, payloads and other contents under their uuids that name an erased account, or its customer by
-- Apple's id alone: of notifications recorded after a moment, at most so many, but all that were recorded at the same time as the last
-- of them. Null is all. Nothing where the account was only detached.
-- Returns when the last was recorded; null where there is none. No role may call it.
create function sweep_payloads(
    certificate uuid, asked_environment store_environment, asked_bundle_id text, asked_account uuid, after_at timestamptz,
    most bigint)
returns timestamptz
language plpgsql security definer
set search_path from current
as $$
declare
    name constant text := asked_account::text;
    ids text[];
    named_by_apple text; -- null: it has no id
    until_at timestamptz;
begin
    select customer_ids
    into ids
    from erased_account
    where id = certificate and is_complete;
    if not found then
        return null;
    end if;
    select max(recorded_at)
    into until_at
    from (
        select recorded_at
        from notification
        where original_transaction_id is null and environment = asked_environment and bundle_id = asked_bundle_id
            and recorded_at > after_at
        order by recorded_at
        limit most
    ) as next;
    if until_at is null then
        return null;
    end if;
    named_by_apple := '"appTransactionId"\s*:\s*"('
        || (select string_agg(regexp_replace(id, '([^[:alnum:]])', '\\\1', 'g'), '|') from unnest(ids) as id) || ')"';
    delete from notification_payload payload
    using notification known
    where known.original_transaction_id is null and known.environment = asked_environment
        and known.bundle_id = asked_bundle_id and known.recorded_at > after_at and known.recorded_at <= until_at
        and payload.notification_uuid = known.notification_uuid and payload.recorded_at = known.recorded_at
        -- The months of the other payloads are not looked at.
        and payload.recorded_at > after_at and payload.recorded_at <= until_at
        and (
            position(name in lower(payload.decoded::text)) > 0
            or coalesce(payload.decoded::text ~ named_by_apple, false));
    delete from conflicting_notification conflict
    using notification known
    where known.original_transaction_id is null and known.environment = asked_environment
        and known.bundle_id = asked_bundle_id and known.recorded_at > after_at and known.recorded_at <= until_at
        and conflict.notification_uuid = known.notification_uuid
        and (
            position(name in lower(conflict.decoded::text)) > 0
            or coalesce(conflict.decoded::text ~ named_by_apple, false));
    return until_at;
end;
$$;

-- What a sweep reads longest, so that it runs before the sweep locks erased_account, for which another erasure would wait, and the pipeline
-- behind that one: stored answers of the API; differences of comparisons; and the audit log, in which the certificate takes the place
-- of the account and of the developer's own id. Answers and entries are found by their columns, and only those of the app and
-- environment: another app may use the same token for another person, and texts may say anything.
--
-- Changes nothing of a customer that was created again under the same own id: a sweep may come later than that. No role may call it.
create function sweep_records(
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
    -- When the developer used the own id for another account; null: not yet. What is about that one stays.
    reused_at constant timestamptz := (
        select created_at
        from customer
        where customer_id = asked_customer and environment = asked_environment and bundle_id = asked_bundle_id);
begin
    delete from api_idempotency
    where environment = asked_environment and bundle_id = asked_bundle_id
        and (
            asked_account = any (app_account_tokens)
            or customer_id = asked_customer and (reused_at is null or created_at < reused_at));
    delete from comparison_difference difference
    using comparison compared
    where difference.comparison = compared.id and compared.environment = asked_environment
        and compared.bundle_id = asked_bundle_id
        and (
            difference.app_account_token = asked_account or difference.customer_id = name
            or difference.customer_id = asked_customer and (reused_at is null or compared.started_at < reused_at));
    update operator_action
    set subject = instead,
        reason = case when customer_word is null then reason else regexp_replace(reason, customer_word, instead, 'g') end,
        app_account_token = null,
        customer_id = null
    where environment = asked_environment and bundle_id = asked_bundle_id
        and (
            app_account_token = asked_account
            or customer_id = asked_customer and (reused_at is null or acted_at < reused_at));
    update operator_action
    set reason = regexp_replace(reason, name, instead, 'gi')
    where environment = asked_environment and bundle_id = asked_bundle_id and position(name in lower(reason)) > 0;
end;
$$;

-- The end of a sweep: payloads that are about no purchase, and other contents under their uuids, also those that name the customer
-- by Apple's id alone; moves of the app itself; and the version of the account's answers.
--
-- Forgets whose withdrawals there were, but not those of a customer that another account of the app has, too: the consent of that one
-- must not count again. After erase_account, without its lock. A part of sweep_unswept_account, which knows that the account was erased;
-- no role may call it.
create function sweep_erased_account(
    certificate uuid, asked_environment store_environment, asked_bundle_id text, asked_account uuid, asked_customer text)
returns void
language plpgsql security definer
set search_path from current
as $$
declare
    ids text[];
    swept timestamptz;
begin
    select customer_ids, swept_until
    into ids, swept
    from erased_account
    where id = certificate and is_complete;
    if found then
        perform sweep_payloads(
            certificate, asked_environment, asked_bundle_id, asked_account, coalesce(swept, '-infinity'), null);
        delete from purchase_transfer
        where environment = asked_environment and bundle_id = asked_bundle_id
            and original_transaction_id in (select 'app:' || id from unnest(ids) as id);
        update notification
        set app_transaction_id = null
        where environment = asked_environment and bundle_id = asked_bundle_id
            and notification_type = 'RESCIND_CONSENT' and app_transaction_id = any (ids);
        update erased_account
        set customer_ids = '{}'
        where id = certificate and cardinality(customer_ids) > 0;
    end if;
    -- Last written by erase_account and by what was decided after it. Another app that uses the same token keeps its version, which
    -- rises: at 0 an answer from before its first change would hold again.
    if exists (
        select from purchase_account
        where app_account_token = asked_account and environment = asked_environment and bundle_id <> asked_bundle_id)
        or exists (
            select from manual_grant
            where app_account_token = asked_account and environment = asked_environment and bundle_id <> asked_bundle_id)
        or exists (
            select from account_app
            where app_account_token = asked_account and environment = asked_environment and bundle_id <> asked_bundle_id)
    then
        update account_version
        set version = greatest(version + 1, pg_current_xact_id()::text::bigint)
        where app_account_token = asked_account and environment = asked_environment;
    else
        delete from account_version
        where app_account_token = asked_account and environment = asked_environment;
    end if;
end;
$$;

-- Sweeps an erased account where that is left to do, the payloads in portions: an erasure locks erased_account, which each portion has
-- read, and the pipeline waits behind it. After the last portion the lock is given back, and taken again for the end. One portion after the
-- other, so that a second process finds nothing left.
-- Returns whether something is left.
create function sweep_unswept_account(certificate uuid, most bigint) returns boolean
language plpgsql security definer
set search_path from current
as $$
declare
    unswept erased_account;
    read_version xid;
    until_at timestamptz;
begin
    perform pg_advisory_xact_lock(hashtextextended(current_schema() || ' sweep ' || certificate::text, 0));
    begin
        select *
        into unswept
        from erased_account
        where id = certificate and unswept_account is not null;
        if not found then
            return false;
        end if;
        select xmin
        into read_version
        from erased_account
        where id = certificate;
        until_at := sweep_payloads(
            certificate, unswept.environment, unswept.bundle_id, unswept.unswept_account,
            coalesce(unswept.swept_until, '-infinity'), most);
        if until_at is not null then
            update erased_account
            set swept_until = until_at
            where id = certificate;
            return true;
        end if;
        -- Its handler gives back the lock that this block has taken, and keeps what the variables hold.
        raise exception 'no payload is left' using errcode = 'SK002';
    exception
        when sqlstate 'SK002' then null;
    end;
    perform sweep_records(
        certificate, unswept.environment, unswept.bundle_id, unswept.unswept_account, unswept.unswept_customer);
    -- The account was erased once more meanwhile, and what that wrote is not swept.
    if not exists (select from erased_account where id = certificate and xmin = read_version) then
        return true;
    end if;
    perform sweep_erased_account(
        certificate, unswept.environment, unswept.bundle_id, unswept.unswept_account, unswept.unswept_customer);
    update erased_account
    set unswept_account = null, unswept_customer = null, swept_until = null
    where id = certificate;
    return false;
end;
$$;
