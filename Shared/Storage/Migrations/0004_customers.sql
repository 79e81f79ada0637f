-- Owners of purchases: the claims of the app's accounts, the accounts that use one Apple account, and operators' settings for
-- them. Account tokens are of type uuid, so that every spelling finds the same rows.

-- Settings of products, which Apple sends to no server. The state-updater recalculates access that was computed
-- before the duration was set, in the order of purchases.
create table product (
    level_version bigint not null default 0, -- how often the level was changed
    level integer check (level > 0), -- in its subscription group, 1 the highest; null: unknown
    recalculated_environment store_environment, -- of the purchase recalculated last
    is_duration_applied boolean not null default true,
    bundle_id text not null,
    product_id text not null,
    duration text check (duration ~ '^P([1-9][0-9]*[DWMY]|T[1-9][0-9]*H)$'), -- of a non-renewing product; null: unknown
    recalculated_purchase text, -- recalculated last; null: none yet
    primary key (bundle_id, product_id),
    check (num_nulls(recalculated_environment, recalculated_purchase) in (0, 2))
);

-- Sets how long purchases of non-renewing products give access, and returns the products whose duration changed; null makes it
-- unknown. Runs as its owner, because the API may set durations and not write the table. The lock waits for every batch of the
-- state-updater that has read the table, so that no later commit uses the old duration; it is not taken where nothing changes.
create function set_product_durations(asked_bundle_id text, asked_products text[], asked_durations text[])
returns setof text
language plpgsql security definer
set search_path from current
set lock_timeout = '2s'
as $$
begin
    if exists (
        select
        from unnest(asked_products, asked_durations) as asked (product_id, duration)
        left join product known on known.bundle_id = asked_bundle_id and known.product_id = asked.product_id
        where known.duration is distinct from asked.duration)
    then
        lock table product in access exclusive mode;
        return query
            insert into product as known (bundle_id, product_id, duration, is_duration_applied)
            select asked_bundle_id, asked.product_id, asked.duration, false
            from unnest(asked_products, asked_durations) as asked (product_id, duration)
            order by asked.product_id
            on conflict (bundle_id, product_id) do update
            set duration = excluded.duration, is_duration_applied = false, recalculated_environment = null,
                recalculated_purchase = null
            where known.duration is distinct from excluded.duration
            returning known.product_id;
    end if;
end;
$$;

-- The evidence of a claim, from strong to weak: a transaction that Apple signed names the account; an operator assigned the
-- purchase; a signed transaction was made on the device of the request; it was signed recently; it is an older copy.
create type claim_evidence as enum ('apple', 'operator', 'device', 'signed', 'old');

-- The claims of the app's accounts to purchases. A table rather than a query of transaction, because a claim outlives the
-- version of the transaction that made it, and because an app may upload a claim. The order of arrival does not matter: the
-- earliest time counts, the last signed date of that time, and the lowest of Apple's ids. The evidence is part of the key:
-- claims by 'apple' can be rebuilt from the ledger, the others cannot.
create table account_claim (
    since timestamptz not null, -- purchase date of the first transaction with the token, or the time of the upload
    signed_at timestamptz not null, -- when Apple last signed that first transaction: of two accounts the later one comes first
    app_account_token uuid not null,
    environment store_environment not null,
    evidence claim_evidence not null,
    bundle_id text not null,
    original_transaction_id text not null,
    app_transaction_id text, -- Apple's id of the customer within the app, where the transaction named it
    primary key (environment, original_transaction_id, bundle_id, app_account_token, evidence)
);
create index account_claim_by_account on account_claim (app_account_token, environment, bundle_id);
create index account_claim_by_customer on account_claim (app_transaction_id, environment, bundle_id)
    where app_transaction_id is not null;

-- The policy of an app, in one environment, whose accounts share Apple accounts. No row: firstWins.
create table sharing_policy (
    decided_at timestamptz not null,
    environment store_environment not null,
    needs_device boolean not null default false, -- whether a restore needs a device mark to move a purchase
    bundle_id text not null,
    policy text not null check (
        policy in ('firstWins', 'refuse', 'allow', 'lastRestoreWins', 'lastRestoreWinsIfLapsed')),
    primary key (environment, bundle_id)
);

