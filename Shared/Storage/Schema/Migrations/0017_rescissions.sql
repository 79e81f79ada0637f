-- A parent's withdrawal of the consent (RESCIND_CONSENT) outlives its payload: the row of the ledger, which is kept for ever, says
-- whose it is. And what state-updaters of earlier releases leave out while a release rolls out is completed in their transactions:
-- this column, and the refund requests of migration 0012.

-- Keeps the newest request and the newest outcome of a transaction, as the state-updater does with all of a batch. These functions
-- run as their owner: no role needs a further right while the release rolls out, and none may call them.
create function note_refund(told notification) returns void
language plpgsql security definer
set search_path from current
as $$
begin
    if told.notification_type = 'CONSUMPTION_REQUEST' then
        insert into refund_request as held (
            requested_at, next_at, request_uuid, environment, transaction_id, original_transaction_id, bundle_id, reason)
        select told.signed_at, told.recorded_at, told.notification_uuid, told.environment, told.transaction_id,
            told.original_transaction_id, told.bundle_id, (
                -- Postgres reads no member of a payload with a NUL.
                select case
                    when position('\u0000' in decoded::text) = 0 then decoded -> 'data' ->> 'consumptionRequestReason'
                end
                from notification_payload payload
                where payload.notification_uuid = told.notification_uuid and payload.recorded_at = told.recorded_at)
        on conflict (environment, transaction_id) do update
        set requested_at = excluded.requested_at,
            request_uuid = excluded.request_uuid,
            reason = excluded.reason,
            original_transaction_id = excluded.original_transaction_id,
            bundle_id = excluded.bundle_id,
            next_at = case
                when excluded.requested_at > coalesce(held.outcome_at, '-infinity')
                    then coalesce(held.next_at, excluded.next_at)
            end
        where held.requested_at is null
            or (excluded.requested_at, excluded.request_uuid) > (held.requested_at, held.request_uuid);
    else
        insert into refund_request as held (
            outcome_at, outcome_uuid, environment, transaction_id, original_transaction_id, bundle_id, outcome)
        select told.signed_at, told.notification_uuid, told.environment, told.transaction_id,
            told.original_transaction_id, told.bundle_id,
            case told.notification_type when 'REFUND' then 'refunded' when 'REFUND_DECLINED' then 'declined' else 'reversed' end
        on conflict (environment, transaction_id) do update
        set outcome = excluded.outcome,
            outcome_at = excluded.outcome_at,
            outcome_uuid = excluded.outcome_uuid,
            original_transaction_id = case
                when held.requested_at is null then excluded.original_transaction_id else held.original_transaction_id
            end,
            bundle_id = case when held.requested_at is null then excluded.bundle_id else held.bundle_id end,
            next_at = case
                when held.requested_at > excluded.outcome_at then coalesce(held.next_at, told.recorded_at)
            end
        where held.outcome_at is null
            or (excluded.outcome_at, excluded.outcome_uuid) > (held.outcome_at, held.outcome_uuid);
    end if;
end;
$$;

create function complete_refund_request() returns trigger
language plpgsql security definer
set search_path from current
as $$
begin
    perform note_refund(new);
    return null;
end;
$$;

-- What was stored since migration 0012 by a state-updater of before it. An hour more, because clocks differ and transactions take
-- time. Before the lock below, because it may read many rows.
select note_refund(told)
from notification told
where notification_type in ('CONSUMPTION_REQUEST', 'REFUND', 'REFUND_DECLINED', 'REFUND_REVERSED')
    and original_transaction_id is not null and transaction_id is not null and signed_at is not null
    and recorded_at >= (select applied_at - interval '1 hour' from schema_migration where version = 12);

-- Apple's id of the customer whose parent withdrew the consent; null: another type of notification, or the customer was erased.
-- From here on the state-updaters wait for this migration.
alter table notification add column app_transaction_id text;

-- What arrived meanwhile.
select note_refund(told)
from notification told
where notification_type in ('CONSUMPTION_REQUEST', 'REFUND', 'REFUND_DECLINED', 'REFUND_REVERSED')
    and original_transaction_id is not null and transaction_id is not null and signed_at is not null
    and recorded_at >= now() - interval '10 minutes';

-- At the end of the transaction, because the payload is written after the row. The state-updater of this release has written the
-- same before; without one of before migration 0012 the trigger may be dropped.
create constraint trigger complete_refund after insert on notification
    deferrable initially deferred
    for each row when (
        new.notification_type in ('CONSUMPTION_REQUEST', 'REFUND', 'REFUND_DECLINED', 'REFUND_REVERSED')
        and new.original_transaction_id is not null and new.transaction_id is not null and new.signed_at is not null)
    execute function complete_refund_request();

create function note_rescission(told notification) returns void
language plpgsql security definer
set search_path from current
as $$
begin
    update notification known
    set app_transaction_id = case
        when position('\u0000' in payload.decoded::text) = 0
            then payload.decoded -> 'appData' -> 'signedAppTransactionInfo' ->> 'appTransactionId'
    end
    from notification_payload payload
    where known.notification_uuid = told.notification_uuid and payload.notification_uuid = told.notification_uuid
        and payload.recorded_at = told.recorded_at;
end;
$$;

create function complete_rescission() returns trigger
language plpgsql security definer
set search_path from current
as $$
begin
    perform note_rescission(new);
    return null;
end;
$$;
create constraint trigger complete_rescission after insert on notification
    deferrable initially deferred
    for each row when (new.notification_type = 'RESCIND_CONSENT' and new.app_transaction_id is null)
    execute function complete_rescission();

select note_rescission(told) from notification told where notification_type = 'RESCIND_CONSENT';

-- For their retention.
create index usage_report_by_time on usage_report (reported_at);

-- As before, and deletes what names the customer by Apple's id alone: payloads about no purchase, other contents under their uuids,
-- and moves of the app itself. Forgets whose withdrawals there were, but not those of a customer that another account of the app has,
-- too: the consent of that one must not count again.
create or replace function sweep_erased_account(
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
    ids text[];
    named_by_apple text; -- null: it has no id
begin
    select customer_ids
    into ids
    from erased_account
    where id = certificate and is_complete;
    if found then
        named_by_apple := '"appTransactionId"\s*:\s*"('
            || (select string_agg(regexp_replace(id, '([^[:alnum:]])', '\\\1', 'g'), '|') from unnest(ids) as id) || ')"';
        delete from notification_payload payload
        using notification known
        where known.original_transaction_id is null and known.environment = asked_environment
            and known.bundle_id = asked_bundle_id
            and payload.notification_uuid = known.notification_uuid and payload.recorded_at = known.recorded_at
            and (
                position(name in lower(payload.decoded::text)) > 0
                or coalesce(payload.decoded::text ~ named_by_apple, false));
        delete from conflicting_notification conflict
        using notification known
        where known.original_transaction_id is null and known.environment = asked_environment
            and known.bundle_id = asked_bundle_id
            and conflict.notification_uuid = known.notification_uuid
            and (
                position(name in lower(conflict.decoded::text)) > 0
                or coalesce(conflict.decoded::text ~ named_by_apple, false));
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
    delete from api_idempotency
    where environment = asked_environment and bundle_id = asked_bundle_id
        and (asked_account = any (app_account_tokens) or customer_id = asked_customer);
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
