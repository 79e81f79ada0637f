-- Subscriptions from :first to :last, each of an account of its own, as the state-updater would have written them.
set synchronous_commit = off;
create temporary table given as
select number, '2' || lpad(number::text, 15, '0') as purchase,
    ('00000000-0000-4000-8000-' || lpad(to_hex(number), 12, '0'))::uuid as account,
    ('10000000-0000-4000-8000-' || lpad(to_hex(number), 12, '0'))::uuid as notification,
    date_trunc('milliseconds', now() - (number % 28) * interval '1 day') as bought
from generate_series(:first, :last) as number;
insert into notification (
    signed_at, received_at, recorded_at, kafka_offset, purchased_at, expires_at, notification_uuid, environment, kafka_partition,
    status, has_advanced, is_lifecycle_event, is_auto_renewing, is_failing_to_renew, is_revoked, has_added_seats, source,
    notification_type, subtype, bundle_id, original_transaction_id, transaction_id)
select bought, bought, bought, number, bought, bought + interval '30 days', notification, 'Sandbox', number % 64, 1, true, true,
    true, false, false, false, 'webhook', 'SUBSCRIBED', 'INITIAL_BUY', 'com.example.app', purchase, purchase
from given;
insert into transaction (
    signed_at, event_at, purchased_at, originally_purchased_at, expires_at, quantity, notification_uuid, app_account_token,
    environment, is_upgraded, transaction_id, original_transaction_id, bundle_id, product_id, product_type,
    subscription_group_id, ownership)
select bought, bought, bought, bought, bought + interval '30 days', 1, notification, account, 'Sandbox', false, purchase, purchase,
    'com.example.app', 'pro.monthly', 'Auto-Renewable Subscription', '1', 'PURCHASED'
from given;
insert into subscription (
    signed_at, status_event_at, transaction_event_at, renewal_event_at, revision, status, transaction_signed_at,
    purchased_at, originally_purchased_at, expires_at, quantity, renewal_signed_at, renewal_at, notification_uuid,
    status_event_uuid, transaction_event_uuid, renewal_event_uuid, app_account_token, owner_account_token, environment,
    is_upgraded, is_auto_renewing, is_in_billing_retry, original_transaction_id, bundle_id, transaction_id, product_id,
    product_type, subscription_group_id, ownership)
select bought, bought, bought, bought, 1, 1, bought, bought, bought, bought + interval '30 days', 1, bought,
    bought + interval '30 days', notification, notification, notification, notification, account, account, 'Sandbox', false,
    true, false, purchase, 'com.example.app', purchase, 'pro.monthly', 'Auto-Renewable Subscription', '1', 'PURCHASED'
from given;
insert into access_period (
    period, notification_uuid, environment, original_transaction_id, bundle_id, product_id, reason, transaction_id)
select tstzrange(bought, bought + interval '30 days'), notification, 'Sandbox', purchase, 'com.example.app', 'pro.monthly',
    'transaction', purchase
from given;
insert into purchase_account (
    decided_at, app_account_token, environment, may_use, bundle_id, original_transaction_id, because)
select bought, account, 'Sandbox', true, 'com.example.app', purchase, 'owner'
from given;
insert into account_version (version, app_account_token, environment)
select number + 1, account, 'Sandbox'
from given;
insert into account_claim (
    since, signed_at, app_account_token, environment, bundle_id, original_transaction_id, evidence)
select bought, bought, account, 'Sandbox', 'com.example.app', purchase, 'apple'
from given;