-- Restores of purchases that another account of the app had, each decided once, when it was made: accepted, so that the purchase
-- moved, or why not. The last accepted one counts until the purchase is bought again by a transaction that names an account.
-- The API adds rows; the state-updater tells of the moves in the timeline.
create table purchase_transfer (
    id bigint generated always as identity primary key,
    moved_at timestamptz not null,
    announced_at timestamptz, -- in the timeline
    transfer_uuid uuid not null unique, -- of its event
    from_account_token uuid, -- null: the purchase had no account, or the account was erased
    to_account_token uuid, -- null: the account was erased
    environment store_environment not null,
    evidence claim_evidence, -- null: the account had sent nothing that Apple signed
    is_counted boolean not null, -- against the limit of 30 days: away from the account that Apple names
    bundle_id text not null,
    original_transaction_id text not null,
    policy text not null, -- of the app at that time
    outcome text not null check (outcome in ('accepted', 'chosen', 'policy', 'evidence', 'inUse', 'tooMany'))
);
create index purchase_transfer_by_purchase on purchase_transfer (environment, original_transaction_id, moved_at);
create index purchase_transfer_to_announce on purchase_transfer (id) where announced_at is null and outcome = 'accepted';
create index purchase_transfer_by_time on purchase_transfer (moved_at);

-- The accounts that operators chose: on their Apple accounts only they are entitled, and the policy does not count.
create table chosen_account (
    decided_at timestamptz not null,
    app_account_token uuid not null,
    environment store_environment not null,
    bundle_id text not null,
    primary key (environment, bundle_id, app_account_token)
);

-- Notices that two accounts of the app use one Apple account, once for each pair, with the notification that revealed it. The
-- timeline has the same as the fact sharedAccount.
create table shared_account_notice (
    noticed_at timestamptz not null,
    notification_uuid uuid not null,
    app_account_token uuid not null,
    first_account_token uuid not null, -- with the earliest claim known at that time
    environment store_environment not null,
    bundle_id text not null,
    original_transaction_id text not null,
    check (app_account_token <> first_account_token)
);
create unique index shared_account_notice_once on shared_account_notice (
    environment, bundle_id, least(app_account_token, first_account_token),
    greatest(app_account_token, first_account_token));

-- Apple's ids of customers in purchases and claims, including purchases without an id.
create view purchase_owner as
select environment, bundle_id, original_transaction_id, app_transaction_id
from subscription
union all
select environment, bundle_id, original_transaction_id, app_transaction_id
from account_claim;

-- All purchases of the Apple account that one purchase belongs to, within one app. As joins of the view, without the subqueries,
-- the planner expects a billion rows and each call clears a hash table of megabytes. Without JIT: compiling takes longer than
-- the query.
create function apple_account(asked_environment store_environment, asked_bundle_id text, asked_purchase text)
returns text[]
language sql stable set jit = off
begin atomic
    with recursive owned (original_transaction_id) as (
        select asked_purchase
        union
        select other.original_transaction_id
        from owned
        cross join lateral (
            select app_transaction_id
            from purchase_owner
            where environment = asked_environment and bundle_id = asked_bundle_id
                and original_transaction_id = owned.original_transaction_id
            offset 0
        ) as mine
        cross join lateral (
            select original_transaction_id
            from purchase_owner
            where environment = asked_environment and bundle_id = asked_bundle_id
                and app_transaction_id = mine.app_transaction_id
            offset 0
        ) as other
    )
    select array_agg(original_transaction_id order by original_transaction_id collate "C") from owned;
end;

-- The accounts of the app that use an Apple account, and which of them are entitled. The set clause prevents inlining: for an
-- Apple account that is not shared, planning would take longer than the query.
create function accounts_of(asked_environment store_environment, asked_bundle_id text, asked_purchases text[])
returns table (
    app_account_token uuid, evidence claim_evidence, since timestamptz, signed_at timestamptz, is_entitled boolean)
