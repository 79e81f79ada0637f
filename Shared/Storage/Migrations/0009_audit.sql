-- What people did by hand: who, when, what, to what, and why. Rows are added, never changed: the trail is the answer to
-- "who put this back" years later, and what a dead letter's resolution is read from.

create table operator_action (
    id bigint generated always as identity primary key,
    acted_at timestamptz not null,
    actor text not null, -- as the operating system knows the person, or as they called themselves
    action text not null, -- the command, such as rejected.resolve
    subject text not null, -- what it was done to; for a dead letter cluster/partition/offset
    note text -- why, in the person's words
);
create index operator_action_by_subject on operator_action (subject, id);
create index operator_action_by_time on operator_action (acted_at);
