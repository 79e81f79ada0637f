-- Who lives on whose Apple account, and what that allows; how long customers have paid; where they stand with a price
-- increase. Each question gives the answer of the function of the same purpose in the library Subscriptions; tests
-- compare the two.

-- MARK: Whose a purchase is

-- Which of the app's accounts claims which purchase, and since when. A table rather than a question to transaction,
-- because a claim outlives the version of the transaction that made it, and because an app may upload one. No order of
-- arrival matters: the earliest moment counts, of that moment what was signed last, of Apple's ids the least. The source is
-- part of the key: what transactions
-- told can be had from the ledger again, what was uploaded cannot.
drop view shared_account;
drop view account_claim;
create table account_claim (
    since timestamptz not null, -- date of purchase of the first transaction with the token, or the time of the upload
    told_at timestamptz not null, -- when Apple last signed that first transaction: of two accounts the later has it
    environment store_environment not null,
    bundle_id text not null,
    original_transaction_id text not null,
    app_account_token text not null,
    app_transaction_id text, -- Apple's id of the customer within the app, where the transaction named it
    source text not null check (source in ('transaction', 'upload')),
    primary key (environment, original_transaction_id, bundle_id, app_account_token, source)
);
create index account_claim_by_account on account_claim (app_account_token, environment, bundle_id);
create index account_claim_by_customer on account_claim (app_transaction_id, environment, bundle_id)
    where app_transaction_id is not null;
create index subscription_by_customer on subscription (app_transaction_id, environment, bundle_id)
    where app_transaction_id is not null;

insert into account_claim
select min(bought_at), (array_agg(signed_at order by bought_at, signed_at desc))[1], environment, bundle_id,
    original_transaction_id, app_account_token, min(app_transaction_id collate "C"), 'transaction'
from transaction
cross join lateral date_trunc('milliseconds', coalesce(purchased_at, signed_at)) as bought_at
where app_account_token is not null
group by environment, bundle_id, original_transaction_id, app_account_token;

-- Accounts and customers are looked up in claims and subscriptions now.
drop index transaction_by_account, transaction_by_customer, subscription_by_account;

-- What is done in an app where one Apple account feeds several of its accounts. No row: firstWins.
create table sharing_policy (
    decided_at timestamptz not null,
    bundle_id text primary key,
    policy text not null check (policy in ('firstWins', 'refuse', 'allow'))
);

-- The accounts that operators chose: on their Apple accounts they are served and no others, whatever the policy.
create table chosen_account (
    decided_at timestamptz not null,
    environment store_environment not null,
    bundle_id text not null,
    app_account_token text not null,
    primary key (environment, bundle_id, app_account_token)
);

-- That two accounts of the app were found on one Apple account, once for each pair, with the notification that showed
-- it. The same is told on the timeline, as the fact sharedAccount.
create table shared_account_notice (
    noticed_at timestamptz not null,
    notification_uuid uuid not null,
    environment store_environment not null,
    bundle_id text not null,
    original_transaction_id text not null,
    app_account_token text not null,
    first_account_token text not null, -- who claimed first, as far as was known then
    check (app_account_token <> first_account_token)
);
create unique index shared_account_notice_once on shared_account_notice (
    environment, bundle_id, least(app_account_token, first_account_token),
    greatest(app_account_token, first_account_token));

-- What purchases and claims say of Apple's ids of customers; those without an id tell that there is a purchase.
create view purchase_owner as
select environment, bundle_id, original_transaction_id, app_transaction_id
from subscription
union all
select environment, bundle_id, original_transaction_id, app_transaction_id
from account_claim;

-- All purchases of the Apple account that one purchase belongs to, within one app. The planner fears any recursion, and
-- would compile for half a second what runs in one millisecond.
create function apple_account(asked_environment store_environment, asked_bundle_id text, asked_purchase text)
returns text[]
language sql stable set jit = off
begin atomic
    with recursive owned (original_transaction_id) as (
        select asked_purchase
        union
        select other.original_transaction_id
        from owned
        join purchase_owner mine
            on mine.environment = asked_environment and mine.bundle_id = asked_bundle_id
            and mine.original_transaction_id = owned.original_transaction_id
        join purchase_owner other
            on other.environment = asked_environment and other.bundle_id = asked_bundle_id
            and other.app_transaction_id = mine.app_transaction_id
    )
    select array_agg(original_transaction_id order by original_transaction_id collate "C") from owned;