language sql stable set jit = off
begin atomic
    select ranked.app_account_token, ranked.evidence, ranked.since, ranked.signed_at,
        case
            when ranked.accounts = 1 then true
            when ranked.chosen > 0 then ranked.is_chosen
            when ranked.policy = 'allow' then true
            when ranked.policy = 'refuse' then false
            else ranked.place = 1
        end
    from (
        select claimant.app_account_token, claimant.evidence, claimant.since, claimant.signed_at, claimant.is_chosen,
            count(*) over () as accounts,
            count(*) filter (where claimant.is_chosen) over () as chosen,
            row_number() over (
                order by claimant.evidence, claimant.since, claimant.signed_at desc, claimant.app_account_token) as place,
            (
                select p.policy
                from sharing_policy p
                where p.environment = asked_environment and p.bundle_id = asked_bundle_id
            ) as policy
        from (
            select claim.app_account_token, min(claim.evidence) as evidence,
                (array_agg(claim.since order by claim.evidence, claim.since))[1] as since,
                (array_agg(claim.signed_at order by claim.evidence, claim.since, claim.signed_at desc))[1] as signed_at,
                exists (
                    select
                    from chosen_account chosen
                    where chosen.environment = asked_environment and chosen.bundle_id = asked_bundle_id
                        and chosen.app_account_token = claim.app_account_token
                ) as is_chosen
            from account_claim claim
            where claim.environment = asked_environment and claim.bundle_id = asked_bundle_id
                and claim.original_transaction_id = any (asked_purchases)
                -- An old copy claims only what no other account owns or claims; of old copies the earliest counts.
                and (claim.evidence <> 'old'
                    or not exists (
                        select
                        from account_claim other
                        where other.environment = asked_environment and other.bundle_id = asked_bundle_id
                            and other.original_transaction_id = any (asked_purchases)
                            and other.app_account_token <> claim.app_account_token
                            and (other.evidence <> 'old'
                                or (other.since, other.app_account_token) < (claim.since, claim.app_account_token)))
                    and not exists (
                        select
                        from subscription owned
                        where owned.environment = asked_environment and owned.bundle_id = asked_bundle_id
                            and owned.original_transaction_id = any (asked_purchases)
                            and owned.owner_account_token <> claim.app_account_token))
            group by claim.app_account_token
        ) as claimant
    ) as ranked
    order by ranked.place;
end;

-- The account that the last accepted restore moved a purchase to; null where none did, where that account was erased, and where a
-- transaction that names an account has bought the purchase since. A renewal moves nothing back.
create function moved_to(asked_environment store_environment, asked_bundle_id text, asked_purchase text)
returns uuid
language sql stable
begin atomic
    select case
        when not exists (
            select
            from transaction bought
            where bought.environment = asked_environment and bought.original_transaction_id = asked_purchase
                and bought.transaction_reason = 'PURCHASE' and bought.app_account_token is not null
                and bought.purchased_at > moved.moved_at)
            then moved.to_account_token
    end
    from purchase_transfer moved
    where moved.environment = asked_environment and moved.original_transaction_id = asked_purchase
        and moved.bundle_id = asked_bundle_id and moved.outcome = 'accepted'
    order by moved.id desc
    limit 1;
end;

-- Whether a purchase gives its access to an account that owns or claims it. It belongs to its owner, the account in the payload
-- that Apple signed last; without an owner, to the account that accounts_of entitles on the Apple account. Further accounts
-- share it only where an operator has allowed that. The set clause prevents inlining, as above.
create function gives_access_to(
    asked_environment store_environment, asked_bundle_id text, asked_purchase text, owner uuid, asked_account uuid)
returns boolean
language sql stable set jit = off
begin atomic
    select case
        -- Where operators chose an account of this Apple account, only the chosen ones are entitled.
        when exists (
            select
            from chosen_account chosen
            where chosen.environment = asked_environment and chosen.bundle_id = asked_bundle_id
                and (chosen.app_account_token = owner
                    or chosen.app_account_token in (
                        select account.app_account_token
                        from accounts_of(
                            asked_environment, asked_bundle_id,
                            apple_account(asked_environment, asked_bundle_id, asked_purchase)) as account)))
            then exists (
                select
                from chosen_account chosen
                where chosen.environment = asked_environment and chosen.bundle_id = asked_bundle_id
                    and chosen.app_account_token = asked_account)
        when moved_to(asked_environment, asked_bundle_id, asked_purchase) is not null
            and not exists (
                select
                from sharing_policy policy
                where policy.environment = asked_environment and policy.bundle_id = asked_bundle_id
                    and policy.policy = 'allow')
            then moved_to(asked_environment, asked_bundle_id, asked_purchase) = asked_account
        when asked_account = owner then true
        else exists (
                select
                from accounts_of(
                    asked_environment, asked_bundle_id,
                    apple_account(asked_environment, asked_bundle_id, asked_purchase)) as account
                where account.app_account_token = asked_account and account.is_entitled)
            and (owner is null
                or exists (
                    select
                    from sharing_policy policy
                    where policy.environment = asked_environment and policy.bundle_id = asked_bundle_id
                        and policy.policy = 'allow'))
    end;
