-- Questions about what is stored, as SQL: entitlements, shared accounts, cancellations, reasons of expiry. Each gives the
-- answer of the function of the same purpose in the library Subscriptions; tests compare the two. Days are written as
-- hours, because the length of a day depends on the time zone of whoever asks.

-- The level of each product in its subscription group, 1 the highest: Apple tells no server of it, so an operator does.
create table product_level (
    level integer not null check (level > 0),
    bundle_id text not null,
    product_id text not null,
    primary key (bundle_id, product_id)
);

-- How long before the end of a period Apple may charge for the next one.
create function early_renewal(environment store_environment) returns interval
language sql immutable
begin atomic
    select case when environment = 'Production' then interval '24 hours' else interval '60 seconds' end;
end;

-- Where a purchase stands at a moment: the first line that applies.
create function purchase_phase(held subscription, moment timestamptz) returns text
language sql stable
begin atomic
    select case
        when held.transaction_id is null then 'unknown'
        when held.revoked_at is not null or (held.status = 5 and is_told_with_transaction) then 'revoked'
        when held.product_type = 'Consumable' then 'consumed'
        when held.product_type = 'Non-Consumable' then 'owned'
        when held.product_type = 'Non-Renewing Subscription' then
            case when held.expires_at is null or (has_period and moment < held.expires_at) then 'active'
                else 'expired' end
        when held.product_type <> 'Auto-Renewable Subscription' then 'unknown'
        when held.is_upgraded then 'upgraded'
        when held.expires_at is null then 'unknown'
        when not has_period or (held.status = 2 and is_told_with_transaction) then 'expired'
        when moment < held.expires_at then 'active'
        when told = 2 then 'expired'
        when is_of_ended_period and held.is_in_billing_retry is not false and moment < held.grace_period_expires_at
            and told is distinct from 3 then 'gracePeriod'
        when is_of_ended_period and held.is_in_billing_retry then
            case when moment < held.expires_at + interval '1440 hours' then 'billingRetry' else 'expired' end
        when is_of_product and not held.is_auto_renewing then 'expired'
        else 'overdue'
    end
    from (
        select
            coalesce(held.purchased_at < held.expires_at, true) as has_period,
            (held.status_news_at, held.status_news_uuid) = (held.transaction_news_at, held.transaction_news_uuid)
                as is_told_with_transaction,
            case when held.renewal_news_at is null
                or (held.status_news_at, held.status_news_uuid) >= (held.renewal_news_at, held.renewal_news_uuid)
                then held.status end as told,
            held.renewal_signed_at is not null and coalesce(held.renewal_product_id = held.product_id, true)
                as is_of_product,
            coalesce(held.renewal_product_id = held.product_id, true)
                and held.renewal_signed_at >= held.expires_at - early_renewal(held.environment) as is_of_ended_period
    ) as known;
end;

-- What some purchases, all that one customer has, give at a moment, and why they give nothing.
create function entitlements_at(asked_environment store_environment, asked_purchases text[], moment timestamptz)
returns table (
    original_transaction_id text, bundle_id text, transaction_id text, product_id text, level integer,
    available_until timestamptz, verdict text, is_family_shared boolean, gives_access boolean)
