-- Several links of a carrier, several sessions of a link, and the processes that share them.

-- A link has the carrier's settings but for those of its own, and a pace of its own or the carrier's.
alter table links
  add column settings jsonb not null default '{}',
  add column secrets bytea,
  add column pace numeric check (pace > 0),
  add column enabled boolean not null default true,
  add column updated_at timestamptz not null default now();

update carriers set settings = settings || '{"sessions": 1}' where kind in ('smpp', 'simulator');

-- The sessions that a carrier allows, each held by one process at a time. The epoch counts its holders: who comes back with an old one
-- is refused.
create table link_slots (
  link_id uuid not null references links on delete cascade,
  slot int not null check (slot > 0),
  node_id uuid references nodes on delete set null,
  epoch bigint not null default 0,
  leased_until timestamptz not null default now(),
  primary key (link_id, slot)
) with (fillfactor = 50);

-- What each process says of a link, and its part of the pace: `units` of the link's pace + 1, which add up to no more.
-- pace_fraction is what the carrier's last refusals left of the pace, at slowed_at.
drop table link_states;
create table link_states (
  link_id uuid not null references links on delete cascade,
  node_id uuid not null references nodes on delete cascade,
  leased_until timestamptz not null,
  units int not null default 0,
  state text not null default 'down' check (state in ('down', 'binding', 'bound', 'throttled', 'disabled')),
  sessions int not null default 0,
  window_max int not null default 0,
  in_flight int not null default 0,
  pace numeric not null default 0,
  pace_fraction real not null default 1,
  rate_1m numeric not null default 0,
  last_enquire_link_at timestamptz,
  last_error text,
  last_error_at timestamptz,
  updated_at timestamptz not null default now(),
  primary key (link_id, node_id)
) with (fillfactor = 50);

alter table accounts add column pace numeric check (pace > 0);
create index accounts_pace on accounts (id) where pace is not null;
create index lanes_pace on lanes (id) where pace is not null;
create index senders_pace on senders (account_id, id) where pace is not null;

-- The part of a lane that waits for one carrier, or for one sender with a pace of its own: what is in its place in the queue has this id
-- as its lane, so that a carrier that is down or busy is not in the way of the others. sender '': all of the carrier.
create table backlogs (
  id uuid primary key,
  lane_id uuid not null references lanes on delete cascade,
  carrier_id uuid not null,
  sender text not null default '',
  created_at timestamptz not null default now(),
  unique (lane_id, carrier_id, sender)
);
