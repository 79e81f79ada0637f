-- Who may do what: five roles without login, given to whatever users an installation has. Run by setup after the
-- migrations, every time; repeating it changes nothing. A role that is missing and may not be created is left out.
--
-- storekeeper_migrator owns everything and is setup's. storekeeper_worker is for deduplicator, state-updater and recovery,
-- storekeeper_scheduler for the scheduler and for what an operator puts in motion, storekeeper_reader for whoever only
-- looks. These see every table and change only what is theirs. storekeeper_api is the API service's, which strangers can
-- reach: it sees only what its answers are made of, and writes only its own tables.
do $$
declare
    worker_tables constant text[] := array[
        'consumer_position', 'seen_notification', 'certificate_chain', 'notification', 'notification_payload',
        'conflicting_notification', 'transaction', 'subscription', 'access_period', 'anomaly', 'lifecycle_gap', 'timeline', 'recovery_request', 'lease', 'rejected',
        'recovery_window', 'recovery_page', 'coverage', 'coverage_day', 'recovery_item', 'send_attempt', 'history_revision',
        'recovery_answer', 'postponed_request', 'account_claim', 'shared_account_notice', 'product'];
    scheduler_tables constant text[] := array[
        'coverage', 'coverage_day', 'recovery_window', 'recovery_page', 'canary', 'overdue_inquiry', 'ingest_heartbeat',
        'lease', 'seen_notification', 'operator_action', 'product', 'sharing_policy', 'chosen_account', 'api_key',
        'customer', 'manual_grant'];
    api_tables constant text[] := array[
        'api_key_use', 'api_idempotency', 'customer', 'manual_grant'];
    api_reads constant text[] := array[
        'schema_migration', 'api_key', 'api_cursor_secret', 'certificate_chain', 'notification', 'notification_payload',
        'transaction', 'subscription', 'access_period', 'anomaly', 'lifecycle_gap', 'timeline', 'account_claim', 'sharing_policy',
        'chosen_account', 'product', 'purchase_owner', 'owned_access', 'account_access', 'price_consent',
        'renewal_switch', 'subscription_end'];
    ours constant name := current_schema();
    role_name text;
    object record;
begin
    foreach role_name in array array[
        'storekeeper_migrator', 'storekeeper_worker', 'storekeeper_scheduler', 'storekeeper_reader', 'storekeeper_api']
    loop
        if to_regrole(role_name) is null then
            begin
                execute format('create role %I nologin', role_name);
            exception
                when insufficient_privilege then continue;
                when duplicate_object or unique_violation then null; -- another setup was faster
            end;
        end if;
        execute format('grant usage on schema %I to %I', ours, role_name);
        if role_name <> 'storekeeper_api' then
            execute format('grant select on all tables in schema %I to %I', ours, role_name);
        end if;
        for object in
            select p.oid::regprocedure as name, p.prosecdef
                and role_name in ('storekeeper_worker', 'storekeeper_reader', 'storekeeper_api') as is_denied
            from pg_proc p
            where p.pronamespace = ours::regnamespace and pg_has_role(p.proowner, 'usage')
                and not exists (
                    select from pg_depend d
                    where d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e')
        loop
            -- What runs with its owner's rights is the scheduler's, which makes and drops months.
            if object.is_denied then
                execute format('revoke execute on function %s from %I', object.name, role_name);
            else
                execute format('grant execute on function %s to %I', object.name, role_name);
            end if;
        end loop;
    end loop;

    -- No role needs tables of its own. A temporary one may bear the name of ours, and what PUBLIC may do, every role may:
    -- it can be taken from PUBLIC only. Where this user owns neither, the audit after this script names what is open.
    if (select pg_has_role(nspowner, 'usage') from pg_namespace where nspname = ours) then
        execute format('revoke create on schema %I from public', ours);
    end if;
    if (select pg_has_role(datdba, 'usage') from pg_database where datname = current_database()) then
        execute format('revoke temporary, create on database %I from public', current_database());
    end if;

    if to_regrole('storekeeper_worker') is not null then
        for object in select unnest(worker_tables) as name
        loop
            execute format('grant insert, update, delete on %I.%I to storekeeper_worker', ours, object.name);
        end loop;
    end if;
    if to_regrole('storekeeper_scheduler') is not null then
        for object in select unnest(scheduler_tables) as name
        loop
            execute format('grant insert, update, delete on %I.%I to storekeeper_scheduler', ours, object.name);
        end loop;
        -- For storekeeper offsets reset.
        execute format('grant delete on %I.consumer_position to storekeeper_scheduler', ours);
    end if;
    if to_regrole('storekeeper_api') is not null then
        for object in select unnest(api_tables) as name
        loop
            execute format('grant select, insert, update, delete on %I.%I to storekeeper_api', ours, object.name);
        end loop;
        -- What an account claims by an upload; claims are never taken back.
        execute format('grant insert, update on %I.account_claim to storekeeper_api', ours);
        for object in select unnest(api_reads) as name
        loop
            execute format('grant select on %I.%I to storekeeper_api', ours, object.name);
        end loop;
    end if;

    -- What auditors read stays as it was written: who did what, and that there was a day to be proven.
    foreach role_name in array array['storekeeper_worker', 'storekeeper_scheduler']
    loop
        continue when to_regrole(role_name) is null;
        execute format('revoke update, delete on %I.operator_action from %I', ours, role_name);
        execute format('revoke delete on %I.coverage_day from %I', ours, role_name);
    end loop;

    -- So that any user that is given the role can run the next setup. Needs one that may hand things over.
    if to_regrole('storekeeper_migrator') is not null and pg_has_role('storekeeper_migrator', 'member') then
        execute format('grant create on schema %I to storekeeper_migrator', ours);
        for object in
            select format('table %s', c.oid::regclass) as name
            from pg_class c
            where c.relnamespace = ours::regnamespace and c.relkind in ('r', 'p', 'v')
                and c.relowner <> to_regrole('storekeeper_migrator')
            union all
            select format('function %s', p.oid::regprocedure)
            from pg_proc p
            where p.pronamespace = ours::regnamespace and p.proowner <> to_regrole('storekeeper_migrator')
                and not exists (
                    select from pg_depend d
                    where d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e')
            union all
            select format('type %s', t.oid::regtype)
            from pg_type t
            where t.typnamespace = ours::regnamespace and t.typtype in ('e', 'd')
                and t.typowner <> to_regrole('storekeeper_migrator')
        loop
            execute format('alter %s owner to storekeeper_migrator', object.name);
        end loop;
    end if;
end
$$;