end;

-- The accounts of the app that live on an Apple account, and which of them are served.
create function accounts_of(asked_environment store_environment, asked_bundle_id text, asked_purchases text[])
returns table (app_account_token text, since timestamptz, told_at timestamptz, is_served boolean)
language sql stable
begin atomic
    select ranked.app_account_token, ranked.since, ranked.told_at,
        case
            when ranked.accounts = 1 then true
            when ranked.chosen > 0 then ranked.is_chosen
            when ranked.policy = 'allow' then true
            when ranked.policy = 'refuse' then false
            else ranked.place = 1
        end
    from (
        select claimant.app_account_token, claimant.since, claimant.told_at, claimant.is_chosen, count(*) over () as accounts,
            count(*) filter (where claimant.is_chosen) over () as chosen,
            row_number() over (
                order by claimant.since, claimant.told_at desc, claimant.app_account_token collate "C") as place,
            (select p.policy from sharing_policy p where p.bundle_id = asked_bundle_id) as policy
        from (
            select claim.app_account_token, min(claim.since) as since,
                (array_agg(claim.told_at order by claim.since, claim.told_at desc))[1] as told_at,
                exists (
                    select
                    from chosen_account chosen
                    where chosen.environment = asked_environment and chosen.bundle_id = asked_bundle_id
                        and chosen.app_account_token = claim.app_account_token
                ) as is_chosen
            from account_claim claim
            where claim.environment = asked_environment and claim.bundle_id = asked_bundle_id
                and claim.original_transaction_id = any (asked_purchases)
            group by claim.app_account_token
        ) as claimant
    ) as ranked
    order by ranked.place;
end;

-- What one account of the app may use at a moment: all that its Apple accounts bought, unless it must not share them.
-- The rows and columns are those of entitlements_at; a purchase that is refused is not among them.
create function account_entitlements(
    asked_environment store_environment, asked_bundle_id text, asked_token text, moment timestamptz)
returns table (
    original_transaction_id text, bundle_id text, transaction_id text, product_id text, level integer,
    available_until timestamptz, verdict text, is_family_shared boolean, gives_access boolean)
language sql stable
begin atomic
    with lived_on as (
        select distinct apple_account(asked_environment, asked_bundle_id, claim.original_transaction_id) as purchases
        from account_claim claim
        where claim.environment = asked_environment and claim.bundle_id = asked_bundle_id
            and claim.app_account_token = asked_token
    ), served as (
        select purchase
        from lived_on
        cross join lateral unnest(lived_on.purchases) as purchase
        where exists (
            select
            from accounts_of(asked_environment, asked_bundle_id, lived_on.purchases) as account
            where account.app_account_token = asked_token and account.is_served)
    )
    select given.*
    from (
        -- Another app's purchase cannot compete, and is none of this account's.
        select coalesce(array_agg(distinct held.original_transaction_id), '{}') as purchases
        from served
        join subscription held
            on held.environment = asked_environment and held.original_transaction_id = served.purchase
            and held.bundle_id = asked_bundle_id
    ) as mine
    cross join lateral entitlements_at(asked_environment, mine.purchases, moment) as given;
end;

-- Apple's ids that are one customer's, because some purchase names both: almost always none.
create view customer_alias as
with recursive link as (
    select distinct one.environment, one.bundle_id, one.app_transaction_id, other.app_transaction_id as other_id
    from purchase_owner one
    join purchase_owner other using (environment, bundle_id, original_transaction_id)
    where one.app_transaction_id <> other.app_transaction_id
), reached as (
    select * from link
    union
    select reached.environment, reached.bundle_id, reached.app_transaction_id, link.other_id
    from reached
    join link on link.environment = reached.environment and link.bundle_id = reached.bundle_id
        and link.app_transaction_id = reached.other_id
)
select environment, bundle_id, app_transaction_id, min(other_id collate "C") as customer
from reached
group by environment, bundle_id, app_transaction_id;

