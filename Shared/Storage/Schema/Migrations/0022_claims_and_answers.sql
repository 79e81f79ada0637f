-- How many accounts may claim one Apple account, paid time, what an erasure leaves to do, and lists of refund requests.

-- Of the accounts of the app that claim one Apple account by uploads. An app whose accounts share has been told that all do: it
-- keeps as many as can be configured.
alter table sharing_policy add column most_accounts integer not null default 10 check (most_accounts between 1 and 1000);
update sharing_policy
set most_accounts = 1000
where policy = 'allow';

-- As before, and the seats that an organization assigned are not paid for by who uses them: the payment is in the purchase of the seats.
create or replace function loyalty_at(asked_environment store_environment, asked_purchases text[], moment timestamptz)
returns table (
    subscription_group_id text, recent_start_at timestamptz, paid_seconds double precision,
    reduced_commission_at timestamptz)
language sql stable
begin atomic
    with period as (
        -- The time of service of each transaction, and whether it was paid for: not by a free trial, family sharing, an assigned seat, a
        -- price of zero, or a price that was refunded in full.
        select t.subscription_group_id as held_group, greatest(lower(access.period), t.purchased_at) as begins_at,
            upper(access.period) as ends_at,
            coalesce(t.ownership not in ('FAMILY_SHARED', 'ASSIGNED'), true) and t.offer_discount_type is distinct from 'FREE_TRIAL'
                and coalesce(t.price_milliunits > 0, true)
                and (t.revoked_at is null or t.revocation_type is not distinct from 'REFUND_PRORATED') as is_paid
        from access_period access
        join transaction t on t.environment = access.environment and t.transaction_id = access.transaction_id
        where access.environment = asked_environment and access.original_transaction_id = any (asked_purchases)
            and access.reason = 'transaction' and t.subscription_group_id is not null
            and t.purchased_at < upper(access.period)
    ), allowed as (
        select case when asked_environment = 'Production' then interval '1440 hours' else interval '10 minutes' end as gap
    ), begun as (
        select held_group, begins_at, max(ends_at) over (
                partition by held_group order by begins_at, ends_at
                rows between unbounded preceding and 1 preceding) as covered_until
        from period
        where begins_at <= moment
    ), recent as (
        select held_group, least(
                max(begins_at) filter (where covered_until is null or begins_at - covered_until > gap),
                (select min(s.recent_start_at)
                from subscription s
                where s.environment = asked_environment and s.original_transaction_id = any (asked_purchases)
                    and s.subscription_group_id = held_group and s.recent_start_at <= moment)) as start_at
        from begun
        cross join allowed
        group by held_group
    ), paid as (
        select period.held_group, begins_at, ends_at, max(ends_at) over (
                partition by period.held_group order by begins_at, ends_at
                rows between unbounded preceding and 1 preceding) as covered_until
        from period
        join recent on recent.held_group = period.held_group
        where is_paid and begins_at >= recent.start_at
    ), numbered as (
        -- A run is service without a gap. Time that several purchases cover counts once.
        select held_group, begins_at, greatest(begins_at, covered_until) as from_at, ends_at,
            count(*) filter (where covered_until is null or begins_at - covered_until > gap)
                over (partition by held_group order by begins_at, ends_at rows unbounded preceding) as run
        from paid
        cross join allowed
    ), latest as (
        select held_group, max(run) as run
        from numbered
        where begins_at <= moment
        group by held_group
    ), added as (
        select held_group, from_at, extract(epoch from ends_at - from_at) as seconds,
            extract(epoch from least(ends_at, moment) - from_at) as seconds_until_now,
            sum(extract(epoch from ends_at - from_at)) over (
                partition by held_group order by from_at, ends_at rows unbounded preceding) as seconds_so_far
        from numbered
        join latest using (held_group, run)
        where from_at < ends_at
    )
    select recent.held_group, recent.start_at, coalesce(total.paid, 0)::double precision, total.year_at
    from recent
    left join (
        select held_group, sum(greatest(seconds_until_now, 0)) as paid,
            min(from_at + make_interval(secs => (365 * 86400 - (seconds_so_far - seconds))::double precision))
                filter (where seconds_so_far >= 365 * 86400) as year_at
        from added
        group by held_group
    ) as total using (held_group)
    order by recent.held_group collate "C";