end;

-- Pairs of Apple's ids that belong to one customer, because a purchase names both: almost always none.
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

-- The customer of each purchase within one app; a purchase without Apple's id of a customer is a customer of its own.
create view customer_purchase as
select owner.environment, owner.bundle_id, owner.original_transaction_id,
    coalesce(
        min(coalesce(alias.customer, owner.app_transaction_id) collate "C"),
        'purchase:' || owner.original_transaction_id) collate "default" as customer
from purchase_owner owner
left join customer_alias alias using (environment, bundle_id, app_transaction_id)
group by owner.environment, owner.bundle_id, owner.original_transaction_id;

-- Apple accounts that several of the app's accounts use, for operators to review. Filter by environment.
create view shared_account as
select shared.environment, shared.bundle_id, shared.customer, account.app_account_token, account.evidence, account.since,
    account.signed_at, account.is_entitled
from (
    select claim.environment, claim.bundle_id, owned.customer,
        array_agg(distinct claim.original_transaction_id) as purchases
    from account_claim claim
    join customer_purchase owned using (environment, bundle_id, original_transaction_id)
    group by claim.environment, claim.bundle_id, owned.customer
    having count(distinct claim.app_account_token) filter (where claim.evidence <> 'old') > 1
) as shared
cross join lateral accounts_of(shared.environment, shared.bundle_id, shared.purchases) as account;

-- The access periods of the purchases that name an account, by account. The fast query for apps without shared Apple accounts.
-- offset 0 makes the planner look up periods by purchase even without statistics.
create view owned_access as
select held.owner_account_token as app_account_token, access.*
from subscription held
cross join lateral (
    select *
    from access
    where environment = held.environment and original_transaction_id = held.original_transaction_id
    offset 0
) as access
where held.owner_account_token is not null;

-- The access periods of each account of an app. In SQL: select product_id, reason, until from account_access where
-- app_account_token = $1 and bundle_id = $2 and environment = 'Production' and now() <@ period. All look-ups are by index.
create view account_access as
select owned.*
from owned_access owned
where (not exists (
        select
        from chosen_account chosen
        where chosen.environment = owned.environment and chosen.bundle_id = owned.bundle_id)
    and not exists (
        select
        from purchase_transfer moved
        where moved.environment = owned.environment
            and moved.original_transaction_id = owned.original_transaction_id))
    or gives_access_to(
        owned.environment, owned.bundle_id, owned.original_transaction_id, owned.app_account_token,
        owned.app_account_token)
union all
select claim.app_account_token, access.*
from (
    select distinct claim.app_account_token, claim.environment, claim.bundle_id, held.original_transaction_id,
        held.owner_account_token
    from account_claim claim
    left join subscription mine
        on mine.environment = claim.environment and mine.original_transaction_id = claim.original_transaction_id
        and mine.bundle_id = claim.bundle_id
    cross join lateral (
        select mine.original_transaction_id, mine.owner_account_token
        where mine.original_transaction_id is not null
        union all
        -- A claim from an old transaction has no id of a customer, but the purchase may have one now.
        select other.original_transaction_id, other.owner_account_token
        from subscription other
        where other.app_transaction_id in (claim.app_transaction_id, mine.app_transaction_id)
            and other.environment = claim.environment and other.bundle_id = claim.bundle_id
    ) as held
    where held.owner_account_token is distinct from claim.app_account_token
) as claim
cross join lateral (
    select *
    from access
    where environment = claim.environment and original_transaction_id = claim.original_transaction_id
    offset 0
) as access
where gives_access_to(
    claim.environment, claim.bundle_id, claim.original_transaction_id, claim.owner_account_token, claim.app_account_token);
