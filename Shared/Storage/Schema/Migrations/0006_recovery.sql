-- Recovery's results of comparing Apple's history with the ledger.

-- The notifications of a window, each once however often Apple lists it. Uuid, type and subtype are unverified fields of the
-- payload. A window closes when none of its rows has the state published any more; present rows are deleted then, the others
-- stay as long as the window, as a record of the missing notifications and their outcome.
create table recovery_item (
    noticed_at timestamptz not null, -- when it was compared with the ledger; a published one has this arrival time
    settled_at timestamptz,
    window_id uuid not null references recovery_window (id) on delete cascade,
    notification_uuid uuid not null, -- derived from the bytes where the payload has none
    -- present: the ledger held it. published: it was missing, and recovery published it. arrived: in the ledger since.
    -- rejected: the pipeline rejected it. unreadable: it has no uuid and is a dead letter.
    state text not null check (state in ('present', 'published', 'arrived', 'rejected', 'unreadable')),
    notification_type text,
    subtype text,
    reason text, -- of a rejected or unreadable one
    message text,
    primary key (window_id, notification_uuid)
);
create index recovery_item_published on recovery_item (notification_uuid) where state = 'published';
create index recovery_item_present on recovery_item (window_id) where state = 'present';

-- Apple's send attempts of notifications that it did not deliver at once or that the ledger lacked.
create table send_attempt (
    attempted_at timestamptz not null, -- by Apple's clock
    notification_uuid uuid not null,
    environment store_environment not null,
    bundle_id text not null,
    result text not null, -- Apple's sendAttemptResult, raw
    primary key (notification_uuid, attempted_at)
);
create index send_attempt_by_time on send_attempt (attempted_at);

-- The histogram, by day (UTC).
create view send_attempt_result as
select environment, bundle_id, (attempted_at at time zone 'UTC')::date as day, result, count(*) as attempts,
    count(distinct notification_uuid) as notifications
from send_attempt
group by 1, 2, 3, 4;

-- Apple's revision of each customer's transaction history: the next response holds only new and changed transactions.
create table history_revision (
    asked_at timestamptz not null,
    environment store_environment not null,
    original_transaction_id text not null, -- of the request; the history is of the whole customer
    bundle_id text not null,
    revision text not null,
    primary key (environment, original_transaction_id)
);

-- The outcome of each request for one customer's history.
create table recovery_answer (
    answered_at timestamptz not null,
    notifications bigint not null default 0, -- that Apple listed
    missing bigint not null default 0, -- of them the ledger lacked
    signed_objects bigint not null default 0, -- transactions and renewal infos with new facts, which were published
    before_uuid uuid not null, -- as in the request
    environment store_environment not null,
    original_transaction_id text not null,
    bundle_id text not null,
    outcome text not null, -- answered, or why there is no answer
    message text,
    primary key (environment, original_transaction_id, before_uuid)
);
create index recovery_answer_by_time on recovery_answer (answered_at);

-- Requests for one customer that Apple has not answered yet: its rate limit was exceeded, it rejected a key, or it did not
-- answer. Recovery publishes them again when they are due, so that no other request waits behind them; a row is deleted when
-- its request is answered.
create table postponed_request (
    postponed_at timestamptz not null, -- the first time
    not_before timestamptz not null, -- by the clock of the database
    requested_at timestamptz not null,
    from_at timestamptz,
    to_at timestamptz not null,
    failures bigint not null,
    before_uuid uuid not null,
    environment store_environment not null,
    original_transaction_id text not null,
    bundle_id text not null,
    reason text not null, -- the kinds of gaps, separated by commas
    last_error text not null,
    primary key (environment, original_transaction_id, before_uuid)
);
create index postponed_request_by_time on postponed_request (not_before);
