-- State derived from the ledger, purchase by purchase: newest facts, access, anomalies, gaps, and the timeline, which is the
-- outbox of subscriptions.changed. `storekeeper rebuild` computes all of it again from the ledger.

-- The latest signed version of each transaction.
create table transaction (
    signed_at timestamptz not null,
    event_at timestamptz not null, -- of the event that held it: orders two versions with the same signed date
    purchased_at timestamptz,
    originally_purchased_at timestamptz,
    expires_at timestamptz,
    revoked_at timestamptz,
    quantity bigint,
    revocation_reason bigint,
    revocation_percentage bigint, -- thousandths of a per cent, as Apple counts
    revoked_seat_quantity bigint,
    offer_type bigint,
    price_milliunits bigint, -- thousandths of a unit of currency
    notification_uuid uuid not null, -- of the event that held it
    app_account_token uuid,
    environment store_environment not null,
    is_upgraded boolean not null,
    transaction_id text not null,
    original_transaction_id text not null,
    bundle_id text not null, -- of the notification
    product_id text not null,
    product_type text not null,
    subscription_group_id text,
    ownership text,
    offer_id text,
    offer_period text,
    offer_discount_type text,
    currency text,
    storefront text,
    transaction_reason text,
    additional_transaction_reason text,
    revocation_type text,
    app_transaction_id text, -- Apple's id of the customer within the app
    web_order_line_item_id text,
    previous_original_transaction_id text,
    billing_plan_type text,
    commitment_info json, -- as received
    multi_seat_info json, -- as received
    item_refunds json, -- of Advanced Commerce: [[milliseconds since 1970, thousandths of a unit of currency]]
    primary key (environment, transaction_id)
) with (fillfactor = 90);
-- Not the environment first, because a table of some hundred rows is not analyzed yet: to the planner, an index that begins with the
-- environment then looks as good as the primary key where a transaction is looked up, and is read whole.
create index transaction_by_purchase on transaction (original_transaction_id, environment);
-- The transactions that replaced a purchase by a migration.
create index transaction_by_previous on transaction (environment, previous_original_transaction_id)
    where previous_original_transaction_id is not null;
-- The same for the view purchase_owner, by the purchase that replaced it and by the name that it gives to both.
create index transaction_by_migrated on transaction (environment, original_transaction_id)
    where previous_original_transaction_id is not null;
create index transaction_by_origin on transaction (('purchase:' || previous_original_transaction_id), environment, bundle_id)
    where previous_original_transaction_id is not null;
-- The products that an app has sold, one look-up each. Not the environment first, for the same reason.
create index transaction_by_product on transaction (bundle_id, environment, product_id);
-- Purchases whose access ends by the duration of their product; see the table product.
create index transaction_by_duration on transaction (bundle_id, product_id, environment, original_transaction_id)
    where product_type = 'Non-Renewing Subscription' and expires_at is null;

