-- Privileges: roles without login, to be granted to the users of an installation. setup runs this script after the migrations,
-- every time; it is idempotent, and takes away what a role has beyond it. A role that is missing and may not be created is left
-- out. Storage.docc/Privileges.md lists the result: role, table, privilege, columns.
--
-- storekeeper_migrator owns everything and is setup's. storekeeper_deduplicator, storekeeper_state_updater, storekeeper_recovery
-- and storekeeper_scheduler are for the services of those names, storekeeper_operator for operators' commands, storekeeper_reader
-- for users who only read. These read every table but secrets, and write only their own. Who writes API keys and sign-in links can
-- act as any backend and any person, so that is the operator's role alone.
-- storekeeper_console is for the console: it reads nearly everything, writes its own tables, grants, and requests that other
-- services carry out, never the ledger or the state, but that it may erase an account.
-- Who changes what decides who may use a purchase writes purchase_account, too: uploads, operators' choices, erasures.
-- storekeeper_webhooks is for the service that sends webhooks: it reads what a message about a change is made of, by a function
-- what Apple signed and is to be relayed, and writes its own tables.
-- storekeeper_analyst is for people and dashboards that look at figures: it sees no account and no payload.
-- storekeeper_api is for the API service, which is reachable from the internet: it reads only the tables of its answers and
-- writes only its own tables; it sets durations of products by a function. No service deletes a row of the ledger or the
-- timeline, or changes what a row of the ledger says.
do $$
declare
    role_names constant text[] := array[
        'storekeeper_migrator', 'storekeeper_deduplicator', 'storekeeper_state_updater', 'storekeeper_recovery',
        'storekeeper_scheduler', 'storekeeper_webhooks', 'storekeeper_operator', 'storekeeper_reader', 'storekeeper_api',
        'storekeeper_console', 'storekeeper_analyst'];
    -- Digests of keys, links and cookies, what signs cursors and forms, and answers to backends: for the one service that needs it.
    secrets constant text[] := array[
        'api_key', 'api_cursor_secret', 'api_idempotency', 'console_login', 'console_session', 'console_secret'];
    api_reads constant text[] := array[
        'schema_migration', 'api_key', 'api_cursor_secret', 'certificate_chain', 'notification', 'notification_payload',
        'transaction', 'subscription', 'access_period', 'access', 'anomaly', 'lifecycle_gap', 'timeline', 'account_claim', 'sharing_policy',
        'chosen_account', 'purchase_transfer', 'product', 'recovery_request', 'recovery_answer', 'purchase_owner', 'purchase_account', 'account_version', 'account_access', 'price_consent',
        'renewal_switch', 'subscription_end', 'erased_account', 'webhook_endpoint', 'webhook_health', 'webhook_queue', 'webhook_delivery',
        'refund_request', 'refund_answer', 'refund_policy', 'usage_report', 'erased_purchase',
        'credit', 'current_credit', 'account_balance', 'offer_rule', 'offer_signature'];
    -- Everything but the keys and stored answers of the API, and what is between services only.
    console_reads constant text[] := array_remove(array_remove(api_reads, 'api_key'), 'api_cursor_secret') || array[
        'consumer_position', 'rejected', 'ingest_heartbeat', 'operator_action', 'conflicting_notification', 'recovery_request',
        'coverage', 'coverage_day', 'recovery_window', 'recovery_page', 'recovery_item', 'canary', 'send_attempt',
        'send_attempt_result', 'recovery_answer', 'postponed_request', 'customer', 'manual_grant', 'cancellation', 'loyalty',
        'entitlement_definition', 'account_app', 'customer_consent', 'purchase_transfer', 'shared_account_notice',
        'console_secret', 'webhook_endpoint', 'webhook_health', 'webhook_queue', 'webhook_delivery', 'webhook_attempt',
        'comparison', 'comparison_difference'];
    -- What a webhook is made of, and where it goes.
    webhooks_reads constant text[] := array[
        'schema_migration', 'consumer_position', 'timeline', 'notification', 'transaction', 'subscription', 'purchase_account',
        'webhook_endpoint', 'webhook_health', 'webhook_queue', 'webhook_delivery', 'webhook_attempt', 'relay_arrival'];
    -- Sums, movements of purchases, and which days are complete: no account and no payload.
    figures constant text[] := array[
        'schema_migration', 'mrr_movement', 'insight_day', 'insight_month', 'insight_converted', 'insight_reported',
        'insight_correction', 'insight_position', 'coverage_day', 'exchange_rate', 'tax_share', 'small_business'];
    ours constant name := current_schema();
    role_name text;
    object record;
