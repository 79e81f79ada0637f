-- The ledger: every proven notification, once, and what is derived from it row by row.

-- Header segments of signed data. All notifications of some months share one, and it is 85 % of each.
create table certificate_chain (
    digest bytea primary key check (length(digest) = 32), -- SHA-256 of header
    header bytea not null
);

-- What each notification was: small, and kept. What it said stands in notification_payload. Not partitioned: partitions by
-- time could not keep the uuid unique by themselves.
--
-- The columns from status on are what the search for lifecycle gaps and the questions about cancellations, prices and
-- reasons of expiry read: they outlive the payload.
create table notification (
    signed_at timestamptz, -- by Apple's clock; where Apple gave no date, that of the newest part, else the arrival
    received_at timestamptz not null,
    recorded_at timestamptz not null,
    app_apple_id bigint,
    log_offset bigint not null,
    purchased_at timestamptz, -- of the transaction
    expires_at timestamptz, -- of the transaction
    notification_uuid uuid primary key,
    environment store_environment not null,
    log_partition integer not null,
    content_conflicts integer not null default 0, -- how often the same uuid came with other content; the first stays
    status smallint, -- Apple's
    has_advanced boolean not null, -- false: something newer was known already, this is history only
    is_lifecycle_event boolean not null, -- moves a purchase from one state to the next; the gaps are between these
    is_auto_renewing boolean,
    is_in_billing_retry boolean,
    source text not null check (source in ('webhook', 'history', 'replay', 'upload')),
    notification_type text not null,
    subtype text,
    bundle_id text not null,
    original_transaction_id text,
    transaction_id text
);
-- By purchase in Apple's order: the life of a purchase, and the neighbours of a notification in it.
create index notification_by_purchase on notification (
    environment, original_transaction_id, signed_at, notification_uuid) where original_transaction_id is not null;
create index notification_by_time on notification (recorded_at);
-- Rare, and looked for with every question about consents.
create index notification_rescinding_consent on notification (environment, bundle_id)
    where notification_type = 'RESCIND_CONSENT';
-- Since when the ledger has anything of an app; also for one of which it has nothing.
create index notification_by_app on notification (environment, bundle_id, recorded_at);

-- What notifications said: large, and kept for some months. A partition for each month of recording, so that retention drops
-- whole partitions and never searches. A notification whose payload is gone is still known: coming again it has no effect.
create table notification_payload (
    recorded_at timestamptz not null, -- of the notification; names the partition
    notification_uuid uuid not null,
    decoded json not null, -- not jsonb, which refuses some valid documents and forgets the original spelling
    signed_original bytea not null, -- see SignedOriginal; together with chains it restores every byte
    chains bytea[] not null, -- digests into certificate_chain
    primary key (notification_uuid, recorded_at)
) partition by range (recorded_at);
-- Compress in place: almost every row is read and written as a whole. Partitions inherit it.
alter table notification_payload alter column decoded set storage main;
alter table notification_payload alter column signed_original set storage main;
-- By the method that costs a fraction of the standard one's time and a few bytes more, where the server was built with it;
-- each value says by itself how it is compressed, so servers of both kinds read what the other wrote.
do $$
begin
    alter table notification_payload
        alter column decoded set compression lz4, alter column signed_original set compression lz4;
exception when feature_not_supported then
    raise notice 'this server was built without lz4: payloads are compressed by pglz, which takes more time';
end;
$$;

-- For what comes in a month that nobody has made a partition for: it is never refused, and moves when the month is made.
create table notification_payload_rest partition of notification_payload default with (toast_tuple_target = 1024);
create index notification_payload_rest_by_time on notification_payload_rest (recorded_at, notification_uuid);

-- Three functions below run as their owner, because partitions belong to the owner of the table. The migrator's search_path,
-- which they keep, has pg_temp at its end, and every name that is put together here carries its schema: a caller's temporary
-- table must never be taken for one of ours. Only the scheduler may execute them (grants.sql).

-- The table of a month, in UTC, as it will be attached; until then nobody reads it. Its name with its schema, quoted.
create function payload_month_table(month date) returns text
language plpgsql
set search_path from current
set timezone = 'UTC'
as $$
declare
    partition constant text := format('%I.%I', current_schema(), 'notification_payload_' || to_char(month, 'YYYY_MM'));
begin
    if to_regclass(partition) is null then
        -- The constraint spares the attachment from reading the table again.
        execute format(
            'create table %s (like notification_payload including all, constraint is_of_month check ('
            'recorded_at >= %L and recorded_at < %L)) with (toast_tuple_target = 1024)',
            partition, date_trunc('month', month)::timestamptz,
            (date_trunc('month', month) + interval '1 month')::timestamptz);
    end if;
    return partition;
end;
$$;

-- Copies what stands in the rest into the table of its month: so many rows behind a place, and tells the place of the last;
-- no row where there is none left. Keeps nobody waiting, and nothing is gone from the rest.
create function copy_payload_rest(month date, after_at timestamptz, after_uuid uuid, portion bigint)
returns table (last_at timestamptz, last_uuid uuid)
language plpgsql security definer
set search_path from current
set timezone = 'UTC'
as $$
begin
    return query execute format(
        'with portion as materialized ('
        '    select * from notification_payload_rest'
        '    where recorded_at >= $1 and recorded_at < $2 and (recorded_at, notification_uuid) > ($3, $4)'
        '    order by recorded_at, notification_uuid limit $5), '
        'copied as (insert into %s select * from portion on conflict do nothing) '
        'select recorded_at, notification_uuid from portion order by 1 desc, 2 desc limit 1',
        payload_month_table(month))
    using date_trunc('month', month)::timestamptz, (date_trunc('month', month) + interval '1 month')::timestamptz,
        after_at, after_uuid, portion;
end;
$$;

-- Makes the partitions of some months; what stands in the rest and was not copied before moves into them.
--
-- Gives up soon rather than make the pipeline wait. Keeps new rows out of the rest first: what the pipeline recorded between
-- the move and the attachment would stand in the way, and while batches keep coming the running month could not be made at all. What was copied costs little then: the rest
-- is emptied at once, unless it holds other months.
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
    -- What the attachment will ask for anyway; asking for less now and for that later could only end in a deadlock.
    lock table notification_payload_rest in access exclusive mode;
    foreach month in array months
    loop
        execute format(
            'insert into %1$s select rest.* from notification_payload_rest rest '
            'where recorded_at >= $1 and recorded_at < $2 and not exists ('
            '    select from %1$s copied'
            '    where copied.notification_uuid = rest.notification_uuid and copied.recorded_at = rest.recorded_at)',
            payload_month_table(month))
        using month::timestamptz, (month + interval '1 month')::timestamptz;
    end loop;
    if exists (
        select from notification_payload_rest
        where date_trunc('month', recorded_at)::date <> all (months))
    then
        delete from notification_payload_rest where date_trunc('month', recorded_at)::date = any (months);
    else
        truncate notification_payload_rest;
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

-- The months there are, the oldest first, with the moment after their last and their size on disk.
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

-- Drops a month of the list above. Refuses one that is not over for 200 days: Apple's history reaches back 180, and what is
-- in it may have to be compared.
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
end;
$$;

-- What else came under a uuid that the ledger has: Apple gives no uuid twice, so each of these wants explaining.
create table conflicting_notification (
    recorded_at timestamptz not null,
    notification_uuid uuid not null,
    digest bytea not null, -- SHA-256 of decoded
    decoded json not null,
    signed_original bytea not null, -- as it came
    primary key (notification_uuid, digest)
);
