-- Tables of the API service: its keys, idempotency keys, and the records of app backends about their customers. Operators write
-- api_key (storekeeper keys), the service writes the other tables.

-- The secret is shown once, when the key is created, and is not stored. A key belongs to one environment: a test key cannot
-- access production.
create table api_key (
    created_at timestamptz not null,
    expires_at timestamptz,
    revoked_at timestamptz,
    id uuid primary key,
    environment store_environment not null,
    digest bytea not null unique check (length(digest) = 32), -- SHA-256 of the key
    name text not null,
    scopes text[] not null,
    bundle_ids text[] not null -- the apps it may access; empty: all
);

-- When each key was last used, by the minute. A table of its own, because the service may not write keys.
create table api_key_use (
    last_used_at timestamptz not null,
    key_id uuid primary key references api_key (id) on delete cascade
) with (fillfactor = 50);

-- Answers to POST requests with an Idempotency-Key, for 24 hours: the same request again gets the same answer and has no
-- effect.
create table api_idempotency (
    created_at timestamptz not null,
    key_id uuid not null,
    request_digest bytea not null check (length(request_digest) = 32), -- SHA-256 of operation, path and body
    status integer, -- of the answer; null while the first request is in progress
    environment store_environment, -- of the key; this and the next columns say whom the answer names, for an erasure
    idempotency_key text not null,
    bundle_id text, -- the app of the request; null where it names none
    customer_id text,
    app_account_tokens uuid[] not null default '{}',
    response_headers json,
    response_body bytea,
    primary key (key_id, idempotency_key)
);
create index api_idempotency_by_time on api_idempotency (created_at);

-- The developer's own id of a customer and its appAccountToken. The API service generates the token when the customer is
-- created, unless an app that has tokens already provides one.
create table customer (
    created_at timestamptz not null,
    app_account_token uuid not null,
    environment store_environment not null,
    bundle_id text not null,
    customer_id text not null,
    primary key (environment, customer_id, bundle_id),
    unique (environment, bundle_id, app_account_token)
);

-- Access that an operator or backend granted. revoked_at ends it early; rows are never deleted, so that support can see them.
create table manual_grant (
    created_at timestamptz not null,
    starts_at timestamptz not null,
    ends_at timestamptz check (ends_at > starts_at), -- null: until it is revoked
    revoked_at timestamptz,
    id uuid primary key,
    app_account_token uuid not null,
    created_by uuid not null, -- the API key; all zeros: an operator, whom the audit log names
    environment store_environment not null,
    bundle_id text not null,
    product_id text not null,
    reason text not null
);
create index manual_grant_by_account on manual_grant (app_account_token, environment, bundle_id);
create trigger raise_version after insert or update or delete on manual_grant
    for each row execute function raise_account_version();

-- The entitlements that an app's products grant, by name. Rows are only added; the greatest version of a name counts. By
-- environment, because a test key must not change the answers in production.
create table entitlement_definition (
    version bigint not null check (version > 0),
    created_at timestamptz not null,
    created_by uuid not null, -- the API key
    environment store_environment not null,
    bundle_id text not null,
    name text not null,
    original_application_version_before text, -- customers with an older original version of the app have it too
    product_ids text[] not null,
    primary key (environment, bundle_id, name, version)
);

-- The original app version of an account's customer, from signed app transactions that were uploaded for it. Of the accounts that
-- uploaded one, those are entitled that would have a purchase: AppleAccount decides that, too.
create table account_app (
    original_purchased_at timestamptz,
    preordered_at timestamptz, -- when the customer ordered the app ahead; null: not so
    recorded_at timestamptz not null,
    app_account_token uuid not null,
    environment store_environment not null,
    evidence claim_evidence not null,
    is_entitled boolean not null default false,
    bundle_id text not null,
    identity text not null, -- Apple's id of the customer, or a digest where an old copy has none
    original_application_version text not null,
    primary key (app_account_token, environment, bundle_id, identity)
);
create index account_app_by_identity on account_app (identity, environment, bundle_id);
create trigger raise_version after insert or update or delete on account_app
    for each row execute function raise_account_version();

