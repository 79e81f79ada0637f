-- Cancellations, ends of subscriptions, loyalty and price consents: views over the ledger, the transactions and the access
-- periods. Always filter by environment. Days are written as hours, because the length of a day
-- depends on the time zone of the session.

-- Every switch of auto-renew, off or on. Only these events show two switches within one period; the state does not.
create view renewal_switch as
select environment, bundle_id, original_transaction_id, transaction_id, notification_uuid, signed_at as switched_at,
    subtype = 'AUTO_RENEW_ENABLED' as is_on, purchased_at, expires_at
from notification
where notification_type = 'DID_CHANGE_RENEWAL_STATUS' and subtype in ('AUTO_RENEW_ENABLED', 'AUTO_RENEW_DISABLED')
    and original_transaction_id is not null and signed_at is not null;

-- Every time a customer switched auto-renew off: the part of the period, and whether it was undone within the period. A switch
-- by Apple seconds before or after a refund is no cancellation.
create view cancellation as
select off.environment, off.bundle_id, off.original_transaction_id, off.transaction_id, off.switched_at as cancelled_at,
    extract(epoch from off.expires_at - off.switched_at)::double precision as seconds_before_end,
    case
        when off.purchased_at is null or off.expires_at is null or off.purchased_at >= off.expires_at then 'unknown'
        when off.switched_at >= off.expires_at then 'afterEnd'
        when off.expires_at - off.switched_at <= edge then 'lastDay'
        when off.switched_at - off.purchased_at <= edge then 'atOnce'
        when (off.switched_at - off.purchased_at) * 2 < off.expires_at - off.purchased_at then 'early'
        else 'late'
    end as timing,
    exists (
        select
        from renewal_switch back
        where back.environment = off.environment and back.original_transaction_id = off.original_transaction_id
            and back.is_on and (back.switched_at, back.notification_uuid) > (off.switched_at, off.notification_uuid)
            and back.transaction_id is not distinct from off.transaction_id
    ) as is_undone
from renewal_switch off
cross join lateral (
    select least(interval '24 hours', (off.expires_at - off.purchased_at) / 10) as edge
) as bounds
where not off.is_on and not exists (
    select
    from notification refund
    where refund.environment = off.environment and refund.original_transaction_id = off.original_transaction_id
        and (refund.notification_type = 'REFUND' and coalesce(refund.subtype, '') = ''
            or refund.notification_type = 'REVOKE')
        and refund.transaction_id is not distinct from off.transaction_id
        and refund.signed_at <= off.switched_at + interval '1 minute');

-- Each end of a subscription, with its reason by the subtype, even if the customer subscribed again later.
create view subscription_end as
select environment, bundle_id, original_transaction_id, transaction_id,
    least(expires_at, signed_at) as ended_at,
    case subtype
        when 'VOLUNTARY' then 'voluntary'
        when 'BILLING_RETRY' then 'billing'
        when 'PRICE_INCREASE' then 'price'
        when 'PRODUCT_NOT_FOR_SALE' then 'productUnavailable'
        else 'other'
    end as reason, signed_at
from notification
where notification_type = 'EXPIRED' and original_transaction_id is not null and signed_at is not null;

-- The price consent of each purchase: pending, accepted or refused. The newest notification on it counts; a renewal, a new
-- subscription or any end closes the price increase. A renewal info that is newer counts where it says more: a consent is still
-- asked for after the renewal at the old price, or was given without a notification.
create view price_consent as
select environment, bundle_id, original_transaction_id, answer.consent, answer.signed_at
from (
    select distinct on (environment, original_transaction_id) environment, original_transaction_id, signed_at,
        notification_uuid,
        case event
            when 'PRICE_INCREASE/PENDING' then 'pending'
            when 'PRICE_INCREASE/ACCEPTED' then 'accepted'
            when 'EXPIRED/PRICE_INCREASE' then 'refused'
        end as consent
    from (
        select *, notification_type || coalesce('/' || nullif(subtype, ''), '') as event
        from notification
        where original_transaction_id is not null and signed_at is not null
    ) as received
    where event in (
            'PRICE_INCREASE/PENDING', 'PRICE_INCREASE/ACCEPTED', 'SUBSCRIBED/INITIAL_BUY', 'SUBSCRIBED/RESUBSCRIBE',
            'OFFER_REDEEMED/INITIAL_BUY', 'OFFER_REDEEMED/RESUBSCRIBE', 'DID_CHANGE_RENEWAL_PREF/UPGRADE',
            'OFFER_REDEEMED/UPGRADE', 'DID_RENEW', 'DID_RENEW/BILLING_RECOVERY')
        or notification_type = 'EXPIRED'
    order by environment, original_transaction_id, signed_at desc, notification_uuid desc
) as told
right join subscription held using (environment, original_transaction_id)
cross join lateral (
    select
        case
            when is_newer and held.price_increase_status = 0 and told.consent is null
                and held.status is distinct from 2 and held.status is distinct from 5 then 'pending'
            -- After a renewal the 1 is of a price increase that is closed.
            when is_newer and held.price_increase_status = 1
                and (told.consent = 'pending' or told.notification_uuid is null) then 'accepted'
        end as by_renewal_info
    from (
        select held.renewal_event_at is not null
            and (told.notification_uuid is null
                or (told.signed_at, told.notification_uuid) <= (held.renewal_event_at, held.renewal_event_uuid)) as is_newer
    ) as compared
) as renewal
cross join lateral (
    select coalesce(by_renewal_info, told.consent) as consent,
        case when by_renewal_info is null then told.signed_at else held.renewal_event_at end as signed_at
) as answer
where answer.consent is not null;

