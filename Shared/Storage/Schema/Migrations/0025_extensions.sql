-- What Apple extended counts by the length that it had before, which the ledger knows and the newest version of the transaction does not.

-- An earlier version that arrives after the extension changes no transaction and no access, but the figures of its purchase.
create function queue_extended() returns trigger
language plpgsql security definer
set search_path from current
as $$
begin
    insert into insight_change (environment, original_transaction_id)
    select distinct changed.environment, changed.original_transaction_id
    from changed
    cross join lateral (
        select
        from transaction known
        where known.environment = changed.environment and known.transaction_id = changed.transaction_id
            and known.expires_at > changed.expires_at
        offset 0
    ) as extended
    where changed.original_transaction_id is not null
    on conflict do nothing;
    return null;
end;
$$;
create trigger queue_extended after insert on notification
    referencing new table as changed for each statement execute function queue_extended();

-- Those that were extended so far.
insert into insight_change (environment, original_transaction_id)
select distinct environment, original_transaction_id
from notification
where notification_type = 'RENEWAL_EXTENDED' and original_transaction_id is not null
on conflict do nothing;
