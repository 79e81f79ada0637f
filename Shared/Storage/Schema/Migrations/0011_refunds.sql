-- Refund requests: what Apple asked and decided, what was answered and why. No row names an account: the account of a purchase and
-- its consent are read when a request is decided.

-- One row per transaction about which Apple asked or told of a refund: the newest request and the newest outcome by Apple's clock.
-- Follows from the ledger alone, but for next_at and was_withheld. A request is open while it is later than the outcome.
create table refund_request (
    requested_at timestamptz, -- the newest CONSUMPTION_REQUEST; null: Apple decided without one
    outcome_at timestamptz, -- the newest REFUND, REFUND_DECLINED or REFUND_REVERSED
    next_at timestamptz, -- when the scheduler looks at an open request next; null: nothing is left to do
    request_uuid uuid,
    outcome_uuid uuid,
    environment store_environment not null,
    -- Whether an answer was ever withheld: lists are in the order of requests. Which answer counts is decided where it is read.
    -- Null: never.
    was_withheld boolean,
    transaction_id text not null,
    original_transaction_id text not null,
    bundle_id text not null,
    reason text, -- Apple's consumptionRequestReason
    outcome text check (outcome in ('refunded', 'declined', 'reversed')),
    primary key (environment, transaction_id),
    check (num_nulls(requested_at, request_uuid) in (0, 2)),
    check (num_nulls(outcome, outcome_at, outcome_uuid) in (0, 3)),
    check (next_at is null or (requested_at is not null and (outcome_at is null or outcome_at < requested_at)))
) with (fillfactor = 80);
create index refund_request_due on refund_request (next_at) where next_at is not null;
create index refund_request_by_purchase on refund_request (environment, original_transaction_id);
-- Lists begin at one end of time and stop: at the newest, or at what Apple still takes an answer to. One that waits is of a request that
-- the scheduler looks at again.
create index refund_request_newest on refund_request (requested_at, transaction_id) where requested_at is not null;
create index refund_request_planned on refund_request (requested_at, transaction_id) where next_at is not null;
create index refund_request_withheld on refund_request (requested_at, transaction_id)
    where was_withheld and requested_at is not null;
-- The lists of single apps: those of an app with few requests read none of the others.
create index refund_request_by_time on refund_request (environment, bundle_id, requested_at, transaction_id)
    where requested_at is not null;
create index refund_request_withheld_of_app on refund_request (environment, bundle_id, requested_at, transaction_id)
    where was_withheld and requested_at is not null;

-- The policies of apps. Versions are only added; the greatest is in force.
create table refund_policy (
    created_at timestamptz not null,
    version bigint not null check (version > 0),
    environment store_environment not null,
    bundle_id text not null,
    document text not null, -- JSON, as it was sent
    created_by text not null,
    primary key (environment, bundle_id, version)
);

-- Decisions about refund requests, and what became of the answers. Rows are only added; sending changes its columns alone.
create table refund_answer (
    id bigint generated always as identity primary key,
    requested_at timestamptz not null, -- the newest request that was known
    decided_at timestamptz not null,
    sent_at timestamptz, -- Apple answered 202
    failed_at timestamptz,
    policy_version bigint, -- null: decided by hand
    attempts bigint not null default 0,
    environment store_environment not null,
    api_version smallint check (api_version in (1, 2)), -- of Apple's endpoint
    transaction_id text not null,
    bundle_id text not null,
    rule text, -- of the policy
    body text, -- the bytes that Apple gets, the same at every attempt
    adjustments text[] not null default '{}', -- what was changed to make the answer valid, and why
    withheld_because text, -- why there is no body
    decided_by text not null, -- policy, or who answered by hand
    failed_with text, -- why Apple has not taken the body
    check (num_nulls(body, withheld_because) = 1),
    check (num_nulls(body, api_version) in (0, 2)),
    check (num_nulls(failed_at, failed_with) in (0, 2) and num_nulls(sent_at, failed_at) > 0),
    check (body is not null or (sent_at is null and failed_at is null))
) with (fillfactor = 80);
create index refund_answer_by_transaction on refund_answer (environment, transaction_id, decided_at, id);
-- Alerts look at the last day.
create index refund_answer_by_time on refund_answer (decided_at);

-- As its owner, because who decides by hand may not change requests but when they are looked at next.
create function note_withheld_refund() returns trigger
language plpgsql security definer
set search_path from current
as $$
begin
    update refund_request
    set was_withheld = true
    where environment = new.environment and transaction_id = new.transaction_id and was_withheld is null;
    return null;
end;
$$;
create trigger note_withheld after insert or update of failed_with on refund_answer
    for each row when (new.withheld_because <> 'late' or new.failed_with = 'consentWithdrawn')
    execute function note_withheld_refund();

-- How far customers used what they bought, as backends report it. Rows are only added; the newest of a transaction counts.
create table usage_report (
    id bigint generated always as identity primary key,
    reported_at timestamptz not null,
    percentage bigint check (percentage between 0 and 100000), -- thousandths of a per cent
    environment store_environment not null,
    is_sample_provided boolean, -- content to try before the purchase
    transaction_id text not null,
    original_transaction_id text not null,
    bundle_id text not null,
    delivery_status text,
    reported_by text not null -- the API key
);
create index usage_report_by_transaction on usage_report (environment, transaction_id, reported_at);
create index usage_report_by_purchase on usage_report (environment, original_transaction_id);
-- For their retention.
create index usage_report_by_time on usage_report (reported_at);
