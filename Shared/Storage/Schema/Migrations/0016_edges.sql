-- At the edges: what the operator is told, what an erasure leaves behind, and what one transaction does to others.

-- Notifications of version 1, which have no signature and change no state: almost none, and the operator is told of the latest.
create index notification_of_version1 on notification (recorded_at) where notification_type = 'V1';

-- The sweep of an erased account looks through what names no purchase.
create index notification_without_purchase on notification (environment, bundle_id, recorded_at)
where original_transaction_id is null;

-- Apple's ids of the customer (appTransactionId) that no other account of the app has, until the sweep has deleted the payloads that
-- name them: uploaded app transactions and RESCIND_CONSENT name no account and no purchase. Of a detached account they are kept for an
-- erasure that follows.
alter table erased_account add column customer_ids text[] not null default '{}';

-- As before, and keeps Apple's ids of the customer for the sweep: afterwards no row tells whose they are.
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
    certificate erased_account;
begin
    -- The pipeline waits for the lock: an unknown account locks nothing. detach_account asks again, under the lock.
    if not is_account_known(asked_environment, asked_bundle_id, asked_account) then
        return;
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
    delete from usage_report
    where environment = asked_environment and bundle_id = asked_bundle_id and original_transaction_id = any (concerned);
    select *
    into certificate
    from detach_account(
        new_id, asked_environment, asked_bundle_id, asked_account, asked_completely, now_at, topics_end_at);
    if not found then
        return;
    end if;
    return query
        update erased_account
        set customer_ids = ids
        where id = certificate.id
        returning *;
end;
$$;

-- As before, for several runs at once: a table that another run creates meanwhile is the one that is wanted.
create or replace function payload_month_table(month date) returns text
language plpgsql
set search_path from current
set timezone = 'UTC'
as $$
declare
    partition constant text := format('%I.%I', current_schema(), 'notification_payload_' || to_char(month, 'YYYY_MM'));
begin
    if to_regclass(partition) is null then
        begin
            -- With the constraint the attachment need not read the table again.
            execute format(
                'create table if not exists %s (like notification_payload including all, constraint is_of_month check ('
                'recorded_at >= %L and recorded_at < %L)) with (toast_tuple_target = 1024)',
                partition, date_trunc('month', month)::timestamptz,
                (date_trunc('month', month) + interval '1 month')::timestamptz);
        exception
            -- Which of these depends on what this one had looked up of the name (relation, type, index of the catalog) before the
            -- other run committed.
            when duplicate_table or duplicate_object or unique_violation then null;
        end;
    end if;
    return partition;
end;
$$;

-- As before, and deletes from the tables of the months what was copied and is no longer in the default partition: an erasure deletes
-- there alone, because no query reads the table of a month before it is attached. Leaves out the months that another run created
-- while this one waited for the lock.
create or replace function make_payload_months(months date[]) returns void
language plpgsql security definer
set search_path from current
set lock_timeout = '2s'
set timezone = 'UTC'
as $$
declare
    month date;
    partition text;
begin
    -- The lock that the attachment needs anyway; taking a weaker one first could end in a deadlock.
    lock table notification_payload_default in access exclusive mode;
    months := array(
        select wanted
        from unnest(months) as wanted
        where not exists (
            select
            from pg_inherits
            where inhparent = 'notification_payload'::regclass
                and inhrelid = to_regclass('notification_payload_' || to_char(wanted, 'YYYY_MM'))));
    if cardinality(months) = 0 then
        return;
    end if;
    foreach month in array months
    loop
        partition := payload_month_table(month);
        execute format(
            'delete from %1$s copied '
            'using ('
            '    select notification_uuid, recorded_at from %1$s '
            '    except select notification_uuid, recorded_at from notification_payload_default'
            ') as gone '
            'where copied.notification_uuid = gone.notification_uuid and copied.recorded_at = gone.recorded_at', partition);
        execute format(
            'insert into %1$s select rest.* from notification_payload_default rest '
            'where recorded_at >= $1 and recorded_at < $2 and not exists ('
            '    select from %1$s copied'
            '    where copied.notification_uuid = rest.notification_uuid and copied.recorded_at = rest.recorded_at)',
            partition)
        using month::timestamptz, (month + interval '1 month')::timestamptz;
    end loop;
    if exists (
        select from notification_payload_default
        where date_trunc('month', recorded_at)::date <> all (months))
    then
        delete from notification_payload_default where date_trunc('month', recorded_at)::date = any (months);
    else
        truncate notification_payload_default;
    end if;
    foreach month in array months
    loop
        partition := payload_month_table(month);
        execute format(
            'alter table notification_payload attach partition %s for values from (%L) to (%L)',
            partition, month::timestamptz, (month + interval '1 month')::timestamptz);
        execute format('alter table %s drop constraint is_of_month', partition);
    end loop;
end;
$$;

-- As before, for several runs at once: a month that another one drops meanwhile is none of this one's.
create or replace function drop_payload_month(month_name text) returns boolean
language plpgsql security definer
set search_path from current
set lock_timeout = '2s'
as $$
begin
    if not exists (
        select from payload_months() m where m.name = month_name and m.ends_at < now() - interval '200 days')
    then
        return false;
    end if;
    execute format('drop table %I.%I', current_schema(), month_name);
    return true;
exception
    when undefined_table then return false;
end;
$$;

-- Whether anything is known of an account is answered without reading a table whole.
create index purchase_transfer_from_account on purchase_transfer (from_account_token) where from_account_token is not null;
create index purchase_transfer_to_account on purchase_transfer (to_account_token) where to_account_token is not null;
create index shared_account_notice_by_account on shared_account_notice (app_account_token);
create index shared_account_notice_by_first_account on shared_account_notice (first_account_token);
create index operator_action_by_account on operator_action (app_account_token) where app_account_token is not null;

-- The transaction of the server that took its id before all others that run, in any database: the feed of events waits for its end, see
-- EventFeed. As blocked_sessions, it tells its callers of this one and of nothing else.
create function oldest_writer()
returns table (
    connected_at timestamptz, since timestamptz, process integer, user_name text, database_name text, application text,
    statement text, prepared text)
language sql stable security definer
set search_path from current
as $$
    select connected_at, since, process, user_name, database_name, application, statement, prepared
    from (
        select backend_start, xact_start, pid, usename::text, datname::text, application_name, left(query, 200), null, backend_xid
        from pg_stat_activity
        where backend_xid is not null and pid <> pg_backend_pid()
        union all
        select null, prepared, 0, owner::text, database::text, null, null, gid, transaction
        from pg_prepared_xacts
    ) as writer (
        connected_at, since, process, user_name, database_name, application, statement, prepared, transaction_id)
    order by age(transaction_id) desc
    limit 1
$$;

-- Lists of requests begin at one end of time and stop: at the newest, or at what Apple still takes an answer to.
create index refund_request_newest on refund_request (requested_at, transaction_id) where requested_at is not null;
