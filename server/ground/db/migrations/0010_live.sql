-- What the live view and its alerts read: small tables, written every few seconds and never on a message's way.

-- What each process lately saw of response and receipt times, by link, carrier and country, as counts in buckets; overwritten in place.
create table node_times (
  node_id uuid primary key references nodes on delete cascade,
  times jsonb not null,
  updated_at timestamptz not null default now()
) with (fillfactor = 50);

-- What carriers made of a sender's messages, in pieces of five minutes over all processes; kept for an hour.
create table sender_ends (
  account_id uuid not null references accounts on delete cascade,
  number text not null,
  at timestamptz not null,
  delivered int not null,
  failed int not null,
  primary key (account_id, number, at)
) with (fillfactor = 70);

-- Episodes of trouble. A row begins when trouble is seen, is open (and told) once it has lasted, and closed once it has been over for a
-- while: opened_at is null before the one, closed_at before the other. subject is a link's id, or a sender's number.
create table alerts (
  account_id uuid not null references accounts on delete cascade,
  id uuid not null,
  type text not null check (type in ('link.down', 'link.throttled', 'sender.degraded')),
  subject text not null,
  detail jsonb not null default '{}',
  seen_at timestamptz not null default now(),
  opened_at timestamptz,
  -- Since when it seems to be over.
  clear_at timestamptz,
  closed_at timestamptz,
  primary key (account_id, id)
);
-- One episode at a time, whoever sees it first.
create unique index alerts_unclosed on alerts (type, subject, account_id) where closed_at is null;
