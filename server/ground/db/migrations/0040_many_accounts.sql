-- Every administrative write of an account is in its audit log: by the transaction of the last one every process finds those accounts of which
-- what it keeps in memory may have changed (server/ground/audit/account-tables.ts).

alter table audit_chains
  add column changed_in xid8 not null default '0';

create index audit_chains_changed_in on audit_chains (changed_in);

-- For the longest of all (server/messages/retention-account.ts): with ten thousand accounts their table was read for each that was looked at.
create index accounts_message_days on accounts (message_days);
create index accounts_event_days on accounts (event_days);