end;

-- The account of an erasure whose sweep has not ended, and the developer's own id: with them every process can repeat the sweep where the
-- database failed in between. Null afterwards. erase_account keeps them, in 0023. Payloads about no purchase that were recorded until
-- swept_until are looked through.
alter table erased_account
    add column unswept_account uuid, add column unswept_customer text, add column swept_until timestamptz;
create index erased_account_unswept on erased_account (erased_at) where unswept_account is not null;

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

-- As before, and changes nothing of a customer that was created again under the same own id: a sweep may come later than that.
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
    -- When the developer used the own id for another account; null: not yet. What is about that one stays.
    reused_at constant timestamptz := (
        select created_at
        from customer
        where customer_id = asked_customer and environment = asked_environment and bundle_id = asked_bundle_id);
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
        and (
            app_account_token = asked_account
            or customer_id = asked_customer and (reused_at is null or acted_at < reused_at));
    update operator_action
    set reason = regexp_replace(reason, name, instead, 'gi')
    where environment = asked_environment and bundle_id = asked_bundle_id and position(name in lower(reason)) > 0;
end;
$$;

-- Sweeps an erased account where that is left to do, the payloads in portions: an erasure locks erased_account, which each portion has
-- read, and the pipeline waits behind it. One portion after the other, so that a second process finds nothing left.
-- Returns whether something is left.
create function sweep_unswept_account(certificate uuid, most bigint) returns boolean
language plpgsql security definer
set search_path from current
as $$
declare
    unswept erased_account;
    until_at timestamptz;
begin
    perform pg_advisory_xact_lock(hashtextextended(current_schema() || ' sweep ' || certificate::text, 0));
    select *
    into unswept
    from erased_account
    where id = certificate and unswept_account is not null;
    if not found then
        return false;
    end if;
    until_at := sweep_payloads(
        certificate, unswept.environment, unswept.bundle_id, unswept.unswept_account,
        coalesce(unswept.swept_until, '-infinity'), most);
    if until_at is not null then
        update erased_account
        set swept_until = until_at
        where id = certificate;
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

-- Lists of refund requests by the state of their answers. One that waits is of a request that the scheduler looks at again. Whether an
-- answer was ever withheld is noted with the request, in whose order the list is; which one counts is decided where it is read.
alter table refund_request add column was_withheld boolean; -- null: never
create function note_withheld_refund() returns trigger
language plpgsql security definer
set search_path from current
as $$
begin
    update refund_request
    set was_withheld = true
    where environment = new.environment and transaction_id = new.transaction_id and was_withheld is null;
    return null;
end;
$$;
create trigger note_withheld after insert or update of failed_with on refund_answer
    for each row when (new.withheld_because <> 'late' or new.failed_with = 'consentWithdrawn')
    execute function note_withheld_refund();
update refund_request
set was_withheld = true
from refund_answer answer
where answer.environment = refund_request.environment and answer.transaction_id = refund_request.transaction_id
    and (answer.withheld_because <> 'late' or answer.failed_with = 'consentWithdrawn');
create index refund_request_withheld on refund_request (requested_at, transaction_id)
where was_withheld and requested_at is not null;
create index refund_request_planned on refund_request (requested_at, transaction_id) where next_at is not null;
-- The lists of single apps: those of an app with few requests read none of the others.
create index refund_request_withheld_of_app on refund_request (environment, bundle_id, requested_at, transaction_id)
where was_withheld and requested_at is not null;
drop index refund_request_by_time;
create index refund_request_by_time on refund_request (environment, bundle_id, requested_at, transaction_id)
where requested_at is not null;

-- The request that decided a restore: where its answer was lost, a repeat finds the decision and makes no other one.
alter table purchase_transfer add column request_uuid uuid; -- null: the client cannot repeat it
create index purchase_transfer_of_request on purchase_transfer (request_uuid) where request_uuid is not null;