language sql stable
begin atomic
    with held as (
        select subscription.*, purchase_phase(subscription, moment) as phase
        from subscription
        where subscription.environment = asked_environment
            and subscription.original_transaction_id = any (asked_purchases)
    ), bought as (
        -- The purchases of each life, with what orders them.
        select t.original_transaction_id, t.transaction_id, t.product_id, t.product_type, t.subscription_group_id,
            t.ownership, t.purchased_at, t.expires_at, t.revoked_at, t.is_upgraded,
            coalesce(t.purchased_at, '0001-01-01 00:00:00+00') as ordering_at
        from transaction t
        where t.environment = asked_environment and t.original_transaction_id = any (asked_purchases)
    ), earlier as (
        -- A period that still runs although the current transaction gives nothing: the next was refunded.
        select distinct on (held.original_transaction_id) candidate.*
        from held
        join bought candidate using (original_transaction_id)
        where held.product_type = 'Auto-Renewable Subscription'
            and candidate.product_type = 'Auto-Renewable Subscription'
            and candidate.transaction_id <> held.transaction_id
            and candidate.revoked_at is null and not candidate.is_upgraded
            and coalesce(candidate.purchased_at < candidate.expires_at, true) and moment < candidate.expires_at
            and not exists (
                select
                from (
                    select b.transaction_id, b.purchased_at
                    from bought b
                    where b.original_transaction_id = held.original_transaction_id
                    union all
                    select held.transaction_id, held.purchased_at
                ) as other
                where (candidate.ordering_at, octet_length(candidate.transaction_id),
                        candidate.transaction_id collate "C")
                    < (coalesce(other.purchased_at, '0001-01-01 00:00:00+00'), octet_length(other.transaction_id),
                        other.transaction_id collate "C")
                    and not coalesce(
                        other.purchased_at >= candidate.expires_at - early_renewal(asked_environment), false))
        order by held.original_transaction_id, candidate.ordering_at desc,
            octet_length(candidate.transaction_id) desc, candidate.transaction_id collate "C" desc
    ), ruled as (
        select held.original_transaction_id, held.bundle_id, given.*
        from held
        left join earlier on earlier.original_transaction_id = held.original_transaction_id
            and held.phase not in ('active', 'gracePeriod', 'owned')
        cross join lateral (
            select
                coalesce(earlier.transaction_id, held.transaction_id) as transaction_id,
                coalesce(earlier.product_id, held.product_id) as product_id,
                coalesce(earlier.product_type, held.product_type) as product_type,
                case when earlier.transaction_id is null then held.subscription_group_id
                    else earlier.subscription_group_id end as subscription_group_id,
                coalesce(
                    case when earlier.transaction_id is null then held.ownership else earlier.ownership end
                        = 'FAMILY_SHARED', false) as is_family_shared,
                coalesce(
                    case when earlier.transaction_id is null then held.purchased_at else earlier.purchased_at end,
                    '0001-01-01 00:00:00+00') as ordering_at,
                case
                    when earlier.transaction_id is not null then earlier.expires_at
                    when held.phase = 'active' then held.expires_at
                    when held.phase = 'gracePeriod' then held.grace_period_expires_at
                end as available_until,
                case
                    when held.product_type = 'Non-Renewing Subscription' and held.phase = 'active' then 'nonRenewing'
                    when held.product_type = 'Non-Renewing Subscription' and held.phase = 'expired'
                        then 'nonRenewingEnded'
                    when earlier.transaction_id is not null then 'active'
                    else held.phase
                end as verdict
        ) as given
    ), leveled as (
        select ruled.*, product_level.level,
            case when ruled.product_type = 'Auto-Renewable Subscription' then ruled.subscription_group_id
                else ruled.product_id end as scope,
            ruled.verdict in ('active', 'gracePeriod', 'owned', 'nonRenewing', 'nonRenewingEnded') as is_entitlement
        from ruled
        left join product_level
            on product_level.bundle_id = ruled.bundle_id and product_level.product_id = ruled.product_id
    ), ranked as (
        select leveled.*,
            case when leveled.is_entitlement and leveled.scope is not null then row_number() over (
                partition by leveled.bundle_id, leveled.product_type, leveled.scope, leveled.is_entitlement
                order by
                    case when leveled.product_type = 'Auto-Renewable Subscription' then leveled.level end nulls last,
                    case when leveled.product_type = 'Non-Renewing Subscription' then leveled.ordering_at end
                        desc nulls last,
                    leveled.is_family_shared,
                    case when leveled.product_type = 'Auto-Renewable Subscription'
                        then leveled.available_until end desc nulls first,
                    leveled.ordering_at desc, octet_length(leveled.transaction_id) desc,
                    leveled.transaction_id collate "C" desc, leveled.original_transaction_id collate "C" desc
            ) end as place
        from leveled
    )
    select ranked.original_transaction_id, ranked.bundle_id, ranked.transaction_id, ranked.product_id, ranked.level,
        case when coalesce(ranked.place, 1) = 1 then ranked.available_until end,
        final.verdict, ranked.is_family_shared, final.verdict in ('active', 'gracePeriod', 'owned', 'nonRenewing')
    from ranked
    cross join lateral (
        select case
            when coalesce(ranked.place, 1) = 1 then ranked.verdict
            when ranked.product_type = 'Auto-Renewable Subscription' then 'outranked'
            else 'superseded'
        end as verdict
    ) as final
    order by ranked.original_transaction_id collate "C";
end;

-- Which purchases are one customer's within one app, by Apple's id of the customer; those without one stand alone.
create view customer as
select environment, bundle_id, coalesce(app_transaction_id, 'purchase:' || original_transaction_id) as customer,
    array_agg(original_transaction_id order by original_transaction_id) as purchases
from subscription
group by 1, 2, 3;

-- What every customer has now. Filter by environment, always.
create view current_entitlement as
select customer.environment, customer.customer, given.*
from customer
cross join lateral entitlements_at(customer.environment, customer.purchases, now()) as given;

