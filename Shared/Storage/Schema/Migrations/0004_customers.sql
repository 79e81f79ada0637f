-- Owners of purchases: the claims of the app's accounts, operators' settings for accounts that use one Apple account, and who may use
-- each purchase. Account tokens are of type uuid, so that every spelling finds the same rows.

-- Settings of products, which Apple sends to no server. The state-updater recalculates access that was computed
-- before the duration was set, in the order of purchases.
create table product (
    level_version bigint not null default 0, -- how often the level was changed
    credit_amount bigint check (credit_amount > 0), -- what one consumable gives; null: one of the product itself
    level integer check (level > 0), -- in its subscription group, 1 the highest; null: unknown
    recalculated_environment store_environment, -- of the purchase recalculated last
    is_duration_applied boolean not null default true,
    bundle_id text not null,
    product_id text not null,
    duration text check (duration ~ '^P([1-9][0-9]*[DWMY]|T[1-9][0-9]*H)$'), -- of a non-renewing product; null: unknown
    recalculated_purchase text, -- recalculated last; null: none yet
    credit_unit text,
    primary key (bundle_id, product_id),
    check (num_nulls(recalculated_environment, recalculated_purchase) in (0, 2)),
    check (num_nulls(credit_amount, credit_unit) in (0, 2))
);

-- Sets how long purchases of non-renewing products give access, and returns the products whose duration changed; null makes it
-- unknown. Runs as its owner, because the API may set durations and not write the table. The lock waits for every batch of the
-- state-updater that has read the table, so that no later commit uses the old duration; it is not taken where nothing changes. It is
-- this one, because no other waits for a transaction that has only read; a row that does not exist yet cannot be locked.
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
    -- Of the accounts of the app that claim one Apple account by uploads. The number without a setting is that of SharingPolicy.
    most_accounts integer not null check (most_accounts between 1 and 1000),
    needs_device boolean not null default false, -- whether a restore needs a device mark to move a purchase
    is_applied boolean not null default true, -- false: purchases after applied_purchase are decided by the policy before
    bundle_id text not null,
    policy text not null check (
        policy in ('firstWins', 'refuse', 'allow', 'lastRestoreWins', 'lastRestoreWinsIfLapsed')),
    applied_purchase text, -- decided last; null: none yet
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
    -- The request that decided: where its answer was lost, a repeat finds the decision and makes no other one. Null: the client cannot
    -- repeat it, or the account was erased.
    request_uuid uuid,
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
create index purchase_transfer_of_request on purchase_transfer (request_uuid) where request_uuid is not null;
-- Whether anything is known of an account is answered without reading a table whole.
create index purchase_transfer_from_account on purchase_transfer (from_account_token) where from_account_token is not null;
create index purchase_transfer_to_account on purchase_transfer (to_account_token) where to_account_token is not null;

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
create index shared_account_notice_by_account on shared_account_notice (app_account_token);
create index shared_account_notice_by_first_account on shared_account_notice (first_account_token);

-- Apple's ids of customers in purchases and claims, including purchases without an id. A migrated purchase and the one that it
-- replaced are of one customer, also where Apple names none: both have a name of their own for it.
create view purchase_owner as
select environment, bundle_id, original_transaction_id, app_transaction_id
from subscription
union all
select environment, bundle_id, original_transaction_id, app_transaction_id
from account_claim
union all
select environment, bundle_id, original_transaction_id, 'purchase:' || previous_original_transaction_id
from transaction
where previous_original_transaction_id is not null
union all
select environment, bundle_id, previous_original_transaction_id, 'purchase:' || previous_original_transaction_id
from transaction
where previous_original_transaction_id is not null;

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

-- The accounts that own or claim each purchase, or may use it otherwise, and whether they may use it: one decision, by AppleAccount
-- in the library Subscriptions, from the owner of the purchase, claims, transfers, chosen accounts and the policy. A transaction that
-- changes one of these writes the rows that change with it; see OwnershipStore.
create table purchase_account (
    decided_at timestamptz not null,
    app_account_token uuid not null,
    environment store_environment not null,
    may_use boolean not null, -- while the purchase gives access
    bundle_id text not null,
    original_transaction_id text not null,
    because text not null check (
        because in (
            'owner', 'claim', 'moved', 'chosen', 'shared', 'otherOwner', 'otherClaim', 'movedAway', 'notChosen', 'refused',
            'oldCopy')),
    primary key (environment, original_transaction_id, bundle_id, app_account_token)
) with (fillfactor = 90);
create index purchase_account_by_account on purchase_account (app_account_token, environment, bundle_id);

-- Rises with every change of what an account may use, but changes of its purchases and further ones, which the sum of their revisions
-- counts: with both a reader knows whether an earlier answer still holds. No row: 0. At least the number of the transaction, so that no
-- number comes again after an erasure.
create table account_version (
    version bigint not null,
    app_account_token uuid not null,
    environment store_environment not null,
    primary key (app_account_token, environment)
) with (fillfactor = 80);

-- For each row of a table with app_account_token and environment. Runs as its owner, because several services change such rows.
-- OwnershipStore does the same for purchase_account, once for each account and in their order, so that two transactions do not wait for
-- each other.
create function raise_account_version() returns trigger
language plpgsql security definer
set search_path from current
as $$
declare
    changed record;
begin
    if tg_op = 'DELETE' then
        changed := old;
    else
        changed := new;
    end if;
    insert into account_version as known (version, app_account_token, environment)
    values (pg_current_xact_id()::text::bigint, changed.app_account_token, changed.environment)
    on conflict (app_account_token, environment) do update
    set version = greatest(known.version + 1, excluded.version);
    return null;
end;
$$;

-- Apple accounts that several of the app's accounts use, with the strongest claim of each and whether it may use one of their
-- purchases, for operators to review. Filter by environment.
create view shared_account as
select claimant.environment, claimant.bundle_id, claimant.customer, claimant.app_account_token, claimant.evidence, claimant.since,
    claimant.signed_at, served.app_account_token is not null as is_entitled
from (
    select claim.environment, claim.bundle_id, owned.customer, claim.app_account_token, min(claim.evidence) as evidence,
        (array_agg(claim.since order by claim.evidence, claim.since))[1] as since,
        (array_agg(claim.signed_at order by claim.evidence, claim.since, claim.signed_at desc))[1] as signed_at,
        count(*) over (partition by claim.environment, claim.bundle_id, owned.customer) as accounts
    from account_claim claim
    join customer_purchase owned using (environment, bundle_id, original_transaction_id)
    where claim.evidence <> 'old'
    group by claim.environment, claim.bundle_id, owned.customer, claim.app_account_token
) as claimant
left join (
    select distinct held.environment, held.bundle_id, owned.customer, held.app_account_token
    from purchase_account held
    join customer_purchase owned using (environment, bundle_id, original_transaction_id)
    where held.may_use
) as served using (environment, bundle_id, customer, app_account_token)
where claimant.accounts > 1;

-- The access periods of each account of an app. In SQL: select product_id, reason, until from account_access where
-- app_account_token = $1 and bundle_id = $2 and environment = 'Production' and now() <@ period. All look-ups are by index: offset 0
-- makes the planner look up periods by purchase even without statistics.
create view account_access as
select held.app_account_token, access.period, access.notification_uuid, held.environment, held.original_transaction_id,
    held.bundle_id, access.product_id, access.reason, access.transaction_id, access.until
from purchase_account held
cross join lateral (
    select *
    from access
    where environment = held.environment and original_transaction_id = held.original_transaction_id
    offset 0
) as access
where held.may_use and access.bundle_id = held.bundle_id;