-- Consents that customers gave and withdrew. Rows are only added; the newest of a kind counts.
create table customer_consent (
    id bigint generated always as identity primary key,
    given_at timestamptz not null, -- or withdrawn
    recorded_at timestamptz not null,
    app_account_token uuid not null,
    recorded_by uuid not null, -- the API key
    environment store_environment not null,
    is_given boolean not null,
    bundle_id text not null,
    kind text not null,
    note text
);
create index customer_consent_by_account on customer_consent (app_account_token, environment, bundle_id);

-- What consumables gave to accounts, each transaction once, when a backend asked for it. Rows are only added; what a refund takes back
-- follows from the transaction.
create table credit (
    credited_at timestamptz not null,
    quantity bigint not null check (quantity > 0),
    amount bigint not null check (amount > 0), -- quantity times what the product gave at that time
    app_account_token uuid, -- null: the account was detached or erased
    environment store_environment not null,
    transaction_id text not null,
    bundle_id text not null,
    product_id text not null,
    unit text not null,
    credited_by text not null, -- the API key
    primary key (environment, transaction_id)
);
create index credit_by_account on credit (app_account_token, environment, bundle_id) where app_account_token is not null;

-- Credits with what Apple has taken back: all of it, or the share that was refunded, rounded in the customer's favour. A refund
-- that Apple reversed takes nothing back.
create view current_credit as
select credit.credited_at, bought.revoked_at, credit.quantity, credit.amount,
    case
        when bought.revoked_at is null then 0
        else trunc(credit.amount::numeric * least(coalesce(bought.revocation_percentage, 100000), 100000) / 100000)::bigint
    end as taken_back,
    credit.app_account_token, credit.environment, credit.transaction_id, credit.bundle_id, credit.product_id, credit.unit,
    credit.credited_by
from credit
join transaction bought using (environment, transaction_id);

-- What each account was given, by unit. What the account has spent is the app's own.
create view account_balance as
select app_account_token, environment, bundle_id, unit, count(*) as credits, sum(amount)::bigint as credited,
    sum(taken_back)::bigint as taken_back, sum(amount - taken_back)::bigint as balance,
    max(credited_at) as credited_at
from current_credit
where app_account_token is not null
group by app_account_token, environment, bundle_id, unit;

-- The rules by which promotional offers of an app are signed. Versions are only added; the greatest is in force.
create table offer_rule (
    created_at timestamptz not null,
    version bigint not null check (version > 0),
    environment store_environment not null,
    bundle_id text not null,
    document text not null, -- JSON, as it was set
    created_by text not null,
    primary key (environment, bundle_id, version)
);

-- The promotional offers that were signed, without the signatures. Rows are only added; an erasure deletes those of its account. The
-- limits of the rules count them. Which were redeemed follows from the transactions.
create table offer_signature (
    signed_at timestamptz not null, -- Apple's timestamp in the signature
    rule_version bigint, -- null: signed without a rule
    nonce uuid primary key,
    app_account_token uuid, -- null: signed without a rule, for any customer
    environment store_environment not null,
    bundle_id text not null,
    product_id text not null,
    offer_id text not null,
    key_id text not null, -- of the In-App Purchase key
    transaction_id text, -- the customer's, to which the signature is bound
    check (rule_version is null or app_account_token is not null)
);
create index offer_signature_by_account on offer_signature (
    app_account_token, environment, bundle_id, product_id, offer_id, signed_at) where app_account_token is not null;
create index offer_signature_by_time on offer_signature (environment, bundle_id, signed_at, nonce);

-- The secret that signs the cursors of lists, the same on all instances. It protects no data: the API key of each request
-- decides what may be read.
create table api_cursor_secret (
    is_only boolean primary key default true check (is_only),
    secret bytea not null
);
insert into api_cursor_secret (secret)
values (sha256(convert_to(gen_random_uuid()::text || gen_random_uuid()::text, 'UTF8')));
