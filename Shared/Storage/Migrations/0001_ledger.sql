-- What the workers need: where they stand, what they saw, what they learned.
--
-- Columns are ordered by alignment (8 bytes, 16-byte uuid, 4 bytes, 1 byte, variable), because ledger and sightings are
-- meant to hold tens of millions of rows and every gap is paid that often.

-- Apple's spelling. 4 bytes in a row, and a key can hold nothing else.
create type store_environment as enum ('Production', 'Sandbox', 'Xcode', 'LocalTesting');

-- Where a consumer group goes on in a partition. The one transaction moves it by compare-and-set, which fences a worker
-- whose partition has moved on. The cluster is part of the key, because offsets of another cluster mean nothing.
create table consumer_position (
    next_offset bigint not null,
    partition integer not null,
    cluster text not null,
    consumer_group text not null,
    topic text not null,
    primary key (cluster, consumer_group, topic, partition)
) with (fillfactor = 50); -- updated with every batch: leaves room to do it in place

-- The deduplicator's filter: who saw a notification first. Not the correctness boundary, that is notification's key;
-- rows may be deleted once Apple no longer repeats (157 hours).
create table sighting (
    seen_at timestamptz not null,
    log_offset bigint not null,
    notification_uuid uuid primary key,
    log_partition integer not null,
    topic text not null
);
-- For deletion by age. Arrival and age go together, so a block index is enough and costs next to nothing.
create index sighting_seen_at on sighting using brin (seen_at);

-- Header segments of signed data. All notifications of some months share one, and it is 85 % of each.
create table certificate_chain (
    digest bytea primary key check (length(digest) = 32), -- SHA-256 of header
    header bytea not null
);

-- The ledger: every proven notification, once. Not partitioned: partitions by time could not keep the uuid unique by
-- themselves; if deletion of old rows ever hurts, partition by hash of the uuid.
create table notification (
    signed_at timestamptz, -- by Apple's clock; the only order there is
    received_at timestamptz not null,
    recorded_at timestamptz not null,
    app_apple_id bigint,
    log_offset bigint not null,
    notification_uuid uuid primary key,
    environment store_environment not null,
    log_partition integer not null,
    content_conflicts integer not null default 0, -- how often the same uuid came with other content; the first stays
    has_advanced boolean not null, -- false: something newer was known already, this is history only
    source text not null check (source in ('webhook', 'history', 'replay', 'upload')),
    notification_type text not null,
    subtype text,
    bundle_id text not null,
    original_transaction_id text,
    transaction_id text,
    decoded json not null, -- not jsonb, which refuses some valid documents and forgets the original spelling
    signed_original bytea not null, -- see SignedOriginal; together with chains it restores every byte
    chains bytea[] not null -- digests into certificate_chain
);
-- Compress from 1 KB on and in place: almost every row is read and written as a whole.
alter table notification alter column decoded set storage main;
alter table notification alter column signed_original set storage main;
alter table notification set (toast_tuple_target = 1024);
create index notification_by_purchase on notification (environment, original_transaction_id, signed_at);
create index notification_by_time on notification (recorded_at);

-- The latest signed version of each transaction.
create table transaction (
    signed_at timestamptz not null,
    purchased_at timestamptz,
    originally_purchased_at timestamptz,
    expires_at timestamptz,
    revoked_at timestamptz,
    quantity bigint,
    revocation_reason bigint,
    offer_type bigint,
    price_milliunits bigint, -- thousandths of a unit of currency
    notification_uuid uuid not null, -- where this version came from
    environment store_environment not null,
    is_upgraded boolean not null,
    transaction_id text not null,
    original_transaction_id text not null,
    bundle_id text not null,
    product_id text not null,
    product_type text not null,
    subscription_group_id text,
    app_account_token text,
    ownership text,
    offer_id text,
    currency text,
    primary key (environment, transaction_id)
) with (fillfactor = 90);
create index transaction_by_purchase on transaction (environment, original_transaction_id);
create index transaction_by_account on transaction (app_account_token) where app_account_token is not null;

-- The newest facts of each subscription or one-time purchase. Entitlement is computed from them when somebody asks.
create table subscription (
    -- Stamps: the news that the row as a whole and each of its parts came from, by Apple's clock and uuid.
    signed_at timestamptz not null,
    status_news_at timestamptz,
    transaction_news_at timestamptz,
    renewal_news_at timestamptz,
    revision bigint not null, -- how often the row was written; a writer names the one it has read
    status bigint,
    -- of the newest transaction
    transaction_signed_at timestamptz,
    purchased_at timestamptz,
    originally_purchased_at timestamptz,
    expires_at timestamptz,
    revoked_at timestamptz,
    quantity bigint,
    revocation_reason bigint,
    offer_type bigint,
    price_milliunits bigint,
    -- of the newest renewal info
    renewal_signed_at timestamptz,
    grace_period_expires_at timestamptz,
    recent_start_at timestamptz,
    renewal_at timestamptz,
    expiration_intent bigint,
    price_increase_status bigint,
    notification_uuid uuid not null,
    status_news_uuid uuid,
    transaction_news_uuid uuid,
    renewal_news_uuid uuid,
    environment store_environment not null,
    is_upgraded boolean,
    is_auto_renewing boolean,
    is_in_billing_retry boolean,
    original_transaction_id text not null,
    bundle_id text not null,
    transaction_id text,
    product_id text,
    product_type text,
    subscription_group_id text,
    app_account_token text,
    ownership text,
    offer_id text,
    currency text,
    auto_renew_product_id text,
    primary key (environment, original_transaction_id),
    -- A part is there with its stamp or not at all.
    check (num_nulls(status, status_news_at, status_news_uuid) in (0, 3)),
    check (num_nulls(transaction_signed_at, transaction_id, transaction_news_at, transaction_news_uuid) in (0, 4)),
    check (num_nulls(renewal_signed_at, renewal_news_at, renewal_news_uuid) in (0, 3))
) with (fillfactor = 80); -- updated at every renewal
create index subscription_by_account on subscription (app_account_token) where app_account_token is not null;

-- One row per change. It is the outbox too: published_at is set once the change is on the log.
create table timeline (
    id bigint generated always as identity primary key, -- does not commit in order
    occurred_at timestamptz not null, -- by Apple's clock
    learned_at timestamptz not null, -- by ours
    published_at timestamptz,
    notification_uuid uuid not null, -- why
    environment store_environment not null,
    original_transaction_id text not null,
    bundle_id text not null,
    fact text not null,
    changed_from text,
    changed_to text
);
create index timeline_by_purchase on timeline (environment, original_transaction_id, id);
create index timeline_unpublished on timeline (id) where published_at is null;

-- Index of the dead letters, so that they can be searched without reading the topic.
create table rejected (
    rejected_at timestamptz not null,
    log_offset bigint not null,
    log_partition integer not null,
    cluster text not null,
    topic text not null,
    stage text not null,
    reason text not null,
    message text not null,
    primary key (cluster, topic, log_partition, log_offset)
);
create index rejected_by_time on rejected (rejected_at);

-- That a receiver was alive in a minute, and what it took and refused. Missing minutes are outages.
create table ingest_heartbeat (
    minute timestamptz not null,
    accepted bigint not null,
    refused bigint not null,
    instance text not null,
    primary key (instance, minute)
);
create index ingest_heartbeat_by_minute on ingest_heartbeat (minute);
