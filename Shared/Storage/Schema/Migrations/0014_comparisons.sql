-- Comparisons with the system that an app moves from: what its export says of access at a moment, beside what was known here.

-- A run over one file. Only a finished one counts: while it runs, and where it was interrupted, an earlier one of the same moment stays.
create table comparison (
    taken_at timestamptz not null, -- the moment of the file
    started_at timestamptz not null,
    finished_at timestamptz, -- null: it runs, or was interrupted
    id uuid primary key,
    environment store_environment not null,
    bundle_id text not null,
    source text not null, -- the kind of file
    counts jsonb -- of customers, records and differences by cause; null until it is finished
);
create index comparison_by_moment on comparison (environment, bundle_id, taken_at);
create index comparison_by_start on comparison (started_at);
-- One result for each file, also where two runs finish at the same time.
create unique index comparison_finished on comparison (environment, bundle_id, source, taken_at) where finished_at is not null;

-- An entitlement of a customer that was not the same on both sides.
create table comparison_difference (
    id bigint generated always as identity primary key,
    ours_until timestamptz, -- null with access: it has no end
    other_until timestamptz,
    line bigint, -- of the file, that decided or named the customer first; null: the file does not name the customer
    comparison uuid not null references comparison (id) on delete cascade,
    app_account_token uuid, -- null: no account here has the customer's id
    notification_uuid uuid, -- that decided; null: none did
    is_ours boolean not null, -- whether there was access here
    is_others boolean not null, -- and in the other system
    customer_id text not null, -- the developer's own id; of an account without one its token
    entitlement text not null,
    cause text not null,
    ours_reason text, -- of the access period
    original_transaction_id text -- null: no purchase of the App Store is concerned
);
create index comparison_difference_by_cause on comparison_difference (comparison, cause, id);
-- For erasures: sweep_records deletes the differences of the customer.
create index comparison_difference_by_customer on comparison_difference (customer_id);
create index comparison_difference_by_account on comparison_difference (app_account_token) where app_account_token is not null;
