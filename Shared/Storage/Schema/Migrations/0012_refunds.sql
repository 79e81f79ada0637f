-- Refund requests: what Apple asked and decided, what was answered and why. No row names an account: the account of a purchase and
-- its consent are read when a request is decided.

-- One row per transaction about which Apple asked or told of a refund: the newest request and the newest outcome by Apple's clock.
-- Follows from the ledger alone, but for next_at. A request is open while it is later than the outcome.
create table refund_request (
    requested_at timestamptz, -- the newest CONSUMPTION_REQUEST; null: Apple decided without one
    outcome_at timestamptz, -- the newest REFUND, REFUND_DECLINED or REFUND_REVERSED
    next_at timestamptz, -- when the scheduler looks at an open request next; null: nothing is left to do
    request_uuid uuid,
    outcome_uuid uuid,
    environment store_environment not null,
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
create index refund_request_by_time on refund_request (environment, bundle_id, requested_at) where requested_at is not null;

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

-- The requests and outcomes of the ledger before this migration. Those whose time is over are not looked at.
insert into refund_request (
    requested_at, outcome_at, next_at, request_uuid, outcome_uuid, environment, transaction_id, original_transaction_id,
    bundle_id, reason, outcome)
select request.signed_at, outcome.signed_at,
    case
        when request.signed_at > now() - interval '12 hours'
            and (outcome.signed_at is null or outcome.signed_at < request.signed_at) then now()
    end,
    request.notification_uuid, outcome.notification_uuid, environment, transaction_id,
    coalesce(request.original_transaction_id, outcome.original_transaction_id),
    coalesce(request.bundle_id, outcome.bundle_id), request.reason, outcome.outcome
from (
    select distinct on (environment, transaction_id) environment, transaction_id, signed_at, notification_uuid,
        original_transaction_id, bundle_id, payload.decoded -> 'data' ->> 'consumptionRequestReason' as reason
    from notification
    left join notification_payload payload using (notification_uuid, recorded_at)
    where notification_type = 'CONSUMPTION_REQUEST' and transaction_id is not null
        and original_transaction_id is not null and signed_at is not null
    order by environment, transaction_id, signed_at desc, notification_uuid desc
) as request
full join (
    select distinct on (environment, transaction_id) environment, transaction_id, signed_at, notification_uuid,
        original_transaction_id, bundle_id,
        case notification_type when 'REFUND' then 'refunded' when 'REFUND_DECLINED' then 'declined' else 'reversed' end
            as outcome
    from notification
    where notification_type in ('REFUND', 'REFUND_DECLINED', 'REFUND_REVERSED') and transaction_id is not null
        and original_transaction_id is not null and signed_at is not null
    order by environment, transaction_id, signed_at desc, notification_uuid desc
) as outcome using (environment, transaction_id);

-- An erasure deletes what was reported of the account's purchases, too. The lock is that of detach_account: no report is added in
-- between for a purchase that was the account's.
alter function erase_account(uuid, store_environment, text, uuid, boolean, timestamptz, timestamptz) rename to detach_account;
create function erase_account(
    new_id uuid, asked_environment store_environment, asked_bundle_id text, asked_account uuid, asked_completely boolean,
    now_at timestamptz, topics_end_at timestamptz)
returns setof erased_account
language plpgsql security definer
set search_path from current
set lock_timeout = '5s'
as $$
begin
    lock table erased_account in access exclusive mode;
    delete from usage_report
    where environment = asked_environment and bundle_id = asked_bundle_id
        and original_transaction_id = any (purchases_of_account(asked_environment, asked_bundle_id, asked_account));
    return query
        select *
        from detach_account(
            new_id, asked_environment, asked_bundle_id, asked_account, asked_completely, now_at, topics_end_at);
end;
$$;
