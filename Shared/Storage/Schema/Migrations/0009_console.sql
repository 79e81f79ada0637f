-- What the console keeps: who is signed in, one-time links to sign in with, and selections of dead letters that were frozen
-- before anything was done with them. What people did there stands in operator_action, as what they did by command.

-- Links of storekeeper console login, and sign-ins by an OpenID provider, which serve once as well. The secret itself is printed
-- once, or is in the browser alone, and stored nowhere.
create table console_login (
    created_at timestamptz not null,
    expires_at timestamptz not null,
    used_at timestamptz, -- a link serves once
    digest bytea primary key check (length(digest) = 32), -- SHA-256 of the secret, or of a sign-in's state
    name text not null, -- of the person, for the audit log
    role text not null check (role in ('viewer', 'support', 'operator', 'admin'))
);
create index console_login_by_expiry on console_login (expires_at);

create table console_session (
    created_at timestamptz not null,
    expires_at timestamptz not null,
    ended_at timestamptz, -- signed out
    digest bytea primary key check (length(digest) = 32), -- SHA-256 of the cookie
    name text not null,
    role text not null check (role in ('viewer', 'support', 'operator', 'admin'))
);
create index console_session_by_expiry on console_session (expires_at);

-- Dead letters as they were when an operator listed them: what is replayed or dismissed is this list and nothing that came
-- later. The console sends a replay's records outside of the request, with a lease, so that a dead process is replaced.
create table console_selection (
    created_at timestamptz not null,
    requested_at timestamptz, -- null: looked at only
    finished_at timestamptz,
    held_until timestamptz, -- the lease, by the clock of the database
    known bigint not null, -- of them, in the ledger already
    sent bigint,
    id uuid primary key,
    created_by text not null,
    cluster text not null,
    dead_letters text[] not null, -- partition/offset in the dead-letter topic
    criteria text not null, -- in words, as they were selected
    command text not null, -- the same by hand
    action text check (action in ('replay', 'dismiss')),
    requested_by text,
    note text,
    error text,
    check (num_nulls(requested_at, action, requested_by, note) in (0, 4))
);
create index console_selection_to_replay on console_selection (requested_at)
    where action = 'replay' and finished_at is null;
create index console_selection_by_time on console_selection (created_at);

-- Makes the tokens of forms unforgeable, the same on all instances.
create table console_secret (
    is_only boolean primary key default true check (is_only),
    secret bytea not null
);
insert into console_secret (secret)
values (sha256(convert_to(gen_random_uuid()::text || gen_random_uuid()::text, 'UTF8')));