-- Which purchases are one customer's within one app; those that nobody names a customer for stand alone.
create view customer_purchase as
select owner.environment, owner.bundle_id, owner.original_transaction_id,
    coalesce(
        min(coalesce(alias.customer, owner.app_transaction_id) collate "C"),
        'purchase:' || owner.original_transaction_id) collate "default" as customer
from purchase_owner owner
left join customer_alias alias using (environment, bundle_id, app_transaction_id)
group by owner.environment, owner.bundle_id, owner.original_transaction_id;

create or replace view customer as
select environment, bundle_id, customer, array_agg(original_transaction_id order by original_transaction_id) as purchases
from customer_purchase
group by environment, bundle_id, customer;

-- Apple accounts that feed several of the app's accounts: to be looked at, never silent. Filter by environment.
create view shared_account as
select shared.environment, shared.bundle_id, shared.customer, account.app_account_token, account.since,
    account.told_at, account.is_served
from (
    select claim.environment, claim.bundle_id, owned.customer,
        array_agg(distinct claim.original_transaction_id) as purchases
    from account_claim claim
    join customer_purchase owned using (environment, bundle_id, original_transaction_id)
    group by claim.environment, claim.bundle_id, owned.customer
    having count(distinct claim.app_account_token) > 1
) as shared
cross join lateral accounts_of(shared.environment, shared.bundle_id, shared.purchases) as account;

-- Whose a purchase is: the app of its oldest news, so that another app that speaks of it takes it from nobody. A skipped
-- step names no app, because it belongs to a purchase.
alter table subscription add column bundle_news_at timestamptz, add column bundle_news_uuid uuid;
update subscription held
set bundle_id = first.bundle_id, bundle_news_at = first.signed_at, bundle_news_uuid = first.notification_uuid
from (
    select distinct on (environment, original_transaction_id) environment, original_transaction_id, bundle_id,
        signed_at, notification_uuid
    from notification
    where original_transaction_id is not null and signed_at is not null
    order by environment, original_transaction_id, signed_at, notification_uuid
) as first
where first.environment = held.environment and first.original_transaction_id = held.original_transaction_id;
alter table subscription add check (num_nulls(bundle_news_at, bundle_news_uuid) in (0, 2)); -- null: as old as the newest
alter table skipped_step drop column bundle_id;

-- MARK: How long customers have paid

-- The longest gap after which service still counts as unbroken.
create function loyalty_gap(environment store_environment) returns interval
language sql immutable
begin atomic
    select case when environment = 'Production' then interval '1440 hours' else interval '10 minutes' end;
end;

-- For some purchases, all that one customer has: of each subscription group since when the service is unbroken, how long
-- it was paid for since, and when a year of that was or will be complete, after which the commission is lower. Gaps of
-- up to 60 days (10 minutes outside of production) break nothing and count as nothing.
create function loyalty_at(asked_environment store_environment, asked_purchases text[], moment timestamptz)
returns table (
    subscription_group_id text, recent_start_at timestamptz, paid_seconds double precision,
    reduced_commission_at timestamptz)
