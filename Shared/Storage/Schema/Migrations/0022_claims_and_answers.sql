-- How many accounts may claim one Apple account.

-- Of the accounts of the app that claim one Apple account by uploads. An app whose accounts share has been told that all do: it
-- keeps as many as can be configured.
alter table sharing_policy add column most_accounts integer not null default 10 check (most_accounts between 1 and 1000);
update sharing_policy
set most_accounts = 1000
where policy = 'allow';