-- Which of the app's accounts claim which purchase, by the token in its transactions, since the first of them.
create view account_claim as
select environment, bundle_id, original_transaction_id, app_transaction_id, app_account_token,
    min(coalesce(purchased_at, signed_at)) as since
from transaction
where app_account_token is not null
group by environment, bundle_id, original_transaction_id, app_transaction_id, app_account_token;

-- Apple accounts that feed several of the app's accounts: to be looked at, never silent.
create view shared_account as
select environment, bundle_id, customer, array_agg(app_account_token order by since, app_account_token) as tokens
from (
    select claim.environment, claim.bundle_id, named.customer, claim.app_account_token, min(claim.since) as since
    from account_claim claim
    cross join lateral (
        -- One purchase is one customer, though only some of its transactions name Apple's id of them.
        select coalesce(min(t.app_transaction_id), 'purchase:' || claim.original_transaction_id) as customer
        from transaction t
        where t.environment = claim.environment and t.original_transaction_id = claim.original_transaction_id
            and t.bundle_id = claim.bundle_id
    ) as named
    group by claim.environment, claim.bundle_id, named.customer, claim.app_account_token
) as claims
group by environment, bundle_id, customer
having count(*) > 1;

-- Every time a customer switched auto-renew off: where in the period, and whether it was undone within it.
create view cancellation as
select off.environment, off.original_transaction_id, off.transaction_id, off.news_at as cancelled_at,
    extract(epoch from off.expires_at - off.news_at) as seconds_before_end,
    case
        when off.purchased_at is null or off.expires_at is null or off.purchased_at >= off.expires_at then 'unknown'
        when off.news_at >= off.expires_at then 'afterEnd'
        when off.expires_at - off.news_at <= edge then 'lastDay'
        when off.news_at - off.purchased_at <= edge then 'atOnce'
        when (off.news_at - off.purchased_at) * 2 < off.expires_at - off.purchased_at then 'early'
        else 'late'
    end as timing,
    exists (
        select
        from step back
        where back.environment = off.environment and back.original_transaction_id = off.original_transaction_id
            and (back.news_at, back.notification_uuid) > (off.news_at, off.notification_uuid)
            and back.notification_type = 'DID_CHANGE_RENEWAL_STATUS' and back.subtype = 'AUTO_RENEW_ENABLED'
            and back.transaction_id is not distinct from off.transaction_id
    ) as is_undone
from step off
cross join lateral (
    select least(interval '24 hours', (off.expires_at - off.purchased_at) / 10) as edge
) as bounds
where off.notification_type = 'DID_CHANGE_RENEWAL_STATUS' and off.subtype = 'AUTO_RENEW_DISABLED';

-- How often auto-renew was switched within each period.
create view renewal_switch_count as
select environment, original_transaction_id, coalesce(transaction_id, '') as transaction_id, count(*) as switches
from step
where notification_type = 'DID_CHANGE_RENEWAL_STATUS' and subtype in ('AUTO_RENEW_ENABLED', 'AUTO_RENEW_DISABLED')
group by 1, 2, 3;

-- Why each purchase ended; of use where its phase is expired. The EXPIRED notification of the current transaction tells,
-- without one the renewal info does.
create view expiry_reason as
select held.environment, held.original_transaction_id, held.product_id, held.expires_at,
    coalesce(
        case told.name
            when 'EXPIRED/VOLUNTARY' then 'voluntary'
            when 'EXPIRED/BILLING_RETRY' then 'billing'
            when 'EXPIRED/PRICE_INCREASE' then 'price'
            when 'EXPIRED/PRODUCT_NOT_FOR_SALE' then 'productUnavailable'
        end,
        case
            when held.expiration_intent = 1 then 'voluntary'
            when held.expiration_intent = 2 then 'billing'
            when held.expiration_intent = 3 then 'price'
            when held.expiration_intent = 4 then 'productUnavailable'
            when held.expiration_intent is not null then 'other'
            when held.is_in_billing_retry then 'billing'
            when not held.is_auto_renewing then 'voluntary'
            else 'other'
        end) as reason
from subscription held
left join lateral (
    select mark.name
    from mark
    where mark.environment = held.environment and mark.original_transaction_id = held.original_transaction_id
        and mark.kind = 'event' and (mark.name = 'EXPIRED' or mark.name in (
            'EXPIRED/VOLUNTARY', 'EXPIRED/BILLING_RETRY', 'EXPIRED/PRICE_INCREASE', 'EXPIRED/PRODUCT_NOT_FOR_SALE'))
        and mark.transaction_id is not distinct from held.transaction_id
    order by mark.news_at desc, mark.notification_uuid desc
    limit 1
) as told on true;
