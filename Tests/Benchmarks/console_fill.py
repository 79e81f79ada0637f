"""Fills the database of the console's benchmark: rows that state-updater and indexer would have written."""
import time

# Notification k of n is the j-th of purchase i; 7919 is prime, so purchases take turns in an order of their own. A fifth of the
# notifications is recorded in each 36 days of the last 180.
NUMBERED = """
create or replace function pg_temp.share(number bigint, purpose integer) returns integer language sql immutable as
    $$ select (hashint8(number * 16 + purpose) & 2147483647) % 100 $$;
create or replace function pg_temp.numbered(low bigint, high bigint, n bigint) returns table (
    k bigint, i bigint, j integer, uuid uuid, at timestamptz, environment store_environment, app text, purchase text,
    transaction text, account uuid, event text, subtype text, status smallint) language sql immutable as $$
select k, i, j, md5(k::text)::uuid,
    date_trunc('hour', now()) - interval '180 days' + (k::double precision / n) * interval '180 days',
    (case when pg_temp.share(i, 1) < 95 then 'Production' else 'Sandbox' end)::store_environment,
    case when pg_temp.share(i, 2) < 70 then 'com.example.app' when pg_temp.share(i, 2) < 90 then 'com.example.reader'
        else 'com.example.trainer' end,
    (2000000000000000 + i)::text, (3000000000000000 + k)::text, md5('account' || i)::uuid,
    event, case event
        when 'SUBSCRIBED' then 'INITIAL_BUY'
        when 'DID_CHANGE_RENEWAL_STATUS' then case when r % 5 = 0 then 'AUTO_RENEW_ENABLED' else 'AUTO_RENEW_DISABLED' end
        when 'EXPIRED' then case when r % 3 = 0 then 'BILLING_RETRY' else 'VOLUNTARY' end
        when 'PRICE_INCREASE' then case when r % 2 = 0 then 'PENDING' else 'ACCEPTED' end
        when 'DID_FAIL_TO_RENEW' then 'GRACE_PERIOD' end,
    (case event when 'EXPIRED' then 2 when 'DID_FAIL_TO_RENEW' then 4 when 'REFUND' then 5 else 1 end)::smallint
from (
    select k, (k * 7919) % (n / 5) as i, (k / (n / 5))::integer as j, pg_temp.share(k, 3) as r,
        case when k < n / 5 then 'SUBSCRIBED' when pg_temp.share(k, 4) < 60 then 'DID_RENEW'
            when pg_temp.share(k, 4) < 72 then 'DID_CHANGE_RENEWAL_STATUS'
            when pg_temp.share(k, 4) < 82 then 'DID_FAIL_TO_RENEW' when pg_temp.share(k, 4) < 91 then 'EXPIRED'
            when pg_temp.share(k, 4) < 94 then 'PRICE_INCREASE' when pg_temp.share(k, 4) < 97 then 'REFUND'
            else 'DID_CHANGE_RENEWAL_PREF' end as event
    from generate_series(low, high - 1) as k
) as drawn $$;
"""

NOTIFICATIONS = """
insert into notification (signed_at, received_at, recorded_at, kafka_offset, purchased_at, expires_at, notification_uuid,
    environment, kafka_partition, status, has_advanced, is_lifecycle_event, is_auto_renewing, is_failing_to_renew, is_revoked,
    has_added_seats, source, notification_type, subtype, bundle_id, original_transaction_id, transaction_id)
select at - interval '1 second', at, at, k, at - interval '1 day', at + interval '29 days', uuid, environment, k % 6, status, true,
    true, subtype is distinct from 'AUTO_RENEW_DISABLED', status = 4, status = 5, false, 'webhook', event, subtype, app, purchase,
    transaction
from pg_temp.numbered({low}, {high}, {n}) order by k;
"""

TRANSACTIONS = """
insert into transaction (signed_at, event_at, purchased_at, expires_at, quantity, price_milliunits, notification_uuid,
    app_account_token, environment, is_upgraded, transaction_id, original_transaction_id, bundle_id, product_id, product_type,
    subscription_group_id, ownership, currency, storefront, app_transaction_id)
select at, at, at - interval '1 day', at + interval '29 days', 1, 9990, uuid, account, environment, false, transaction,
    purchase, app, app || '.premium.monthly', 'Auto-Renewable Subscription', app, 'PURCHASED', 'USD', 'USA',
    (7000000000000000 + i)::text
from pg_temp.numbered({low}, {high}, {n}) order by k;
insert into timeline (occurred_at, applied_at, published_at, revision, status, access_until, notification_uuid, environment,
    has_access, is_auto_renewing, original_transaction_id, bundle_id, event, product_id, changes)
select at, at, at, j + 1, status, at + interval '29 days', uuid, environment, status in (1, 4), true, purchase, app,
    event || coalesce('/' || subtype, ''), app || '.premium.monthly',
    jsonb_build_array(
        jsonb_build_object('fact', 'expiresDate', 'from', at::text, 'to', (at + interval '29 days')::text),
        jsonb_build_object('fact', 'transactionId', 'to', transaction))
from pg_temp.numbered({low}, {high}, {n}) order by k;
"""