language sql stable
begin atomic
    with period as (
        -- The time that each transaction gave, up to a revocation, and whether it was paid for: neither a free trial,
        -- nor the family's, nor without a price, nor given back whole.
        select t.subscription_group_id as held_group, t.purchased_at as begins_at,
            least(t.expires_at, t.revoked_at) as ends_at,
            t.ownership is distinct from 'FAMILY_SHARED' and t.offer_discount_type is distinct from 'FREE_TRIAL'
                and coalesce(t.price_milliunits > 0, true)
                and (t.revoked_at is null or t.revocation_type is not distinct from 'REFUND_PRORATED') as is_paid
        from transaction t
        where t.environment = asked_environment and t.original_transaction_id = any (asked_purchases)
            and t.product_type = 'Auto-Renewable Subscription' and t.subscription_group_id is not null
            and t.expires_at is not null and t.purchased_at < least(t.expires_at, t.revoked_at)
    ), begun as (
        select held_group, begins_at, max(ends_at) over (
                partition by held_group order by begins_at, ends_at
                rows between unbounded preceding and 1 preceding) as covered_until
        from period
        where begins_at <= moment
    ), recent as (
        select held_group, max(begins_at) as start_at
        from begun
        where covered_until is null or begins_at - covered_until > loyalty_gap(asked_environment)
        group by held_group
    ), paid as (
        select period.held_group, begins_at, ends_at, max(ends_at) over (
                partition by period.held_group order by begins_at, ends_at
                rows between unbounded preceding and 1 preceding) as covered_until
        from period
        join recent on recent.held_group = period.held_group
        where is_paid and begins_at >= recent.start_at
    ), numbered as (
        -- A run is what no gap breaks. What several transactions cover counts once, from where it was not covered yet.
        select held_group, begins_at, greatest(begins_at, covered_until) as from_at, ends_at,
            count(*) filter (
                where covered_until is null or begins_at - covered_until > loyalty_gap(asked_environment)
            ) over (partition by held_group order by begins_at, ends_at rows unbounded preceding) as run
        from paid
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

-- How long every customer has been with each subscription group, now. Filter by environment, always.
create view loyalty as
select customer.environment, customer.bundle_id, customer.customer, given.*
from customer
cross join lateral loyalty_at(customer.environment, customer.purchases, now()) as given;

-- MARK: Price increases

-- Where each purchase stands with a price increase: none, pending, accepted or refused, and who knows since when. The
-- newest word counts, a renewal closes the matter, and the renewal info tells where no notification did. Filter by
-- environment.
create view price_consent as
select held.environment, held.bundle_id, held.original_transaction_id, held.product_id, final.consent, case
        when final.consent = 'none' then null
        when final.is_told_by_renewal then held.renewal_news_at
        else newest.news_at
    end as told_at
from subscription held
left join lateral (
    select mark.news_at, mark.notification_uuid,
        case mark.name
            when 'PRICE_INCREASE/PENDING' then 'pending'
            when 'PRICE_INCREASE/ACCEPTED' then 'accepted'
            when 'EXPIRED/PRICE_INCREASE' then 'refused'
            else 'none'
        end as consent
    from mark
    where mark.environment = held.environment and mark.original_transaction_id = held.original_transaction_id
        and mark.kind = 'event' and mark.name in (
            'PRICE_INCREASE/PENDING', 'PRICE_INCREASE/ACCEPTED', 'EXPIRED/PRICE_INCREASE', 'SUBSCRIBED/INITIAL_BUY',
            'SUBSCRIBED/RESUBSCRIBE', 'OFFER_REDEEMED/INITIAL_BUY', 'OFFER_REDEEMED/RESUBSCRIBE',
            'DID_CHANGE_RENEWAL_PREF/UPGRADE', 'OFFER_REDEEMED/UPGRADE', 'DID_RENEW', 'DID_RENEW/BILLING_RECOVERY')
    order by mark.news_at desc, mark.notification_uuid desc
    limit 1
) as newest on true
cross join lateral (
    select coalesce(newest.consent, 'none') as told,
        held.renewal_news_at is not null and coalesce(
            (newest.news_at, newest.notification_uuid) <= (held.renewal_news_at, held.renewal_news_uuid),
            newest.consent is null) as is_newer
) as known
cross join lateral (
    select known.is_newer and (
            held.price_increase_status = 0 and known.told = 'none'
            or held.price_increase_status = 1 and (known.told = 'pending' or newest.consent is null)
        ) is true as is_told_by_renewal
) as renewal
cross join lateral (
    select renewal.is_told_by_renewal,
        case
            when not renewal.is_told_by_renewal then known.told
            when held.price_increase_status = 0 then 'pending'
            else 'accepted'
        end as consent
) as final;

-- MARK: Earlier transactions

-- The transaction that a row is about, where that is not the purchase's current one: its refund changes nothing that is
-- current, and may end access all the same.
alter table timeline add column transaction_id text;

-- MARK: Sightings

-- A digest of what the first sighting said: a uuid that says something else is no copy, and the ledger wants to see it.
alter table sighting add column content bigint;
