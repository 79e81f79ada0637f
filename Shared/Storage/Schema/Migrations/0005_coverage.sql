-- Coverage: the days for which the ledger is complete, and the windows of Apple's notification history that are fetched,
-- compared with the ledger, and closed when every notification in them is in the ledger or rejected.

-- The progress of each kind of completeness check, per app and environment.
create table coverage (
    begins_at timestamptz not null, -- the scheduler checks nothing before it
    planned_until timestamptz not null, -- end of the time with windows; moved by compare-and-set, which fences planners
    complete_until timestamptz not null, -- end of the time for which windows were closed
    environment store_environment not null,
    bundle_id text not null,
    -- failures: notifications that Apple could not deliver. sweep: all that Apple lists, by whole days. heartbeats: when
    -- ingest was alive.
    kind text not null check (kind in ('failures', 'sweep', 'heartbeats')),
    primary key (environment, bundle_id, kind)
) with (fillfactor = 50);

-- A span of Apple's notification history to be fetched: the first attempts between from_at and to_at.
--
-- open: waiting to be fetched, or being fetched by its holder. fetched: all pages are in Kafka. closed: every listed
-- notification is in the ledger or rejected. failed: it cannot be fetched; last_error says why and what to do.
-- A long window is divided: its subwindows are rows of their own, and it closes with the last of them.
create table recovery_window (
    from_at timestamptz not null,
    to_at timestamptz not null,
    start_at timestamptz not null, -- actual start of the request: later than from_at after a clip or a restart
    compared_from timestamptz, -- Apple no longer listed what is before it; null where all of the window was compared
    created_at timestamptz not null,
    reached_at timestamptz, -- first attempt of the last notification of the last page
    held_until timestamptz, -- the lease, by the clock of the database
    not_before timestamptz, -- pause after a failure, by the clock of the database
    fetched_at timestamptz,
    closed_at timestamptz,
    next_page bigint not null default -1, -- a number is never used twice: a process that takes over skips one
    pages bigint not null default 0, -- fetched and published to Kafka
    fetched bigint not null default 0, -- notifications on these pages, duplicates included
    listed bigint not null default 0, -- distinct notifications: present + missing + unreadable
    present bigint not null default 0, -- the ledger held them
    missing bigint not null default 0, -- the ledger lacked them: recovered + rejected + still missing
    recovered bigint not null default 0, -- in the ledger now
    rejected bigint not null default 0, -- the pipeline rejected them
    unreadable bigint not null default 0, -- without a readable uuid
    id uuid primary key,
    part_of uuid references recovery_window (id) on delete cascade,
    holder uuid,
    priority integer not null, -- higher goes first
    subwindows integer not null default 0, -- number of subwindows; 0: fetched itself
    attempts integer not null default 0, -- how often it was claimed
    failures integer not null default 0, -- consecutive failures
    restarts integer not null default 0, -- because Apple's page token had expired
    environment store_environment not null,
    only_failures boolean not null,
    bundle_id text not null,
    reason text not null check (reason in ('failures', 'sweep', 'outage', 'canary', 'manual')),
    state text not null default 'open' check (state in ('open', 'fetched', 'closed', 'failed')),
    notification_type text,
    subtype text, -- Apple takes a type without a subtype for "those without a subtype"
    page_token text,
    last_error text,
    check (from_at < to_at),
    check (subtype is null or notification_type is not null)
) with (fillfactor = 70); -- updated with every page
create index recovery_window_to_fetch on recovery_window (priority desc, created_at, from_at)
    where state = 'open' and subwindows = 0;
create index recovery_window_unsettled on recovery_window (environment, bundle_id, from_at)
    where state in ('open', 'fetched');
create index recovery_window_failures on recovery_window (environment, bundle_id, created_at)
    where reason = 'failures' and part_of is null;
create index recovery_window_parts on recovery_window (part_of) where part_of is not null;
create index recovery_window_by_time on recovery_window (created_at);

-- The messages of a window in Kafka, and whether recovery has compared them with the ledger. Deleted when the window closes.
-- A message may be seen before it is listed; one of a killed process may be seen and never listed.
create table recovery_page (
    page bigint not null,
    part bigint not null,
    window_id uuid not null references recovery_window (id) on delete cascade,
    is_listed boolean not null,
    is_seen boolean not null,
    primary key (window_id, page, part)
);

-- For auditors: the result of the sweep of each day (UTC, by Apple's first attempt), and when the day was complete.
create table coverage_day (
    planned_at timestamptz not null,
    completed_at timestamptz, -- since then every notification of this day is in the ledger or rejected
    listed bigint not null default 0,
    missing bigint not null default 0, -- at the time of the sweep
    recovered bigint not null default 0,
    rejected bigint not null default 0,
    unreadable bigint not null default 0,
    still_missing bigint not null default 0, -- at least 1 while a sweep that proved nothing is repeated
    window_id uuid not null, -- the latest sweep; its row may be deleted
    day date not null,
    environment store_environment not null,
    bundle_id text not null,
    given_up text, -- why the day cannot become complete any more, and what to do
    primary key (environment, bundle_id, day)
);
create index coverage_day_incomplete on coverage_day (environment, bundle_id, day) where completed_at is null;

-- Test notifications that the scheduler requested, and whether they reached the ledger.
create table canary (
    requested_at timestamptz not null,
    attempted_at timestamptz, -- Apple's first attempt, by Apple's clock
    arrived_at timestamptz, -- recorded in the ledger
    settled_at timestamptz,
    notification_uuid uuid, -- null until Apple has sent it
    environment store_environment not null,
    bundle_id text not null,
    token text not null, -- Apple's testNotificationToken
    attempt_result text, -- Apple's sendAttemptResult of the last attempt
    -- arrived; lost: ingest answered 200 and the ledger lacks it; unreached: Apple could not deliver it; unsent: Apple did
    -- not try in time.
    outcome text check (outcome in ('arrived', 'lost', 'unreached', 'unsent')),
    primary key (environment, bundle_id, token),
    check ((outcome is null) = (settled_at is null))
);
create index canary_unsettled on canary (requested_at) where settled_at is null;
create index canary_by_time on canary (requested_at);

-- Purchases whose period has ended, or is about to, without a notification. One recovery request before and one after the end
-- of each period. An outbox.
create table overdue_inquiry (
    due_at timestamptz not null, -- end of the period, by Apple's clock
    noticed_at timestamptz not null,
    published_at timestamptz,
    notification_uuid uuid not null, -- the last one of the purchase
    signed_at timestamptz not null, -- of it
    environment store_environment not null,
    before_end boolean not null, -- requested before that end
    original_transaction_id text not null,
    bundle_id text not null,
    primary key (environment, original_transaction_id, due_at, before_end)
);
create index overdue_inquiry_unpublished on overdue_inquiry (noticed_at) where published_at is null;
