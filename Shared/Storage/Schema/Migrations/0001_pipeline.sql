-- Tables that the pipeline's workers share: Kafka offsets, the deduplicator's filter, leases, the index of dead letters,
-- heartbeats of ingest, and the audit log of operators.
--
-- Columns are ordered by alignment (8 bytes, 16-byte uuid, 4 bytes, 1 byte, variable), because some tables hold tens of
-- millions of rows and padding costs disk space in each.

-- For the exclusion constraint of access_period. A trusted extension: any role that may create objects in the database may
-- create it.
create extension if not exists btree_gist;

-- Spelled as Apple spells them. An enum takes 4 bytes per row and rejects other values.
create type store_environment as enum ('Production', 'Sandbox', 'Xcode', 'LocalTesting');

-- The next offset of a consumer group in a partition. The transaction of a batch moves it by compare-and-set, which fences a
-- worker whose partition was reassigned. The cluster is part of the key, because offsets are valid in one cluster only. One row is
-- of a reader of access_period and no topic: up to which moment, in microseconds, state-updater has told of ended access.
create table consumer_position (
    next_offset bigint not null,
    partition integer not null,
    cluster text not null,
    consumer_group text not null,
    topic text not null,
    -- Digests of records before the offset, which show that the topic is still the one that was read; null where nothing was.
    evidence text,
    primary key (cluster, consumer_group, topic, partition)
) with (fillfactor = 50); -- updated with every batch: free space allows in-place updates

-- The deduplicator's filter: the Kafka record that delivered a notification first. Correctness depends on the key of
-- notification and not on this table; rows may be deleted after Apple's last retry (157 hours).
create table seen_notification (
    seen_at timestamptz not null,
    kafka_offset bigint not null,
    content bigint, -- a digest: a uuid with other content is no copy and goes to the ledger
    notification_uuid uuid primary key,
    kafka_partition integer not null,
    topic text not null
);
-- Rows are deleted oldest first, in batches. A batch of new rows is one entry at the right edge of the index.
create index seen_notification_by_time on seen_notification (seen_at);

-- Leases for work that one process at a time does, such as publishing; when a lease ends another process takes over.
create table lease (
    held_until timestamptz not null,
    holder uuid not null,
    name text primary key
) with (fillfactor = 50);

-- When the next question of a kind may be sent to Apple, whose limits count all processes of an app together. Not logged: after
-- a crash the table is empty, as after a pause.
create unlogged table apple_request_limit (
    next_at timestamptz not null, -- at even distances, by the clock of the database
    bundle_id text not null,
    environment text not null,
    endpoint text not null,
    primary key (bundle_id, environment, endpoint)
) with (fillfactor = 50);

-- Index of the dead letters, so that they can be searched without reading the topic. The fields of a payload are stored as far
-- as they can be read; they are unverified, because any client can post them. Two columns come from headers that ingest sets.
create table rejected (
    rejected_at timestamptz not null,
    kafka_offset bigint not null,
    received_at timestamptz, -- from a header that ingest sets
    notification_uuid uuid,
    kafka_partition integer not null,
    cluster text not null,
    topic text not null,
    stage text not null,
    reason text not null,
    message text not null,
    environment text,
    bundle_id text,
    source text, -- from a header that ingest sets
    build text, -- the release that rejected it, from our header
    -- With the time, because a topic that was deleted and created again has other dead letters at the same offsets.
    primary key (cluster, topic, kafka_partition, kafka_offset, rejected_at),
    -- Any client can post these texts; recovery truncates them.
    constraint rejected_texts_are_short check (
        octet_length(stage) <= 512 and octet_length(reason) <= 512 and octet_length(message) <= 512
        and octet_length(environment) <= 512 and octet_length(bundle_id) <= 512 and octet_length(build) <= 512)
);
create index rejected_by_time on rejected (rejected_at);
create index rejected_by_notification on rejected (notification_uuid) where notification_uuid is not null;

-- One row for each minute in which an instance of ingest was alive, with its answers. Missing minutes are outages.
create table ingest_heartbeat (
    minute timestamptz not null,
    accepted bigint not null,
    rejected bigint not null,
    unavailable bigint not null default 0, -- answers of 500 and above: Apple retries those notifications or lists them as failures
    is_last boolean not null default false, -- the instance ended, and was not killed
    instance text not null,
    primary key (instance, minute)
);
create index ingest_heartbeat_by_minute on ingest_heartbeat (minute);

-- The audit log: which operator ran which command, when, on which object, and why. Rows are added, and only an erasure changes
-- those of its account: by the columns, never by a search of texts in other apps' rows. The resolution of a dead letter is read
-- from it.
create table operator_action (
    id bigint generated always as identity primary key,
    acted_at timestamptz not null,
    app_account_token uuid, -- of the customer whom the action was about
    api_key_id uuid, -- null where a person acted
    environment store_environment, -- null where the action was not about one, nor about an app
    actor text not null, -- the person, or the API key by its name
    operation text not null, -- as the command is spelled, such as customers grant, in every face
    subject text not null, -- the object without its app; for a dead letter cluster/partition/offset
    reason text, -- in the words of the actor
    outcome text not null default 'done' check (outcome in ('requested', 'done', 'failed')), -- requested: Apple is asked next
    bundle_id text, -- null where the action was not about one app
    customer_id text, -- the developer's own id
    check (environment is not null or bundle_id is null),
    check (bundle_id is not null or (app_account_token is null and customer_id is null))
);
create index operator_action_by_subject on operator_action (subject, id);
create index operator_action_by_app on operator_action (environment, bundle_id) where bundle_id is not null;
create index operator_action_by_account on operator_action (app_account_token) where app_account_token is not null;
create index operator_action_by_time on operator_action (acted_at);

-- Which sessions of ours wait for locks, and the sessions that hold them. Its owner may read what other users run
-- (pg_read_all_stats); its callers learn of the sessions in their way and of nothing else.
create function blocked_sessions()
returns table (
    waiting_since timestamptz, since timestamptz, waiting integer, process integer, waiting_application text,
    waiting_statement text, user_name text, application text, statement text)
language sql stable security definer
set search_path from current
as $$
    select held.query_start, coalesce(other.xact_start, other.query_start), held.pid, blocking.pid, held.application_name,
        left(held.query, 200), other.usename::text, other.application_name, left(other.query, 200)
    from pg_stat_activity held
    cross join lateral unnest(pg_blocking_pids(held.pid)) as blocking (pid)
    left join pg_stat_activity other on other.pid = blocking.pid
    where held.datname = current_database() and held.application_name like 'storekeeper%'
    order by held.pid, blocking.pid
$$;

-- The transaction of the server that took its id before all others that run, in any database: the feed of events waits for its end, see
-- EventFeed. As blocked_sessions, it tells its callers of this one and of nothing else.
create function oldest_writer()
returns table (
    connected_at timestamptz, since timestamptz, process integer, user_name text, database_name text, application text,
    statement text, prepared text)
language sql stable security definer
set search_path from current
as $$
    select connected_at, since, process, user_name, database_name, application, statement, prepared
    from (
        select backend_start, xact_start, pid, usename::text, datname::text, application_name, left(query, 200), null, backend_xid
        from pg_stat_activity
        where backend_xid is not null and pid <> pg_backend_pid()
        union all
        select null, prepared, 0, owner::text, database::text, null, null, gid, transaction
        from pg_prepared_xacts
    ) as writer (
        connected_at, since, process, user_name, database_name, application, statement, prepared, transaction_id)
    order by age(transaction_id) desc
    limit 1
$$;
