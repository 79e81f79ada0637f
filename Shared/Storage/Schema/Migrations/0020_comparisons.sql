-- Comparisons with the system that an app moves from: what its export says of access at a moment, beside what was known here.

-- A run over one file. Only a finished one counts: while it runs, and where it was interrupted, an earlier one of the same moment stays.
create table comparison (
    taken_at timestamptz not null, -- the moment of the file
    started_at timestamptz not null,
    finished_at timestamptz, -- null: it runs, or was interrupted
    id uuid primary key,
    environment store_environment not null,
    bundle_id text not null,
    source text not null, -- the kind of file
    counts jsonb -- of customers, records and differences by cause; null until it is finished
);
create index comparison_by_moment on comparison (environment, bundle_id, taken_at);
create index comparison_by_start on comparison (started_at);
-- One result for each file, also where two runs finish at the same time.
create unique index comparison_finished on comparison (environment, bundle_id, source, taken_at) where finished_at is not null;

-- An entitlement of a customer that was not the same on both sides.
create table comparison_difference (
    id bigint generated always as identity primary key,
    ours_until timestamptz, -- null with access: it has no end
    other_until timestamptz,
    line bigint, -- of the file, that decided or named the customer first; null: the file does not name the customer
    comparison uuid not null references comparison (id) on delete cascade,
    app_account_token uuid, -- null: no account here has the customer's id
    notification_uuid uuid, -- that decided; null: none did
    is_ours boolean not null, -- whether there was access here
    is_others boolean not null, -- and in the other system
    customer_id text not null, -- the developer's own id; of an account without one its token
    entitlement text not null,
    cause text not null,
    ours_reason text, -- of the access period
    original_transaction_id text -- null: no purchase of the App Store is concerned
);
create index comparison_difference_by_cause on comparison_difference (comparison, cause, id);
-- For erasures.
create index comparison_difference_by_customer on comparison_difference (customer_id);
create index comparison_difference_by_account on comparison_difference (app_account_token) where app_account_token is not null;

-- As before, and deletes the differences of the customer.
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
    delete from comparison_difference difference
    using comparison compared
    where difference.comparison = compared.id and compared.environment = asked_environment
        and compared.bundle_id = asked_bundle_id
        and (difference.app_account_token = asked_account or difference.customer_id in (asked_customer, name));
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
