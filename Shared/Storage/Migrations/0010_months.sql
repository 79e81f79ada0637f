-- Making a month keeps newcomers out of the rest first. Without that, what the line recorded between the move and the
-- attachment stood in the way, and while batches kept coming the running month could not be made at all.

create or replace function make_payload_month(month date) returns boolean
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
