-- The ledger: every verified notification, once, and its payload.

-- Header segments of signed data. All notifications of some months share one, which is 85 % of each.
create table certificate_chain (
    digest bytea primary key check (length(digest) = 32), -- SHA-256 of header
    header bytea not null
);

-- One small row per notification, kept for ever; its payload is in notification_payload. Not partitioned, because partitions
-- by time could not keep the uuid unique.
--
-- Gap detection, cancellations, price consents and reasons of expiry read the columns from status on, which outlive the
-- payload.
create table notification (
    signed_at timestamptz, -- Apple's signedDate; without one that of the transaction or renewal info, else the arrival
    received_at timestamptz not null,
    recorded_at timestamptz not null,
    app_apple_id bigint,
    kafka_offset bigint not null,
    purchased_at timestamptz, -- of the transaction
    expires_at timestamptz, -- of the transaction
    notification_uuid uuid primary key,
    environment store_environment not null,
    kafka_partition integer not null,
    content_conflicts integer not null default 0, -- number of other contents under the same uuid; the first stays
    status smallint, -- Apple's
    has_advanced boolean not null, -- false: newer versions of all its facts were stored already
    is_lifecycle_event boolean not null, -- lifecycle gaps lie between these
    is_auto_renewing boolean,
    is_failing_to_renew boolean, -- the renewal info: in billing retry, in grace, or expired over billing
    is_revoked boolean not null, -- the transaction
    has_added_seats boolean not null, -- the transaction's period
    source text not null check (source in ('webhook', 'history', 'replay', 'upload')),
    notification_type text not null,
    subtype text,
    bundle_id text not null,
    original_transaction_id text,
    transaction_id text,
    -- Apple's id of the customer whose parent withdrew the consent (RESCIND_CONSENT): the withdrawal outlives its payload. Null: another
    -- type of notification, or the customer was erased.
    app_transaction_id text
);
-- By purchase in Apple's order: the history of a purchase, and the neighbours of a notification in it.
create index notification_by_purchase on notification (
    environment, original_transaction_id, signed_at, notification_uuid) where original_transaction_id is not null;
create index notification_by_time on notification (recorded_at);
-- Rare rows that every query about consents reads.
create index notification_rescinding_consent on notification (environment, bundle_id, app_transaction_id)
    where notification_type = 'RESCIND_CONSENT';
-- What the insight views read: few of all notifications.
create index notification_for_insight on notification (environment, bundle_id, notification_type, signed_at)
    where notification_type in ('DID_CHANGE_RENEWAL_STATUS', 'EXPIRED', 'PRICE_INCREASE');
-- The first notification of an app; fast also for an app without notifications.
create index notification_by_app on notification (bundle_id, environment, recorded_at);
-- The sweep of an erased account looks through what names no purchase.
create index notification_without_purchase on notification (environment, bundle_id, recorded_at)
    where original_transaction_id is null;
-- Notifications of version 1, which have no signature and change no state: almost none, and the operator is told of the latest.
create index notification_of_version1 on notification (recorded_at) where notification_type = 'V1';
-- Tokens of external purchases: few among all notifications, and listed across all months.
create index notification_of_external_token on notification (recorded_at)
    where notification_type = 'EXTERNAL_PURCHASE_TOKEN';

-- The payloads: large, and kept for some months. One partition for each month of recording, so that retention drops whole
-- partitions. A notification whose payload was dropped is still known: delivered again it has no effect.
create table notification_payload (
    recorded_at timestamptz not null, -- of the notification; decides the partition
    notification_uuid uuid not null,
    decoded json not null, -- not jsonb, which rejects some valid documents and does not keep the spelling
    signed_original bytea not null, -- see SignedOriginal; together with chains it restores every byte
    chains bytea[] not null, -- digests into certificate_chain
    primary key (notification_uuid, recorded_at)
) partition by range (recorded_at);
-- Compress in place: almost every row is read and written as a whole. Partitions inherit it.
alter table notification_payload alter column decoded set storage main;
alter table notification_payload alter column signed_original set storage main;
-- lz4 takes a fraction of pglz's time and a few more bytes, where the server was built with it. Each value names its
-- method, so servers of both kinds read all values.
do $$
begin
    alter table notification_payload
        alter column decoded set compression lz4, alter column signed_original set compression lz4;