begin
    foreach role_name in array role_names
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
        if role_name <> 'storekeeper_migrator' then
            execute format('revoke all on all tables in schema %I from %I', ours, role_name);
        end if;
        -- Months of payloads are read through their table.
        for object in
            select c.relname as name
            from pg_class c
            where c.relnamespace = ours::regnamespace and c.relkind in ('r', 'p', 'v')
                and (not c.relispartition or c.relname = 'notification_payload_default')
                and role_name not in ('storekeeper_api', 'storekeeper_console', 'storekeeper_webhooks', 'storekeeper_analyst')
                and (role_name = 'storekeeper_migrator' or c.relname <> all (secrets))
        loop
            execute format('grant select on %I.%I to %I', ours, object.name, role_name);
        end loop;
        for object in
            select p.oid::regprocedure as name,
                p.prosecdef and role_name <> 'storekeeper_migrator' and not (
                    case
                        when p.proname in ('make_payload_months', 'copy_payload_rest', 'drop_payload_month')
                            then role_name in ('storekeeper_scheduler', 'storekeeper_operator')
                        when p.proname in ('is_account_known', 'lock_erasures', 'erase_account', 'sweep_unswept_account')
                            then role_name in ('storekeeper_operator', 'storekeeper_api', 'storekeeper_console')
                        -- They name who holds a lock, and who writes.
                        when p.proname in ('blocked_sessions', 'oldest_writer') then role_name not in ('storekeeper_api', 'storekeeper_analyst')
                        when p.proname = 'set_product_durations'
                            then role_name in ('storekeeper_operator', 'storekeeper_api')
                        when p.proname in ('make_webhook_days', 'drop_webhook_days', 'relayed_originals')
                            then role_name = 'storekeeper_webhooks'
                        else false
                    end) as is_denied
            from pg_proc p
            where p.pronamespace = ours::regnamespace and pg_has_role(p.proowner, 'usage')
                and not exists (
                    select from pg_depend d
                    where d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e')
        loop
            -- Of the security definer functions each role may execute those of its work.
            if object.is_denied then
                execute format('revoke execute on function %s from %I', object.name, role_name);
            else
                execute format('grant execute on function %s to %I', object.name, role_name);
            end if;
        end loop;
    end loop;

    -- For blocked_sessions(), which names who holds a lock, and oldest_writer(). Without it they name the session and neither its
    -- statement nor its times.
    begin
        if not pg_has_role('storekeeper_migrator', 'pg_read_all_stats', 'member') then
            grant pg_read_all_stats to storekeeper_migrator;
        end if;
    exception
        when insufficient_privilege or undefined_object then null;
    end;

    -- No role needs temporary tables, which could have the name of a table of this schema. Every role has the privileges of
    -- PUBLIC, so they are revoked from PUBLIC. Where this user may not, the audit after this script names what is open.
    if (select pg_has_role(nspowner, 'usage') from pg_namespace where nspname = ours) then
        execute format('revoke create on schema %I from public', ours);
    end if;
    if (select pg_has_role(datdba, 'usage') from pg_database where datname = current_database()) then
        execute format('revoke temporary, create on database %I from public', current_database());
    end if;

    -- A large object has no table and no limit, and every user may create one. Only a superuser may take that away; managed
    -- servers keep it.
    for object in
        select p.oid::regprocedure as name
        from pg_proc p
        where p.pronamespace = 'pg_catalog'::regnamespace and p.proname in ('lo_creat', 'lo_create', 'lo_from_bytea')
            and pg_has_role(p.proowner, 'usage')
    loop
        execute format('revoke execute on function %s from public', object.name);
    end loop;

    for object in
        select given.role_name, privileges, unnest(tables) as name
        from (values
            ('storekeeper_deduplicator', 'insert, update', array['seen_notification']),
            ('storekeeper_state_updater', 'insert', array[
                'certificate_chain', 'notification_payload', 'conflicting_notification']),
            ('storekeeper_state_updater', 'insert, update (content_conflicts)', array['notification']),
            ('storekeeper_state_updater', 'insert, update (published_at, traceparent, changes)', array['timeline']),
            ('storekeeper_state_updater', 'insert, update', array[
                'consumer_position', 'transaction', 'subscription', 'anomaly', 'account_claim', 'shared_account_notice',
                'account_version', 'refund_request']),
            ('storekeeper_state_updater', 'update (announced_at)', array['purchase_transfer']),
            ('storekeeper_state_updater', 'update (is_entitled)', array['account_app']),
            ('storekeeper_state_updater', 'update (is_applied, applied_purchase)', array['sharing_policy']),
            ('storekeeper_state_updater', 'insert, update, delete', array[
                'access_period', 'lifecycle_gap', 'recovery_request', 'lease', 'purchase_account']),
            -- The progress of recalculating access; operators and the API set the duration itself.
            ('storekeeper_state_updater',
                'update (is_duration_applied, recalculated_environment, recalculated_purchase)', array['product']),
            ('storekeeper_recovery', 'insert, update, delete', array[
                'rejected', 'lease', 'recovery_window', 'recovery_page', 'coverage', 'coverage_day', 'recovery_item',
                'send_attempt', 'history_revision', 'recovery_answer', 'postponed_request']),
            ('storekeeper_scheduler', 'insert, update, delete', array[
                'coverage', 'coverage_day', 'recovery_window', 'recovery_page', 'canary', 'overdue_inquiry',
                'ingest_heartbeat', 'lease']),
            ('storekeeper_scheduler', 'delete', array['seen_notification', 'usage_report']),
            ('storekeeper_reader', 'select (created_at, expires_at, revoked_at, id, environment, name, scopes, bundle_ids)',
                array['api_key']),
            ('storekeeper_api', 'select, insert, update, delete', array[
                'api_key_use', 'api_idempotency', 'purchase_account']),
            ('storekeeper_api', 'select, insert, delete', array['customer']),
            -- Access that was granted is kept: it ends by its column.
            ('storekeeper_api', 'select, insert, update (revoked_at)', array['manual_grant']),
            ('storekeeper_api', 'select, insert, update', array['apple_request_limit', 'account_version']),
            ('storekeeper_console', 'select, insert, update', array['apple_request_limit', 'account_version']),
            ('storekeeper_recovery', 'insert, update', array['apple_request_limit']),
            ('storekeeper_scheduler', 'insert, update', array['apple_request_limit']),
            ('storekeeper_operator', 'insert, update', array['apple_request_limit', 'account_version']),
            -- Claims of accounts by an upload; claims are never deleted.
            ('storekeeper_api', 'insert, update', array['account_claim']),
            -- Refresh requests, and the audit log of API keys.
            ('storekeeper_api', 'insert', array['recovery_request', 'operator_action']),
            -- Versions and consents are only added.
            ('storekeeper_api', 'select, insert', array[
                'entitlement_definition', 'account_app', 'customer_consent', 'purchase_transfer']),
            ('storekeeper_api', 'update (evidence, recorded_at, preordered_at, is_entitled)', array['account_app']),
            ('storekeeper_api', 'select', api_reads),
            ('storekeeper_console', 'select', console_reads),
            ('storekeeper_console', 'select, insert, update, delete', array[
                'console_login', 'console_session', 'console_selection']),
            ('storekeeper_console', 'insert', array['operator_action', 'recovery_window', 'recovery_request']),
            ('storekeeper_console', 'insert, update (revoked_at)', array['manual_grant']),
            ('storekeeper_console', 'insert, update, delete', array['chosen_account', 'purchase_account']),
            ('storekeeper_console', 'update (is_entitled)', array['account_app']),
            ('storekeeper_operator', 'insert', array['operator_action', 'recovery_window']),
            ('storekeeper_operator', 'insert, update, delete', array[
                'product', 'sharing_policy', 'chosen_account', 'customer', 'purchase_account']),
            ('storekeeper_operator', 'insert, update (revoked_at)', array['manual_grant', 'api_key']),
            ('storekeeper_operator', 'select (created_at, expires_at, revoked_at, id, environment, name, scopes, bundle_ids)',
                array['api_key']),
            ('storekeeper_operator', 'update (is_entitled)', array['account_app']),
            -- For storekeeper console login and console end.
            ('storekeeper_operator',
                'insert, select (created_at, expires_at, used_at, name, role), update (used_at)', array['console_login']),
            ('storekeeper_operator',
                'select (created_at, expires_at, ended_at, name, role), update (ended_at)', array['console_session']),
            -- For storekeeper import; claims are never deleted.
            ('storekeeper_operator', 'insert, update', array['account_claim']),
            ('storekeeper_webhooks', 'select', webhooks_reads),
            ('storekeeper_webhooks', 'insert, update', array['consumer_position', 'webhook_delivery']),
            ('storekeeper_webhooks', 'insert', array['webhook_attempt']),
            ('storekeeper_webhooks', 'update', array['webhook_health']),
            ('storekeeper_webhooks', 'update (state)', array['webhook_endpoint']),
            ('storekeeper_webhooks', 'insert, update, delete', array['webhook_queue']),
            ('storekeeper_webhooks', 'delete', array['relay_arrival']),
            -- Tests and replays that backends ask for.
            ('storekeeper_api', 'update (test_requested_at, next_probe_at)', array['webhook_health']),
            ('storekeeper_api', 'insert', array['webhook_delivery']),
            ('storekeeper_api', 'insert, update (since, until)', array['webhook_queue']),
            -- Refund requests: the scheduler decides and sends; people and backends answer by hand and wake the scheduler.
            ('storekeeper_scheduler', 'update (next_at)', array['refund_request']),
            ('storekeeper_scheduler', 'insert, update (attempts, sent_at, failed_at, failed_with)', array['refund_answer']),
            ('storekeeper_api', 'update (next_at)', array['refund_request']),
            ('storekeeper_api', 'insert', array[
                'refund_answer', 'refund_policy', 'usage_report', 'credit', 'offer_signature']),
            ('storekeeper_console', 'update (next_at)', array['refund_request']),
            ('storekeeper_console', 'insert', array['refund_answer']),
            -- Test, pause, resume, rotate and replay; endpoints are created and removed by command.
            ('storekeeper_console', 'update (state, generation, rotated_at, starts_at)', array['webhook_endpoint']),
            ('storekeeper_console',
                'update (failures, failing_since, paused_until, disabled_at, disabled_because, next_probe_at, test_requested_at)',
                array['webhook_health']),
            ('storekeeper_console', 'insert, update (next_attempt_at, since, until), delete', array['webhook_queue']),
            ('storekeeper_console', 'insert, update (state, finished_at)', array['webhook_delivery']),
            ('storekeeper_operator', 'update (next_at)', array['refund_request']),
            ('storekeeper_operator', 'insert', array['refund_answer', 'refund_policy', 'offer_rule']),
            -- Figures: triggers queue the changes of purchases, and the scheduler computes what they add up to.
            ('storekeeper_scheduler', 'delete', array['insight_change']),
            ('storekeeper_scheduler', 'insert, update', array['insight_purchase']),
            ('storekeeper_scheduler', 'insert, delete', array['mrr_movement']),
            ('storekeeper_scheduler', 'insert, update, delete', array['insight_day']),
            ('storekeeper_scheduler', 'delete', array['insight_month', 'insight_converted']),
            ('storekeeper_scheduler', 'insert', array['insight_reported', 'insight_correction']),
            ('storekeeper_scheduler', 'update (as_of, checked_at, differences, turn)', array['insight_position']),
            ('storekeeper_analyst', 'select', figures || array['insight_purchase']),
            ('storekeeper_api', 'select', figures || array['insight_purchase']),
            ('storekeeper_console', 'select', figures || array['insight_change', 'insight_purchase']),
            -- For storekeeper insight rebuild.
            ('storekeeper_operator', 'insert', array['insight_change']),
            ('storekeeper_operator', 'insert, delete', array['insight_day']),
            ('storekeeper_operator', 'delete', array['insight_month', 'insight_converted']),
            ('storekeeper_operator', 'update (as_of)', array['insight_position']),
            -- For storekeeper insight rates, taxes and small-business.
            ('storekeeper_operator', 'insert, update', array['exchange_rate', 'tax_share', 'small_business']),
            -- For storekeeper compare, and the retention of its results.
            ('storekeeper_operator', 'insert, update (finished_at, counts), delete', array['comparison']),
            ('storekeeper_operator', 'insert', array['comparison_difference']),
            ('storekeeper_scheduler', 'delete', array['comparison', 'comparison_difference']),
            -- For storekeeper webhooks.
            ('storekeeper_operator', 'insert, update, delete', array['webhook_endpoint']),
            ('storekeeper_operator', 'insert, update', array['webhook_health']),
            ('storekeeper_operator', 'insert, update, delete', array['webhook_queue']),
            ('storekeeper_operator', 'insert, update (state, finished_at)', array['webhook_delivery']),
            -- For storekeeper offsets begin and offsets reset, and for storekeeper retention --run.
            ('storekeeper_operator', 'insert', array['consumer_position']),
            ('storekeeper_operator', 'delete', array['consumer_position', 'seen_notification'])
        ) as given (role_name, privileges, tables)
        where to_regrole(given.role_name) is not null
    loop
        execute format('grant %s on %I.%I to %I', object.privileges, ours, object.name, object.role_name);
    end loop;
    foreach role_name in array array['storekeeper_operator', 'storekeeper_api', 'storekeeper_console']
    loop
        continue when to_regrole(role_name) is null;
        execute format('grant usage on sequence %1$I.webhook_replay_number, %1$I.webhook_relay_number to %2$I', ours, role_name);
    end loop;

    -- The audit log and the days of coverage are not changed or deleted.
    foreach role_name in array role_names
    loop
        continue when to_regrole(role_name) is null or role_name = 'storekeeper_migrator';
        execute format('revoke update, delete on %I.operator_action from %I', ours, role_name);
        execute format('revoke delete on %I.coverage_day from %I', ours, role_name);
    end loop;

    -- Changes the owner of all objects, so that any user with the role can run the next setup. Needs a user that may do so.
    if to_regrole('storekeeper_migrator') is not null and pg_has_role('storekeeper_migrator', 'member') then
        execute format('grant create on schema %I to storekeeper_migrator', ours);
        for object in
            select format('table %s', c.oid::regclass) as name
            from pg_class c
            where c.relnamespace = ours::regnamespace and c.relkind in ('r', 'p', 'v')
                and c.relowner <> to_regrole('storekeeper_migrator')
            union all
            -- Those of identity columns have the owner of their table.
            select format('sequence %s', c.oid::regclass)
            from pg_class c
            where c.relnamespace = ours::regnamespace and c.relkind = 'S'
                and c.relowner <> to_regrole('storekeeper_migrator')
                and not exists (
                    select from pg_depend d
                    where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype in ('a', 'i'))
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