-- The newest facts of each subscription or one-time purchase. Status, transaction, renewal info and app each carry the version
-- (signed date and uuid) of the event they came from.
create table subscription (
    signed_at timestamptz not null, -- of the newest event of any type
    status_event_at timestamptz,
    transaction_event_at timestamptz,
    renewal_event_at timestamptz,
    bundle_event_at timestamptz, -- of the oldest event, whose app the purchase belongs to
    revision bigint not null, -- how often the row was written; an update names the revision that was read
    status bigint, -- Apple's: 1 active, 2 expired, 3 billing retry, 4 grace period, 5 revoked
    -- of the newest transaction
    transaction_signed_at timestamptz,
    purchased_at timestamptz,
    originally_purchased_at timestamptz,
    expires_at timestamptz,
    revoked_at timestamptz,
    quantity bigint,
    revocation_reason bigint,
    revocation_percentage bigint,
    revoked_seat_quantity bigint,
    offer_type bigint,
    price_milliunits bigint,
    -- of the newest renewal info
    renewal_signed_at timestamptz,
    grace_period_expires_at timestamptz,
    recent_start_at timestamptz,
    renewal_at timestamptz,
    expiration_intent bigint,
    price_increase_status bigint,
    renewal_price_milliunits bigint,
    renewal_offer_type bigint,
    notification_uuid uuid not null,
    status_event_uuid uuid,
    transaction_event_uuid uuid,
    renewal_event_uuid uuid,
    bundle_event_uuid uuid,
    unexplained_status_uuid uuid, -- the notification whose status the known transactions do not explain
    app_account_token uuid,
    renewal_app_account_token uuid,
    owner_account_token uuid, -- the account of the app that owns the purchase, by the payload signed last
    environment store_environment not null,
    is_upgraded boolean,
    is_auto_renewing boolean,
    is_in_billing_retry boolean,
    original_transaction_id text not null,
    bundle_id text not null,
    status_transaction_id text, -- the transaction in the event with the status
    transaction_id text,
    product_id text,
    product_type text,
    subscription_group_id text,
    ownership text,
    offer_id text,
    offer_period text,
    offer_discount_type text,
    currency text,
    storefront text,
    transaction_reason text,
    additional_transaction_reason text,
    revocation_type text,
    app_transaction_id text,
    web_order_line_item_id text,
    previous_original_transaction_id text,
    billing_plan_type text,
    commitment_info json,
    multi_seat_info json,
    item_refunds json,
    auto_renew_product_id text,
    renewal_product_id text,
    renewal_currency text,
    renewal_offer_id text,
    renewal_offer_period text,
    renewal_commitment_info json,
    renewal_billing_plan_type text,
    eligible_win_back_offer_ids json,
    grace_periods json, -- those that Apple granted, also past ones, and when Apple denied one; see access_period
    primary key (environment, original_transaction_id),
    -- Each of them is set together with its version.
    check (num_nulls(status, status_event_at, status_event_uuid) in (0, 3)),
    check (num_nulls(transaction_signed_at, transaction_id, transaction_event_at, transaction_event_uuid) in (0, 4)),
    check (num_nulls(renewal_signed_at, renewal_event_at, renewal_event_uuid) in (0, 3)),
    check (num_nulls(bundle_event_at, bundle_event_uuid) in (0, 2)) -- null: as old as the newest
) with (fillfactor = 80); -- updated at every renewal
create index subscription_by_owner on subscription (owner_account_token, environment, bundle_id)
    where owner_account_token is not null;
-- Finds purchases by an account that only their renewal info names: almost none.
create index subscription_by_renewal_account on subscription (renewal_app_account_token)
    where renewal_app_account_token is distinct from owner_account_token;
create index subscription_by_customer on subscription (app_transaction_id, environment, bundle_id)
    where app_transaction_id is not null;
-- Active, in billing retry, in grace period: those whose state changes by the clock alone.
create index subscription_by_expiry on subscription (environment, bundle_id, status, expires_at)
    where status in (1, 3, 4);

-- The access periods of each purchase. AccessSchedule computes them from the facts above whenever one of those changes; nothing
-- else writes them. Access at a moment is the period that contains it.
create table access_period (
    period tstzrange not null check (not isempty(period) and not lower_inf(period)), -- no upper bound: access has no end
    notification_uuid uuid, -- the one that decided; null: the transaction did, see transaction.notification_uuid
    environment store_environment not null,
    original_transaction_id text not null,
    bundle_id text not null,
    product_id text not null,
    reason text not null,
    transaction_id text, -- null: Apple's status grants access, and no known transaction explains it
    -- Two hashes of the purchase instead of its text, because GiST indexes of text are slow.
    constraint access_period_overlap exclude using gist (
        hashtextextended(original_transaction_id, 0) with =, hashtextextended(original_transaction_id, 1) with =,
        environment with =, period with &&)
) with (fillfactor = 90); -- a later notification often confirms the same period: an update without new index entries
-- In time order, so that the view access sorts nothing.
create index access_period_by_purchase on access_period (environment, original_transaction_id, lower(period));
-- The next moment at which access changes by the clock alone.
create index access_period_by_start on access_period (lower(period));
create index access_period_by_end on access_period (upper(period)) where not upper_inf(period);
-- Grace periods that run: few of all periods.
create index access_period_in_grace on access_period (environment, upper(period)) where reason = 'gracePeriod';
-- Purchases of products whose duration an operator has to set.
create index access_period_without_duration on access_period (bundle_id, product_id) where reason = 'durationUnknown';