exception when feature_not_supported then
    raise notice 'this server was built without lz4: payloads are compressed by pglz, which takes more time';
end;
$$;

-- The default partition, for payloads of a month without a partition: they are never rejected, and move when the month is
-- created.
create table notification_payload_default partition of notification_payload default with (toast_tuple_target = 1024);
create index notification_payload_default_by_time on notification_payload_default (recorded_at, notification_uuid);

-- Three functions below run as their owner, because partitions belong to the owner of the table. The migrator's search_path,
-- which they keep, has pg_temp at its end, and every name that is put together here carries its schema: a caller's temporary
-- table must never be taken for a table of this schema. Only the scheduler may execute them (grants.sql).

-- Creates the table of a month, in UTC, to be attached later; no query reads it until then. Returns its quoted name.
-- For several runs at once: a table that another run creates meanwhile is the one that is wanted.
create function payload_month_table(month date) returns text
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

-- Copies rows of the default partition into the table of their month: a number of rows after a place. Returns the place of the
-- last one; no row where none is left. Blocks no other transaction, and deletes nothing from the default partition.
create function copy_payload_rest(month date, after_at timestamptz, after_uuid uuid, portion bigint)
returns table (last_at timestamptz, last_uuid uuid)
language plpgsql security definer
set search_path from current
set timezone = 'UTC'
as $$
begin
    return query execute format(
        'with portion as materialized ('
        '    select * from notification_payload_default'
        '    where recorded_at >= $1 and recorded_at < $2 and (recorded_at, notification_uuid) > ($3, $4)'
        '    order by recorded_at, notification_uuid limit $5), '
        'copied as (insert into %s select * from portion on conflict do nothing) '
        'select recorded_at, notification_uuid from portion order by 1 desc, 2 desc limit 1',
        payload_month_table(month))
    using date_trunc('month', month)::timestamptz, (date_trunc('month', month) + interval '1 month')::timestamptz,
        after_at, after_uuid, portion;
end;
$$;

-- Creates the partitions of some months; rows of the default partition that were not copied before move into them.
--
-- Times out soon, so that the pipeline does not wait. Locks the default partition against new rows first: a row recorded
-- between the move and the attachment would make the attachment fail, so that during steady traffic the current month could
-- not be created. Rows copied before cost little then: the default partition is truncated, unless it holds other months.
--
-- Deletes from the tables of the months what was copied and is no longer in the default partition: an erasure deletes there alone,
-- because no query reads the table of a month before it is attached. Leaves out the months that another run created while this one
-- waited for the lock.
create function make_payload_months(months date[]) returns void
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

-- The monthly partitions, the oldest first, with the first moment of the next month and their size on disk.
create function payload_months() returns table (name text, ends_at timestamptz, bytes bigint)
language sql stable
set search_path from current
set timezone = 'UTC'
as $$
    select c.relname::text, (to_date(right(c.relname, 7), 'YYYY_MM') + interval '1 month')::timestamptz,
        pg_total_relation_size(c.oid)
    from pg_inherits i
    join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'notification_payload'::regclass and c.relname ~ '_\d{4}_\d{2}$'
    order by 2;
$$;

-- Drops a month of the list above. Refuses a month that ended less than 200 days ago: Apple's history reaches back 180 days,
-- and its notifications may have to be compared. A month that another run drops meanwhile is none of this one's.
create function drop_payload_month(month_name text) returns boolean
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

-- Other content under a uuid that the ledger holds: Apple assigns no uuid twice, so operators should look into each row.
create table conflicting_notification (
    recorded_at timestamptz not null,
    notification_uuid uuid not null,
    digest bytea not null, -- SHA-256 of decoded
    decoded json not null,
    signed_original bytea not null, -- as received
    primary key (notification_uuid, digest)
);