-- For all purchases of one customer: of each subscription group the start of the unbroken service, the paid time since, and
-- when a year of paid time was or will be complete, after which the commission is lower. Gaps of up to 60 days (10 minutes
-- outside of production) do not break the service and do not count as paid. Where earlier transactions are unknown, Apple's
-- recentSubscriptionStartDate is the start. The seats that an organization assigned are not paid for by who uses them: the payment is
-- in the purchase of the seats.
create function loyalty_at(asked_environment store_environment, asked_purchases text[], moment timestamptz)
returns table (
    subscription_group_id text, recent_start_at timestamptz, paid_seconds double precision,
    reduced_commission_at timestamptz)
language sql stable
begin atomic
    with period as (
        -- The time of service of each transaction, and whether it was paid for: not by a free trial, family sharing, an assigned seat, a
        -- price of zero, or a price that was refunded in full.
        select t.subscription_group_id as held_group, greatest(lower(access.period), t.purchased_at) as begins_at,
            upper(access.period) as ends_at,
            coalesce(t.ownership not in ('FAMILY_SHARED', 'ASSIGNED'), true) and t.offer_discount_type is distinct from 'FREE_TRIAL'
                and coalesce(t.price_milliunits > 0, true)
                and (t.revoked_at is null or t.revocation_type is not distinct from 'REFUND_PRORATED') as is_paid
        from access_period access
        join transaction t on t.environment = access.environment and t.transaction_id = access.transaction_id
        where access.environment = asked_environment and access.original_transaction_id = any (asked_purchases)
            and access.reason = 'transaction' and t.subscription_group_id is not null
            and t.purchased_at < upper(access.period)
    ), allowed as (
        select case when asked_environment = 'Production' then interval '1440 hours' else interval '10 minutes' end as gap
    ), begun as (
        select held_group, begins_at, max(ends_at) over (
                partition by held_group order by begins_at, ends_at
                rows between unbounded preceding and 1 preceding) as covered_until
        from period
        where begins_at <= moment
    ), recent as (
        select held_group, least(
                max(begins_at) filter (where covered_until is null or begins_at - covered_until > gap),
                (select min(s.recent_start_at)
                from subscription s
                where s.environment = asked_environment and s.original_transaction_id = any (asked_purchases)
                    and s.subscription_group_id = held_group and s.recent_start_at <= moment)) as start_at
        from begun
        cross join allowed
        group by held_group
    ), paid as (
        select period.held_group, begins_at, ends_at, max(ends_at) over (
                partition by period.held_group order by begins_at, ends_at
                rows between unbounded preceding and 1 preceding) as covered_until
        from period
        join recent on recent.held_group = period.held_group
        where is_paid and begins_at >= recent.start_at
    ), numbered as (
        -- A run is service without a gap. Time that several purchases cover counts once.
        select held_group, begins_at, greatest(begins_at, covered_until) as from_at, ends_at,
            count(*) filter (where covered_until is null or begins_at - covered_until > gap)
                over (partition by held_group order by begins_at, ends_at rows unbounded preceding) as run
        from paid
        cross join allowed
    ), latest as (
        select held_group, max(run) as run
        from numbered
        where begins_at <= moment
        group by held_group
    ), added as (
        select held_group, from_at, extract(epoch from ends_at - from_at) as seconds,
            extract(epoch from least(ends_at, moment) - from_at) as seconds_until_now,
            sum(extract(epoch from ends_at - from_at)) over (
                partition by held_group order by from_at, ends_at rows unbounded preceding) as seconds_so_far
        from numbered
        join latest using (held_group, run)
        where from_at < ends_at
    )
    select recent.held_group, recent.start_at, coalesce(total.paid, 0)::double precision, total.year_at
    from recent
    left join (
        select held_group, sum(greatest(seconds_until_now, 0)) as paid,
            min(from_at + make_interval(secs => (365 * 86400 - (seconds_so_far - seconds))::double precision))
                filter (where seconds_so_far >= 365 * 86400) as year_at
        from added
        group by held_group
    ) as total using (held_group)
    order by recent.held_group collate "C";
end;

-- The same for each purchase by itself, now.
create view loyalty as
select subscription.environment, subscription.bundle_id, subscription.original_transaction_id, given.*
from subscription
cross join lateral loyalty_at(
    subscription.environment, array[subscription.original_transaction_id], now()) as given
where subscription.subscription_group_id is not null;