# The last notification of each purchase decides its state.
PURCHASES = """
insert into subscription (signed_at, status_event_at, transaction_event_at, renewal_event_at, revision, status,
    transaction_signed_at, purchased_at, expires_at, quantity, price_milliunits, renewal_signed_at, renewal_at,
    price_increase_status, notification_uuid, status_event_uuid, transaction_event_uuid, renewal_event_uuid, app_account_token,
    owner_account_token, environment, is_upgraded, is_auto_renewing, is_in_billing_retry, original_transaction_id, bundle_id,
    transaction_id, product_id, product_type, subscription_group_id, ownership, currency, storefront, app_transaction_id)
select at, at, at, at, 5, status, at, at - interval '1 day', at + interval '29 days', 1, 9990, at, at + interval '29 days',
    case when event = 'PRICE_INCREASE' then 0 end, uuid, uuid, uuid, uuid, account, account, environment, false,
    subtype is distinct from 'AUTO_RENEW_DISABLED', status = 4, purchase, app, transaction, app || '.premium.monthly',
    'Auto-Renewable Subscription', app, 'PURCHASED', 'USD', 'USA', (7000000000000000 + i)::text
from pg_temp.numbered({low}, {high}, {n}) order by k;
insert into access_period (period, notification_uuid, environment, original_transaction_id, bundle_id, product_id, reason,
    transaction_id)
select tstzrange(at - interval '1 day', at + interval '29 days'), uuid, environment, purchase, app, app || '.premium.monthly',
    'transaction', transaction
from pg_temp.numbered({low}, {high}, {n}) where status <> 5 order by k;
insert into account_claim (since, signed_at, app_account_token, environment, bundle_id, original_transaction_id,
    app_transaction_id, evidence)
select at, at, account, environment, app, purchase, (7000000000000000 + i)::text, 'apple'
from pg_temp.numbered({low}, {high}, {n}) order by k;
insert into purchase_account (decided_at, app_account_token, environment, may_use, bundle_id, original_transaction_id, because)
select at, account, environment, true, app, purchase, 'owner'
from pg_temp.numbered({low}, {high}, {n}) order by k;
"""

# A two-hundredth of all was rejected within 30 days; of each of them one in ten is settled.
OTHERS = """
insert into rejected (rejected_at, kafka_offset, received_at, notification_uuid, kafka_partition, cluster, topic, stage, reason,
    message, environment, bundle_id, source, build)
select now() - (k::double precision / ({n} / 200)) * interval '30 days', k / 6, now(), gen_random_uuid(), k % 6, 'filled',
    'notifications.rejected', case when pg_temp.share(k, 5) < 90 then 'verifier' else 'state-updater' end,
    (array['signature', 'chain-untrusted', 'algorithm', 'body', 'app-unknown', 'too-old'])[1 + pg_temp.share(k, 6) % 6],
    'a reason in words', 'Production', 'com.example.app', 'webhook', '0.' || pg_temp.share(k, 7) % 3
from generate_series(1, {n} / 200) as k;
insert into operator_action (acted_at, actor, operation, subject, reason)
select now() - (k::double precision / ({n} / 2000)) * interval '30 days', 'ann', 'dead-letters dismiss',
    'dead letter filled/' || (10 * k) % 6 || '/' || 10 * k / 6, 'known'
from generate_series(1, {n} / 2000) as k;
insert into coverage_day (planned_at, completed_at, listed, window_id, day, environment, bundle_id)
select now(), case when k % 30 <> 0 then now() end, 1000, gen_random_uuid(), current_date - k, environment, app
from generate_series(1, 180) as k
cross join unnest(array['com.example.app', 'com.example.reader', 'com.example.trainer']) as app
cross join unnest(enum_range(null::store_environment)) as environment
on conflict do nothing;
"""


def fill(postgres, n, say, chunk=250_000):
    started = time.monotonic()
    for low in range(0, n, chunk):
        high = min(n, low + chunk)
        statements = NOTIFICATIONS + (TRANSACTIONS if high > 3 * n // 5 else "")
        postgres.sql(NUMBERED + statements.format(low=low, high=high, n=n))
        say(f"{high:,} notifications after {time.monotonic() - started:.0f} s")
    for low in range(4 * n // 5, n, chunk):
        postgres.sql(NUMBERED + PURCHASES.format(low=low, high=min(n, low + chunk), n=n))
        say(f"purchases of {min(n, low + chunk):,} notifications after {time.monotonic() - started:.0f} s")
    postgres.sql(NUMBERED + OTHERS.format(n=n))
    postgres.sql("vacuum analyze")
    say(f"filled in {time.monotonic() - started:.0f} s")
