-- SMPP clients: programs that bind to us, with credentials of their own.

create table smpp_credentials (
  account_id uuid not null references accounts,
  id uuid not null,
  -- A bind knows only this, so it is unique over all accounts.
  system_id text not null unique,
  password_hash text not null,
  name text not null,
  mode text not null default 'live' check (mode in ('live', 'test')),
  enabled boolean not null default true,
  allowed_cidrs text[] not null default '{}',
  sessions_max int not null,
  window_max int not null,
  pace float8 not null check (pace > 0),
  default_alphabet text not null check (default_alphabet in ('gsm7', 'latin1', 'ascii')),
  receives_replies boolean not null,
  reply_concatenation text not null check (reply_concatenation in ('udh8', 'udh16', 'sar', 'payload')),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  last_bound_at timestamptz,
  primary key (account_id, id)
);

-- One row a bound session, on whatever node; those of a fenced node do not count.
create table smpp_sessions (
  id uuid primary key,
  account_id uuid not null,
  credential_id uuid not null,
  node_id uuid not null references nodes on delete cascade,
  mode text not null check (mode in ('transmitter', 'receiver', 'transceiver')),
  address text not null,
  bound_at timestamptz not null default now(),
  foreign key (account_id, credential_id) references smpp_credentials on delete cascade
);
create index smpp_sessions_credential on smpp_sessions (account_id, credential_id);
create index smpp_sessions_node on smpp_sessions (node_id);

-- Parts of a long message that a client submits one by one, until all are there or their time is over: part number -> part.
create table smpp_gatherings (
  account_id uuid not null,
  credential_id uuid not null,
  source text not null,
  destination text not null,
  kind text not null check (kind in ('udh8', 'udh16', 'sar')),
  reference int not null,
  total int not null,
  id uuid not null unique,
  parts jsonb not null,
  received_at timestamptz not null default now(),
  primary key (account_id, credential_id, source, destination, kind, reference, total),
  foreign key (account_id, credential_id) references smpp_credentials on delete cascade
);
create index smpp_gatherings_received_at on smpp_gatherings (received_at);

-- Messages whose receipts a client asked for and does not have yet. client_id is the id that the client was given: the message's
-- own, or that of the gathering it was put together from. registered_delivery is each part's.
create table smpp_submits (
  account_id uuid not null,
  message_id uuid not null,
  credential_id uuid not null,
  client_id uuid not null,
  registered_delivery smallint[] not null,
  submitted_at timestamptz not null default now(),
  primary key (account_id, message_id),
  foreign key (account_id, credential_id) references smpp_credentials on delete cascade
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
create index smpp_submits_submitted_at on smpp_submits using brin (submitted_at);

-- What is still to be delivered to clients; emptied by DELETE. A receipt carries its own words; a reply's are in its message.
create table smpp_deliveries (
  account_id uuid not null,
  credential_id uuid not null,
  id uuid not null,
  part int not null default 1,
  kind text not null check (kind in ('receipt', 'reply')),
  -- A reply's message, or the id that the client was given.
  subject_id uuid not null,
  parts int not null default 1,
  source text not null,
  destination text not null,
  state text,
  err text,
  submitted_at timestamptz,
  done_at timestamptz,
  due_at timestamptz not null default now(),
  tries int not null default 0,
  leased_by uuid,
  leased_until timestamptz,
  primary key (account_id, credential_id, id, part),
  foreign key (account_id, credential_id) references smpp_credentials on delete cascade
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);

-- How far an account's event log was read for its clients. floor_id: no unread event has a smaller id (prunes days).
create table smpp_cursors (
  account_id uuid primary key references accounts,
  txid xid8 not null,
  event_id uuid not null,
  floor_id uuid not null
);
