-- What the state machine needs beyond the newest facts: marks, the steps of each life with what was skipped between them,
-- and the fields of Apple's that came later. State read back from here equals the state in memory.

alter table transaction
    add column news_at timestamptz, -- the signed date of the notification: breaks a tie of two versions signed at once
    add column transaction_reason text,
    add column offer_discount_type text,
    add column revocation_type text,
    add column app_transaction_id text, -- Apple's id of the customer within the app
    add column web_order_line_item_id text,
    add column previous_original_transaction_id text;
update transaction set news_at = coalesce(
    (select n.signed_at from notification n where n.notification_uuid = transaction.notification_uuid), signed_at);
alter table transaction alter column news_at set not null;
create index transaction_by_customer on transaction (environment, bundle_id, app_transaction_id)
    where app_transaction_id is not null;

alter table subscription
    add column transaction_reason text,
    add column offer_discount_type text,
    add column revocation_type text,
    add column app_transaction_id text,
    add column web_order_line_item_id text,
    add column previous_original_transaction_id text,
    add column renewal_product_id text,
    add column renewal_price_milliunits bigint,
    add column renewal_currency text,
    add column renewal_offer_type bigint,
    add column renewal_offer_id text;

-- Events, anomalies and apps of each purchase, of each name the newest. Written without looking.
create table mark (
    news_at timestamptz not null,
    notification_uuid uuid not null,
    environment store_environment not null,
    original_transaction_id text not null,
    kind text not null check (kind in ('event', 'anomaly', 'app')),
    name text not null,
    transaction_id text, -- which the news held
    primary key (environment, original_transaction_id, kind, name)
) with (fillfactor = 80);
-- For the list of what is doubtful.
create index mark_anomalies on mark (environment, name, news_at) where kind = 'anomaly';

-- The life of each purchase, step by step in Apple's order: what the question for skipped steps and the views on
-- cancellations read. Apart from the ledger, because the ledger is deleted by age and a life is not.
create table step (
    news_at timestamptz not null,
    purchased_at timestamptz,
    expires_at timestamptz,
    status bigint,
    notification_uuid uuid not null,
    environment store_environment not null,
    is_auto_renewing boolean,
    is_in_billing_retry boolean,
    original_transaction_id text not null,
    notification_type text not null,
    subtype text,
    transaction_id text, -- null where the news held no transaction
    primary key (environment, original_transaction_id, news_at, notification_uuid) -- finds neighbours both ways
);

-- What nobody told. A row goes when the missing notification comes.
create table skipped_step (
    noticed_at timestamptz not null, -- by our clock
    from_at timestamptz, -- it must have happened between these, by Apple's clock
    to_at timestamptz not null,
    after_uuid uuid,
    before_uuid uuid not null,
    environment store_environment not null,
    original_transaction_id text not null,
    bundle_id text not null,
    kind text not null,
    primary key (environment, original_transaction_id, before_uuid, kind)
);

-- One request per purchase and gap, whatever becomes of the gap, so that nobody asks Apple twice. An outbox.
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
    reason text not null, -- the kinds of steps, by comma
    unique (environment, original_transaction_id, before_uuid)
);
create index recovery_request_unpublished on recovery_request (id) where published_at is null;

-- What else came under a uuid that the ledger has: Apple gives no uuid twice, so each of these wants explaining.
create table conflicting_notification (
    recorded_at timestamptz not null,
    notification_uuid uuid not null,
    digest bytea not null, -- SHA-256 of decoded
    decoded json not null,
    signed_original bytea not null, -- as it came
    primary key (notification_uuid, digest)
);

-- Who publishes. One at a time, so that the changes of a purchase stay in order; a lease, so that a dead one is replaced.
create table lease (
    held_until timestamptz not null,
    holder uuid not null,
    name text primary key
) with (fillfactor = 50);