-- The access periods with the first moment at which the purchase no longer gives the product, whatever the reasons: periods of one
-- product that adjoin count as one. Null: no such moment is known.
create view access as
select period, notification_uuid, environment, original_transaction_id, bundle_id, product_id, reason, transaction_id,
    min(upper(period)) filter (where is_last) over (
        partition by environment, original_transaction_id order by starts_at
        rows between current row and unbounded following) as until
from (
    select *, lower(period) as starts_at,
        (lead(lower(period)) over later is distinct from upper(period)
            or lead(product_id) over later is distinct from product_id) as is_last
    from access_period
    window later as (partition by environment, original_transaction_id order by lower(period))
) as marked;

-- Anomalies in what Apple signed: the newest event of each purchase and kind. Rare.
create table anomaly (
    event_at timestamptz not null,
    notification_uuid uuid not null,
    environment store_environment not null,
    original_transaction_id text not null,
    name text not null,
    transaction_id text, -- of the transaction in the event
    primary key (environment, original_transaction_id, name)
) with (fillfactor = 80);
create index anomaly_by_name on anomaly (environment, name, event_at);

-- Lifecycle gaps: events that no notification reported. A row is deleted when the missing notification arrives.
create table lifecycle_gap (
    noticed_at timestamptz not null, -- by the clock of the state-updater
    from_at timestamptz, -- the missing event was between from_at and to_at, by Apple's clock
    to_at timestamptz not null,
    after_uuid uuid,
    before_uuid uuid not null,
    environment store_environment not null,
    original_transaction_id text not null,
    kind text not null,
    primary key (environment, original_transaction_id, before_uuid, kind)
);

-- One recovery request per purchase and gap, also after the gap is closed, so that Apple gets one request; and operators'
-- requests, whose before_uuid is an arbitrary id. An outbox.
create table recovery_request (
    id bigint generated always as identity primary key,
    requested_at timestamptz not null,
    published_at timestamptz,
    from_at timestamptz,
    to_at timestamptz not null,
    before_uuid uuid not null,
    environment store_environment not null,
    original_transaction_id text not null,
    bundle_id text not null,
    reason text not null, -- the kinds of gaps, separated by commas; refresh: an operator's or a backend's request
    unique (environment, original_transaction_id, before_uuid)
);
create index recovery_request_unpublished on recovery_request (id) where published_at is null;

-- One row per notification that changed something: the event, every change, and the state after it. It is the outbox of
-- subscriptions.changed too: published_at is set after Kafka has acknowledged the message.
create table timeline (
    id bigint generated always as identity primary key, -- rows do not commit in this order
    occurred_at timestamptz not null, -- by Apple's clock
    applied_at timestamptz not null, -- when it was applied, by the clock of the state-updater
    published_at timestamptz,
    revision bigint not null, -- of the purchase after it
    status bigint, -- the state after it
    access_until timestamptz, -- null with access: access has no end
    notification_uuid uuid not null, -- the notification that caused it
    environment store_environment not null,
    has_access boolean not null, -- at applied_at
    is_auto_renewing boolean,
    original_transaction_id text not null,
    bundle_id text not null,
    event text not null, -- Apple's type, or type/subtype
    product_id text,
    changes jsonb not null, -- [{"fact", "from", "to", "transactionId"}], without null values
    traceparent text -- W3C trace context of the notification; null once published
);
create index timeline_by_purchase on timeline (environment, original_transaction_id, id);
create index timeline_unpublished on timeline (id) where published_at is null;
-- Replays of webhooks select the changes of a time. Not a BRIN, which reads a fifth of the table for a day: every row is updated once
-- it is published, and later rows take the places of the versions before.
create index timeline_by_time on timeline (applied_at);
