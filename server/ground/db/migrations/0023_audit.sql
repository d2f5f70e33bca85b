-- The end of each account's chain of audit events: its row is locked while one is added, so that the chain has no forks.
create table audit_chains (
  account_id uuid primary key,
  seq bigint not null,
  hash bytea not null
) with (fillfactor = 50);

-- Administrative writes, append-only. A row's hash covers the row and the hash before it, so that a changed, missing or added row shows.
-- Addresses of callers (ip) are personal data; numbers of people are masked before they come here.
create table audit_events (
  account_id uuid not null,
  id uuid not null,
  -- From 1, without gaps.
  seq bigint not null,
  actor_kind text not null check (actor_kind in ('user', 'key', 'system')),
  -- A user or an API key; null: the system.
  actor_id uuid,
  action text not null,
  -- The public id of what was changed, or its name where it has none.
  target text,
  ip text,
  request_id text,
  before jsonb,
  after jsonb,
  previous_hash bytea not null,
  hash bytea not null,
  primary key (account_id, id)
);
create unique index audit_events_seq on audit_events (account_id, seq);
create index audit_events_actor on audit_events (account_id, actor_id, id);
create index audit_events_action on audit_events (account_id, action, id);
create index audit_events_target on audit_events (account_id, target, id);

-- The owner may grant them to itself again; a statement that was not meant for this table fails.
revoke update, delete, truncate on audit_events from current_user;
