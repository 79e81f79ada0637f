-- The ledger in two: what a notification was, small and kept, and what it said, large and kept for so long. What was said
-- stands in a partition for each month of its recording, so that retention drops whole partitions and never searches.
-- The uuid stays the key of `notification`, which no partition by time could keep unique by itself: a notification whose
-- words are gone is still known, and coming again it still has no effect.
--
-- A release before this one reads the columns that are dropped here: stop the state-updater for this migration.

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
-- Gives up soon rather than make the line wait. Keeps newcomers out of the rest first: what the line recorded between the move and the attachment would stand in the
-- way, and while batches keep coming the running month could not be made at all. What was copied costs little then: the rest
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

select make_payload_months(array_agg(month))
from (select distinct date_trunc('month', recorded_at at time zone 'UTC')::date as month from notification) as recorded
having count(*) > 0;
insert into notification_payload (recorded_at, notification_uuid, decoded, signed_original, chains)
select recorded_at, notification_uuid, decoded, signed_original, chains
from notification;
alter table notification drop column decoded, drop column signed_original, drop column chains;

-- Sightings are forgotten oldest first, in portions. The block index found them only while no block had been filled a second
-- time; in this one a batch is one entry at its right edge.
drop index sighting_seen_at;
create index sighting_seen_at on sighting (seen_at);
