-- Purchases from :first to :last with all their charges over three years, as the state-updater would have written them: seven of ten are
-- monthly, each fifth begins with a free trial, and one charge of fifty is refunded.
set synchronous_commit = off;
create function pg_temp.hash(number bigint, purpose integer) returns bigint language sql immutable as
    $$ select hashint8(number * 64 + purpose)::bigint & 2147483647 $$;
create temporary table given as
select purchase, plan, store, bundle_id, '3' || lpad((number * 36 + place)::text, 15, '0') as transaction, place, is_trial, bought,
    case when is_trial then bought + interval '7 days' else bought + length end as ends,
    case when is_trial then 0 else price end as price, pg_temp.hash(number, 40 + place::integer) % 50 = 0 and not is_trial as is_refunded
from (
    select number, '2' || lpad(number::text, 15, '0') as purchase, plan, pg_temp.hash(number, 3) % 20 as store,
        case when pg_temp.hash(number, 4) % 5 = 0 then 'com.example.reader' else 'com.example.app' end as bundle_id,
        case when plan < 4 then interval '30 days' else interval '360 days' end as length,
        case when plan < 4 then 4990 + 1000 * plan else 49900 + 10000 * plan end as price,
        pg_temp.hash(number, 5) % 5 = 0 as has_trial,
        case when plan < 4 then 1 + pg_temp.hash(number, 6) % 5 else 1 + pg_temp.hash(number, 6) % 2 end as charges,
        date_trunc('second', now()) - pg_temp.hash(number, 7) % 94608000 * interval '1 second' as begun
    from generate_series(:first, :last) as number
    cross join lateral (select case when pg_temp.hash(number, 1) % 10 < 7 then pg_temp.hash(number, 2) % 4 else 4 + pg_temp.hash(number, 2) % 2 end as plan) as chosen
) as purchase
cross join lateral generate_series(case when has_trial then 0 else 1 end, charges) as place
cross join lateral (
    select place = 0 as is_trial,
        begun + case when place = 0 then interval '0' else (place - 1) * length + case when has_trial then interval '7 days' else interval '0' end end
            as bought
) as term
where bought < now();
insert into transaction (
    signed_at, event_at, purchased_at, originally_purchased_at, expires_at, revoked_at, quantity, price_milliunits, notification_uuid,
    environment, is_upgraded, transaction_id, original_transaction_id, bundle_id, product_id, product_type, subscription_group_id,
    ownership, offer_type, offer_period, offer_discount_type, currency, storefront)
select bought, bought, bought, bought, ends, case when is_refunded then bought + interval '3 days' end, 1, price, gen_random_uuid(),
    'Production', false, transaction, purchase, bundle_id, bundle_id || '.' || plan, 'Auto-Renewable Subscription', '1', 'PURCHASED',
    case when is_trial then 1 end, case when is_trial then 'P1W' end, case when is_trial then 'FREE_TRIAL' end,
    (array['USD', 'EUR', 'JPY', 'GBP', 'BRL', 'INR'])[1 + store % 6], 'S' || lpad(store::text, 2, '0')
from given;
insert into subscription (
    signed_at, status_event_at, transaction_event_at, renewal_event_at, revision, status, transaction_signed_at,
    purchased_at, originally_purchased_at, expires_at, quantity, renewal_signed_at, renewal_at, notification_uuid,
    status_event_uuid, transaction_event_uuid, renewal_event_uuid, environment, is_upgraded, is_auto_renewing, is_in_billing_retry,
    original_transaction_id, bundle_id, transaction_id, product_id, product_type, subscription_group_id, ownership)
select distinct on (purchase) bought, bought, bought, bought, 1, case when ends > now() then 1 else 2 end, bought, bought, bought, ends, 1,
    bought, ends, gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'Production', false, true, false,
    purchase, bundle_id, transaction, bundle_id || '.' || plan, 'Auto-Renewable Subscription', '1', 'PURCHASED'
from given
order by purchase, place desc;
insert into access_period (
    period, notification_uuid, environment, original_transaction_id, bundle_id, product_id, reason, transaction_id)
select tstzrange(bought, case when is_refunded then bought + interval '3 days' else ends end), gen_random_uuid(), 'Production', purchase,
    bundle_id, bundle_id || '.' || plan, 'transaction', transaction
from given;
