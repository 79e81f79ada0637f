-- What is proven to be complete, and the work that proves it: windows of Apple's notification history that are fetched,
-- compared with the ledger, and closed when everything in them is accounted for.

-- How far each kind of proof has come, per app and environment.
create table coverage (
    begins_at timestamptz not null, -- nothing before it is asked for unasked
    planned_until timestamptz not null, -- windows were made up to here; moved by compare-and-set, which fences planners
    proven_until timestamptz not null, -- and closed up to here
    environment store_environment not null,
    bundle_id text not null,
    -- failures: what Apple could not deliver. sweep: everything Apple lists, by whole days. heartbeats: when ingest was
    -- there to answer.
    kind text not null check (kind in ('failures', 'sweep', 'heartbeats')),
    primary key (environment, bundle_id, kind)
) with (fillfactor = 50);

-- A stretch of Apple's notification history to be fetched: the first attempts between from_at and to_at.
--
-- open: to be fetched, or being fetched by its holder. fetched: all pages are on the log. closed: all that was listed is in
-- the ledger or refused by name. failed: Apple will not tell; last_error says why and what helps.
-- A long one is divided: its parts are rows of their own, and it closes with the last of them.
create table recovery_window (
    from_at timestamptz not null,
    to_at timestamptz not null,
    start_at timestamptz not null, -- Apple is asked from here on: later than from_at after a clip or a restart
    created_at timestamptz not null,
    reached_at timestamptz, -- first attempt of the last notification of the last page
    held_until timestamptz, -- the lease, by the clock of the database
    not_before timestamptz, -- after a setback, by the clock of the database
    fetched_at timestamptz,
    closed_at timestamptz,
    next_page bigint not null default -1, -- a number is never used twice: who takes over leaves a gap
    pages bigint not null default 0, -- fetched and on the log
    fetched bigint not null default 0, -- notifications on these pages, repetitions included
    listed bigint not null default 0, -- different notifications: present + missing + unreadable
    present bigint not null default 0, -- the ledger had them
    missing bigint not null default 0, -- the ledger lacked them: recovered + refused + still missing
    recovered bigint not null default 0, -- in the ledger now
    refused bigint not null default 0, -- the line put them aside, with a reason
    unreadable bigint not null default 0, -- without a uuid one could look for
    id uuid primary key,
    part_of uuid references recovery_window (id) on delete cascade,
    holder uuid,
    priority integer not null, -- higher goes first
    parts integer not null default 0, -- 0: fetched itself; otherwise divided
    attempts integer not null default 0, -- how often it was claimed
    setbacks integer not null default 0, -- in a row
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
    where state = 'open' and parts = 0;
create index recovery_window_unsettled on recovery_window (environment, bundle_id, from_at)
    where state in ('open', 'fetched');
create index recovery_window_failures on recovery_window (environment, bundle_id, created_at)
    where reason = 'failures' and part_of is null;
create index recovery_window_parts on recovery_window (part_of) where part_of is not null;
create index recovery_window_by_time on recovery_window (created_at);

-- Which messages of a window are on the log, and which of them were compared with the ledger. Only until the window closes.
-- A message may be seen before it is listed, and one that a killed process had on its way is seen and never listed.
create table recovery_page (
    page bigint not null,
    part bigint not null,
    window_id uuid not null references recovery_window (id) on delete cascade,
    is_listed boolean not null,
    is_seen boolean not null,
    primary key (window_id, page, part)
);

-- The auditor's table: what the sweep of each day (UTC, by Apple's first attempt) found, and when the day was proven.
create table coverage_day (
    planned_at timestamptz not null,
    proven_at timestamptz, -- since then everything Apple lists of this day is in the ledger or refused by name
    listed bigint not null default 0,
    missing bigint not null default 0, -- when the sweep looked
    recovered bigint not null default 0,
    refused bigint not null default 0,
    unreadable bigint not null default 0,
    still_missing bigint not null default 0, -- at least 1 while a sweep that proved nothing is repeated
    window_id uuid not null, -- the latest sweep; its row may be gone
    day date not null,
    environment store_environment not null,
    bundle_id text not null,
    given_up text, -- why the day cannot be proven any more, and what helps
    primary key (environment, bundle_id, day)
);
create index coverage_day_unproven on coverage_day (environment, bundle_id, day) where proven_at is null;

-- Test notifications: does what Apple sends reach the ledger?
create table canary (
    requested_at timestamptz not null,
    attempted_at timestamptz, -- Apple's first attempt, by Apple's clock
    arrived_at timestamptz, -- recorded in the ledger
    settled_at timestamptz,
    notification_uuid uuid, -- known once Apple has sent it
    environment store_environment not null,
    bundle_id text not null,
    token text not null, -- Apple's, for asking about it
    attempt_result text, -- Apple's word for its last attempt
    -- arrived; lost: Apple had our 200 and the ledger lacks it; unreached: Apple could not deliver it; unsent: Apple did not
    -- try in time.
    outcome text check (outcome in ('arrived', 'lost', 'unreached', 'unsent')),
    primary key (environment, bundle_id, token),
    check ((outcome is null) = (settled_at is null))
);
create index canary_unsettled on canary (requested_at) where settled_at is null;
create index canary_by_time on canary (requested_at);

-- Purchases whose time passed, or is about to, and of which nothing was heard. Asked about once before and once after a
-- purchase's time. An outbox.
create table overdue_inquiry (
    due_at timestamptz not null, -- the time that passes, by Apple's clock
    noticed_at timestamptz not null,
    published_at timestamptz,
    notification_uuid uuid not null, -- the last that was heard
    signed_at timestamptz not null, -- of it
    environment store_environment not null,
    before_end boolean not null, -- asked before that time
    original_transaction_id text not null,
    bundle_id text not null,
    primary key (environment, original_transaction_id, due_at, before_end)
);
create index overdue_inquiry_unpublished on overdue_inquiry (noticed_at) where published_at is null;
