-- What recovery found when it compared Apple's history with the ledger, and what became of it.

-- The notifications of a window, each once however often Apple lists it. Nothing here is proven: the uuid and the words are
-- what the payload claims. A window closes when none of its rows is published any more; what the ledger had anyway is
-- forgotten then, the others stay as long as the window: they say what was missing and how it ended.
create table recovery_item (
    noticed_at timestamptz not null, -- compared with the ledger; a published one is on the line with this arrival time
    settled_at timestamptz,
    window_id uuid not null references recovery_window (id) on delete cascade,
    notification_uuid uuid not null, -- made from the bytes where the payload names none
    -- present: the ledger had it. published: it was lacking and is on the line again. arrived: in the ledger since.
    -- refused: the line put it aside. unreadable: names no uuid; among the dead letters, and no reason to wait.
    state text not null check (state in ('present', 'published', 'arrived', 'refused', 'unreadable')),
    notification_type text,
    subtype text,
    reason text, -- of a refused or unreadable one
    message text,
    primary key (window_id, notification_uuid)
);
create index recovery_item_published on recovery_item (notification_uuid) where state = 'published';
create index recovery_item_present on recovery_item (window_id) where state = 'present';

-- Apple's attempts to reach us, of notifications it did not deliver at once or that we lacked: why were we not reached?
create table send_attempt (
    attempted_at timestamptz not null, -- by Apple's clock
    notification_uuid uuid not null,
    environment store_environment not null,
    bundle_id text not null,
    result text not null, -- Apple's word, raw
    primary key (notification_uuid, attempted_at)
);
create index send_attempt_by_time on send_attempt (attempted_at);

-- The histogram, by day (UTC).
create view send_attempt_result as
select environment, bundle_id, (attempted_at at time zone 'UTC')::date as day, result, count(*) as attempts,
    count(distinct notification_uuid) as notifications
from send_attempt
group by 1, 2, 3, 4;

-- How far each customer's transaction history was read: Apple's next answer holds only what is new or has changed.
create table history_revision (
    asked_at timestamptz not null,
    environment store_environment not null,
    original_transaction_id text not null, -- that was asked about; the history is the whole customer's
    bundle_id text not null,
    revision text not null,
    primary key (environment, original_transaction_id)
);

-- What became of each request for one customer's history.
create table recovery_answer (
    answered_at timestamptz not null,
    notifications bigint not null default 0, -- Apple listed
    missing bigint not null default 0, -- of them the ledger lacked
    parts bigint not null default 0, -- transactions and renewal information with news, put on the line
    before_uuid uuid not null, -- as in the request
    environment store_environment not null,
    original_transaction_id text not null,
    bundle_id text not null,
    outcome text not null, -- answered, or why there is no answer
    message text,
    primary key (environment, original_transaction_id, before_uuid)
);
create index recovery_answer_by_time on recovery_answer (answered_at);

-- Requests for one customer that Apple could not answer yet: its limit was used up, it refused a key, it did not answer. They
-- are put back on the log when it is time, so that nobody waits behind them; a row goes when its request is answered.
create table postponed_request (
    postponed_at timestamptz not null, -- the first time
    not_before timestamptz not null, -- by the clock of the database
    requested_at timestamptz not null,
    from_at timestamptz,
    to_at timestamptz not null,
    setbacks bigint not null,
    before_uuid uuid not null,
    environment store_environment not null,
    original_transaction_id text not null,
    bundle_id text not null,
    reason text not null, -- the kinds of steps, by comma
    last_error text not null,
    primary key (environment, original_transaction_id, before_uuid)
);
create index postponed_request_by_time on postponed_request (not_before);
