-- Routes: ordered rules that pick the carriers of a message; the first that matches wins. They belong to the installation.
-- Lists in match are alternatives, its members are conditions that must all hold; an absent member always does.
create table routes (
  id uuid primary key,
  position int not null,
  name text,
  match_account_id uuid references accounts,
  match_campaign_id uuid,
  match_type text check (match_type in ('transactional', 'marketing', 'otp')),
  match_countries text[] not null default '{}',
  match_prefixes text[] not null default '{}',
  match_senders text[] not null default '{}',
  -- Hash of all of the match: lists may be longer than an index entry.
  match_key bytea not null,
  -- Money of a route is in millionths of its currency's unit.
  max_cost bigint,
  currency text,
  enabled boolean not null default true,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- Deferred: a move shifts many rows, and they are unique again at the commit.
  unique (position) deferrable initially deferred,
  foreign key (match_account_id, match_campaign_id) references campaigns
);
-- Two enabled routes with one match would be one too many: the second could take nothing.
create unique index routes_match_key on routes (match_key) where enabled;

-- The carriers of a route: those with a weight share its messages, the others (weight null) come after them in their order.
create table route_carriers (
  route_id uuid not null references routes on delete cascade,
  carrier_id uuid not null references carriers,
  position int not null,
  weight int check (weight >= 0),
  cost bigint,
  primary key (route_id, carrier_id)
);
create index route_carriers_carrier on route_carriers (carrier_id);

-- One row: the version of everything above. A change of routes locks it, so that changes take turns, and every process sees that
-- there was one by reading a single number.
create table routes_version (
  is_one boolean primary key default true check (is_one),
  version bigint not null
);
insert into routes_version (version) values (1);

-- Numbers can be answered, names cannot.
alter table senders alter column capabilities set default '{sms,replies}';
update senders set capabilities = '{sms,replies}' where kind <> 'alphanumeric';

-- Pools: an account's senders that share its messages.
create table sender_pools (
  account_id uuid not null references accounts,
  id uuid not null,
  name text not null,
  strategy text not null check (strategy in ('sticky', 'round_robin')),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (account_id, id),
  unique (account_id, name)
);
create table sender_pool_members (
  account_id uuid not null,
  pool_id uuid not null,
  sender_id uuid not null,
  weight int not null default 1 check (weight > 0),
  primary key (account_id, pool_id, sender_id),
  foreign key (account_id, pool_id) references sender_pools on delete cascade,
  foreign key (account_id, sender_id) references senders on delete cascade
);
create index sender_pool_members_sender on sender_pool_members (account_id, sender_id);
-- Which sender of a sticky pool a person knows, while it lasts.
create table sender_affinity (
  account_id uuid not null,
  pool_id uuid not null,
  their_number text not null,
  sender_id uuid not null,
  expires_at timestamptz not null,
  primary key (account_id, pool_id, their_number),
  foreign key (account_id, pool_id) references sender_pools on delete cascade
);
create index sender_affinity_expires_at on sender_affinity (expires_at);

-- Why a message went where it went: the rule that took it (null: the default route), and the carriers it may still go to after a proven
-- refusal, in order. No index: neither is ever searched for, and updates stay heap-only.
alter table messages add column route_id uuid;
alter table messages add column chain uuid[];
