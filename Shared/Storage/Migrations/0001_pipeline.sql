-- What the workers of the pipeline share: positions in Kafka, the deduplicator's filter, leases, the index of dead letters,
-- heartbeats of ingest, and the audit log of operators.
--
-- Columns are ordered by alignment (8 bytes, 16-byte uuid, 4 bytes, 1 byte, variable), because some tables hold tens of
-- millions of rows and every gap is paid that often.

-- For the exclusion constraint of access_period. A trusted extension: whoever may create objects in the database may add it.
create extension if not exists btree_gist;

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

-- The deduplicator's filter: which record of Kafka brought a notification first. Not the correctness boundary, that is the
-- key of notification; rows may be deleted once Apple no longer repeats (157 hours).
create table seen_notification (
    seen_at timestamptz not null,
    log_offset bigint not null,
    content bigint, -- a digest: a uuid that comes with other content is no copy, and the ledger wants to see it
    notification_uuid uuid primary key,
    log_partition integer not null,
    topic text not null
);
-- Deleted oldest first, in portions. Arrival and age go together: a batch is one entry at the right edge.
create index seen_notification_by_time on seen_notification (seen_at);

-- Which process does what only one may do at a time, such as publishing: a lease, so that a dead process is replaced.
create table lease (
    held_until timestamptz not null,
    holder uuid not null,
    name text primary key
) with (fillfactor = 50);

-- Index of the dead letters, so that they can be searched without reading the topic. What a dead letter claims is written
-- as far as it can be read: anybody can write any of it, except for the columns that come from our own headers.
create table rejected (
    rejected_at timestamptz not null,
    log_offset bigint not null,
    received_at timestamptz, -- from our header
    notification_uuid uuid,
    log_partition integer not null,
    cluster text not null,
    topic text not null,
    stage text not null,
    reason text not null,
    message text not null,
    environment text,
    bundle_id text,
    source text, -- from our header
    primary key (cluster, topic, log_partition, log_offset),
    -- Anybody can write these; recovery cuts them.
    constraint rejected_texts_are_short check (
        octet_length(stage) <= 512 and octet_length(reason) <= 512 and octet_length(message) <= 512
        and octet_length(environment) <= 512 and octet_length(bundle_id) <= 512)
);
create index rejected_by_time on rejected (rejected_at);
create index rejected_by_notification on rejected (notification_uuid) where notification_uuid is not null;

-- That an instance of ingest was alive in a minute, what it accepted and what it refused. Missing minutes are outages.
create table ingest_heartbeat (
    minute timestamptz not null,
    accepted bigint not null,
    refused bigint not null,
    unavailable bigint not null default 0, -- answers of 500 and above: Apple sends those again, or lists them as failures
    instance text not null,
    primary key (instance, minute)
);
create index ingest_heartbeat_by_minute on ingest_heartbeat (minute);

-- The audit log: who did what by hand, when, to what, and why. Rows are added, never changed. A dead letter's resolution is
-- read from it.
create table operator_action (
    id bigint generated always as identity primary key,
    acted_at timestamptz not null,
    actor text not null, -- as the operating system knows the person, or as they called themselves
    action text not null, -- the command, such as rejected.resolve
    subject text not null, -- what it was done to; for a dead letter cluster/partition/offset
    note text -- why, in the person's words
);
create index operator_action_by_subject on operator_action (subject, id);
create index operator_action_by_time on operator_action (acted_at);
