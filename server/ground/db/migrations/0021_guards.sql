-- Guards: what an account has used of its limits, its stops, and the texts it sent a moment ago. Only accounts with guards have rows.

-- One row a limit and window, locked and moved by accept in the transaction that accepts: exact over all processes.
-- The key is a country, the prefix of a number (its last four digits are not in it), or empty.
create table guard_counters (
  account_id uuid not null references accounts on delete cascade,
  kind text not null,
  key text not null,
  starts_at timestamptz not null,
  ends_at timestamptz not null,
  -- Segments, messages, or millionths of a currency's unit.
  used bigint not null default 0,
  primary key (account_id, kind, key, starts_at)
) with (fillfactor = 50);
create index guard_counters_over on guard_counters (ends_at);

-- One row a stop: from the first refusal in a window until it is released, or the window is over.
create table guards (
  account_id uuid not null references accounts on delete cascade,
  id uuid not null,
  kind text not null,
  key text not null,
  action text not null check (action in ('block', 'alert')),
  -- The limit that was reached, with what had been raised; null: there is none to raise.
  limit_at bigint,
  since timestamptz not null,
  starts_at timestamptz not null,
  ends_at timestamptz not null,
  -- Single sends that were refused.
  refused bigint not null default 0,
  released_at timestamptz,
  released_by text,
  reason text,
  -- Until when it does not stop again; or by how much the limit of the window is higher; neither: the settings were changed.
  released_until timestamptz,
  raised_by bigint,
  primary key (account_id, id)
) with (fillfactor = 70);
create unique index guards_open on guards (account_id, kind, key, starts_at) where released_at is null;
create index guards_window on guards (account_id, kind, key, starts_at) where released_at is not null;
create index guards_over on guards (ends_at);

-- What was sent a moment ago: a keyed hash of number, text and sender. No number and no text can be read from it.
create table recent_sends (
  account_id uuid not null references accounts on delete cascade,
  hash bytea not null,
  message_id uuid not null,
  until timestamptz not null,
  primary key (account_id, hash)
);
create index recent_sends_until on recent_sends (until);

-- Accounts with guards are looked for every second.
create index accounts_guarded on accounts (id) where settings ? 'guards';

-- Broadcasts wait for somebody else's word, and for the end of a stop.
alter table broadcasts
  drop constraint broadcasts_status_check,
  add constraint broadcasts_status_check
    check (status in ('awaiting_approval', 'scheduled', 'sending', 'paused', 'completed', 'canceled', 'rejected')),
  -- Public ids of who ordered it, and of who decided.
  add column ordered_by text,
  add column decided_by text,
  add column decided_at timestamptz,
  add column decision text,
  -- Why its remaining recipients wait, until when at the most, and when it is tried again.
  add column hold_reason text,
  add column hold_until timestamptz,
  add column hold_guard_id uuid,
  add column retry_at timestamptz;
drop index broadcasts_open;
create unique index broadcasts_open on broadcasts (account_id, campaign_id)
  where status in ('awaiting_approval', 'scheduled', 'sending', 'paused');
alter table campaigns
  drop constraint campaigns_status_check,
  add constraint campaigns_status_check
    check (status in ('draft', 'active', 'awaiting_approval', 'scheduled', 'sending', 'paused', 'completed', 'canceled', 'archived'));
