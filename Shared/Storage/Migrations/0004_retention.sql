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

-- Makes the partition of a month, in UTC, unless it is there; what stands in the rest moves into it.
--
-- Runs as its owner, because partitions belong to the owner of the table, and gives up soon rather than make the line wait.
-- Keeps newcomers out of the rest first: what the line recorded between the move and the attachment would stand in the
-- way, and while batches keep coming the running month could not be made at all.
create function make_payload_month(month date) returns boolean
language plpgsql security definer
set search_path from current
set lock_timeout = '2s'
set timezone = 'UTC'
as $$
declare
    from_at constant timestamptz := date_trunc('month', month)::timestamptz;
    to_at constant timestamptz := (date_trunc('month', month) + interval '1 month')::timestamptz;
    partition constant text := 'notification_payload_' || to_char(from_at, 'YYYY_MM');
begin
    if to_regclass(partition) is not null then
        return false;
    end if;
    -- What the attachment will ask for anyway; asking for less now and for that later could only end in a deadlock.
    lock table notification_payload_rest in access exclusive mode;
    execute format(
        'create table %I (like notification_payload including all) with (toast_tuple_target = 1024)', partition);
    execute format(
        'with moved as (delete from notification_payload_rest where recorded_at >= $1 and recorded_at < $2 returning *) '
        'insert into %I select * from moved', partition) using from_at, to_at;
    execute format(
        'alter table notification_payload attach partition %I for values from (%L) to (%L)', partition, from_at, to_at);
    return true;
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
    execute format('drop table %I', month_name);
    return true;
end;
$$;

select make_payload_month(month::date)
from (select distinct date_trunc('month', recorded_at at time zone 'UTC') as month from notification) as months;
insert into notification_payload (recorded_at, notification_uuid, decoded, signed_original, chains)
select recorded_at, notification_uuid, decoded, signed_original, chains
from notification;
alter table notification drop column decoded, drop column signed_original, drop column chains;

-- Sightings are forgotten oldest first, in portions. The block index found them only while no block had been filled a second
-- time; in this one a batch is one entry at its right edge.
drop index sighting_seen_at;
create index sighting_seen_at on sighting (seen_at);
