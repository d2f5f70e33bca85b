-- The ledger. Conventions that hold for every table:
--   ids are UUIDv7 made by the server; account_id is the first column of every key that can carry it, so that the tables can be
--   distributed by account; the large tables are partitioned by day on the UUIDv7 itself (one range = one day of ids), so a look-up
--   by (account_id, id) prunes to one partition. No foreign key points to a partitioned table: a referenced partition cannot be dropped.
--   No index contains a column that changes (status, updated_at, ...): updates stay heap-only.

create table accounts (
  id uuid primary key,
  name text not null,
  status text not null default 'active' check (status in ('active', 'suspended')),
  settings jsonb not null default '{}',
  callback_secret bytea,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create table users (
  account_id uuid not null references accounts,
  id uuid not null,
  email text not null,
  password_hash text not null,
  role text not null check (role in ('owner', 'admin', 'developer', 'sender', 'viewer')),
  is_operator boolean not null default false,
  status text not null default 'active' check (status in ('active', 'disabled')),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (account_id, id)
);
-- A login knows only the address, so it is unique over all accounts.
create unique index users_email on users (lower(email));

-- Access and refresh tokens of logins; a token is found by its hash before its account is known.
create table tokens (
  hash bytea primary key,
  kind text not null check (kind in ('access', 'refresh')),
  account_id uuid not null references accounts,
  user_id uuid,
  family uuid not null,
  generation int not null default 0,
  scopes text[] not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  replaced_at timestamptz,
  revoked_at timestamptz
);
create index tokens_family on tokens (family);
create index tokens_expires_at on tokens (expires_at);

create table api_keys (
  account_id uuid not null references accounts,
  id uuid not null,
  public_id text not null unique,
  secret_hash bytea not null,
  name text not null,
  mode text not null default 'live' check (mode in ('live', 'test')),
  scopes text[] not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz,
  primary key (account_id, id)
);

-- Failed logins by (address or network address), for the growing delay; forgotten after a day.
create table login_failures (
  subject text primary key,
  failures int not null,
  last_at timestamptz not null
);

-- Processes. A claim takes FOR SHARE on its node's row; heartbeats go to a table of their own, so that they never wait for claims.
create table nodes (
  id uuid primary key,
  name text not null,
  started_at timestamptz not null default now(),
  fenced_at timestamptz
);
create table heartbeats (
  node_id uuid primary key references nodes on delete cascade,
  seen_at timestamptz not null
);

-- Carriers, their links and what the process that holds a link says of it. They belong to the installation, not to an account.
create table carriers (
  id uuid primary key,
  name text not null unique,
  kind text not null check (kind in ('smpp', 'http', 'simulator')),
  enabled boolean not null default true,
  pace numeric not null default 100 check (pace > 0),
  priority int not null default 100,
  settings jsonb not null default '{}',
  secrets bytea,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create table links (
  id uuid primary key,
  carrier_id uuid not null references carriers on delete cascade,
  position int not null default 1,
  unique (carrier_id, position)
);
create table link_states (
  link_id uuid primary key references links on delete cascade,
  node_id uuid references nodes on delete set null,
  leased_until timestamptz,
  state text not null default 'down' check (state in ('down', 'binding', 'bound', 'throttled', 'disabled')),
  sessions int not null default 0,
  window_max int not null default 0,
  in_flight int not null default 0,
  pace numeric not null default 0,
  rate_1m numeric not null default 0,
  last_enquire_link_at timestamptz,
  last_error text,
  last_error_at timestamptz,
  updated_at timestamptz not null default now()
);

-- A number belongs to one account at a carrier: a reply or STOP to it is its owner's, and nobody else's.
create table senders (
  account_id uuid not null references accounts,
  id uuid not null,
  carrier_id uuid not null references carriers,
  number text not null,
  kind text not null check (kind in ('long_code', 'short_code', 'toll_free', 'alphanumeric')),
  country text,
  capabilities text[] not null default '{sms}',
  pace numeric,
  is_default boolean not null default false,
  created_at timestamptz not null default now(),
  primary key (account_id, id),
  unique (number, carrier_id)
);
create unique index senders_default on senders (account_id) where is_default;

create table campaigns (
  account_id uuid not null references accounts,
  id uuid not null,
  key text,
  name text not null,
  description text,
  status text not null default 'active'
    check (status in ('draft', 'active', 'scheduled', 'sending', 'paused', 'completed', 'canceled', 'archived')),
  type text check (type in ('transactional', 'marketing', 'otp')),
  sender text,
  message text,
  default_country text,
  timezone text,
  validity_period int,
  callback_url text,
  metadata jsonb not null default '{}',
  tags text[] not null default '{}',
  contacts_count bigint not null default 0,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (account_id, id),
  unique (account_id, key)
);

create table contacts (
  account_id uuid not null,
  id uuid not null,
  campaign_id uuid not null,
  phone_number text not null,
  number_hmac bytea,
  first_name text,
  last_name text,
  external_id text,
  language text,
  country text,
  timezone text,
  attributes jsonb not null default '{}',
  tags text[] not null default '{}',
  consent jsonb,
  sealed bytea,
  last_message_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (account_id, id),
  unique (account_id, campaign_id, phone_number),
  foreign key (account_id, campaign_id) references campaigns
);
create index contacts_list on contacts (account_id, campaign_id, id);

create table imports (
  account_id uuid not null,
  id uuid not null,
  campaign_id uuid not null,
  status text not null default 'queued'
    check (status in ('queued', 'processing', 'completed', 'completed_with_errors', 'failed', 'canceled')),
  format text not null check (format in ('json', 'csv', 'ndjson')),
  options jsonb not null default '{}',
  mapping jsonb,
  failure text,
  bytes bigint not null default 0,
  committed_row bigint not null default 0,
  total bigint,
  processed bigint not null default 0,
  created bigint not null default 0,
  updated bigint not null default 0,
  skipped bigint not null default 0,
  duplicate bigint not null default 0,
  opted_out bigint not null default 0,
  failed bigint not null default 0,
  created_at timestamptz not null default now(),
  started_at timestamptz,
  completed_at timestamptz,
  primary key (account_id, id),
  foreign key (account_id, campaign_id) references campaigns
);
create index imports_list on imports (account_id, campaign_id, id);
-- The uploaded bytes, in pieces, until the import is over: any node can run it, and a 202 means that the file is on disk.
create table import_chunks (
  account_id uuid not null,
  import_id uuid not null,
  position int not null,
  bytes bytea not null,
  primary key (account_id, import_id, position),
  foreign key (account_id, import_id) references imports on delete cascade
);
create table import_errors (
  account_id uuid not null,
  import_id uuid not null,
  line bigint not null,
  code text not null,
  "column" text,
  value text,
  detail text not null,
  suggestion text,
  record jsonb,
  primary key (account_id, import_id, line, code),
  foreign key (account_id, import_id) references imports on delete cascade
);

-- One opt-out for an account and number; the last inbound word decides.
create table opt_outs (
  account_id uuid not null references accounts,
  number text not null,
  number_hmac bytea,
  source text not null,
  reason text,
  message_id uuid,
  created_at timestamptz not null default now(),
  primary key (account_id, number)
);

-- Messages of both directions. their_number is the person's, our_number is the sender's (null: the carrier's default).
create table messages (
  account_id uuid not null,
  id uuid not null,
  direction text not null default 'outbound' check (direction in ('outbound', 'inbound')),
  type text not null default 'transactional' check (type in ('transactional', 'marketing', 'otp')),
  status text not null check (status in ('scheduled', 'queued', 'sending', 'sent', 'delivered', 'undelivered', 'rejected',
    'failed', 'expired', 'unconfirmed', 'canceled', 'received')),
  sequence int not null default 1,
  their_number text not null,
  our_number text,
  body text,
  body_sealed bytea,
  number_hmac bytea,
  encoding text not null,
  characters int not null,
  segments int not null,
  campaign_id uuid,
  contact_id uuid,
  on_unknown text check (on_unknown in ('hold', 'resend')),
  callback_url text,
  metadata jsonb,
  tags text[],
  warnings jsonb,
  is_test boolean not null default false,
  is_confirmation boolean not null default false,
  send_at timestamptz,
  expires_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  queued_at timestamptz,
  sent_at timestamptz,
  completed_at timestamptz,
  hold_reason text,
  hold_until timestamptz,
  carrier_id uuid,
  link_id uuid,
  provider_message_id text,
  attempts int not null default 0,
  segments_delivered int not null default 0,
  error_code text,
  error_stage text,
  error_raw text,
  receipt_stat text,
  receipt_err text,
  keyword text,
  in_reply_to uuid,
  is_partial boolean not null default false,
  possible_duplicate boolean not null default false,
  primary key (account_id, id)
) partition by range (id);
create index messages_their_number on messages (account_id, their_number, id);
create index messages_campaign on messages (account_id, campaign_id, id) where campaign_id is not null;

-- One row for each status that is an outcome other than delivered; serves the status and error filters, so that messages needs no index
-- on what changes. What most messages become is found by reading messages themselves. A row that a later outcome overtook (unconfirmed, then delivered) is seen through by comparing with the message.
create table outcomes (
  account_id uuid not null,
  status text not null,
  message_id uuid not null,
  error_code text,
  primary key (account_id, status, message_id)
) partition by range (message_id);
create index outcomes_error on outcomes (account_id, error_code, message_id) where error_code is not null;

-- A lane is what waits together: account x campaign run (or none) x type. The scheduler picks lanes, then claims by (lane, id).
create table lanes (
  id uuid primary key,
  account_id uuid not null references accounts,
  run_id uuid,
  type text not null check (type in ('transactional', 'marketing', 'otp')),
  is_paused boolean not null default false,
  pace numeric,
  created_at timestamptz not null default now(),
  unique nulls not distinct (account_id, run_id, type)
);
-- What is ready to be submitted; emptied by DELETE.
create table queue (
  lane_id uuid not null,
  message_id uuid not null,
  account_id uuid not null,
  segments int not null,
  expires_at timestamptz,
  primary key (lane_id, message_id)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
create index queue_expires_at on queue (expires_at);
-- What waits for a time (scheduled, or a retry with back-off); moved to the queue when due.
create table delayed (
  account_id uuid not null,
  message_id uuid not null,
  lane_id uuid not null,
  segments int not null,
  due_at timestamptz not null,
  expires_at timestamptz,
  primary key (account_id, message_id)
);
create index delayed_due_at on delayed (due_at);

-- A segment that is with a carrier and not answered: committed before the first byte is written, deleted with the answer.
-- What a dead node leaves here has an unknown outcome.
create table intents (
  node_id uuid not null,
  account_id uuid not null,
  message_id uuid not null,
  segment int not null,
  try int not null,
  link_id uuid not null,
  at timestamptz not null default now(),
  primary key (node_id, account_id, message_id, segment)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);

-- One finished try of a segment at a carrier.
create table submissions (
  account_id uuid not null,
  message_id uuid not null,
  segment int not null,
  try int not null,
  link_id uuid not null,
  state text not null check (state in ('accepted', 'refused', 'unknown')),
  carrier_message_id text,
  command_status int,
  intent_at timestamptz,
  answered_at timestamptz not null default now(),
  receipt_state text,
  receipt_stat text,
  receipt_err text,
  receipt_at timestamptz,
  primary key (account_id, message_id, segment, try)
) partition by range (message_id);

-- Carrier's id -> segment, for receipts. Not partitioned (one probe instead of one a day), expired by time: carriers reuse ids.
create table carrier_ids (
  link_id uuid not null,
  carrier_message_id text not null,
  account_id uuid not null,
  message_id uuid not null,
  segment int not null,
  segments int not null,
  at timestamptz not null default now(),
  primary key (link_id, carrier_message_id)
);
create index carrier_ids_at on carrier_ids using brin (at);

-- Receipts that did not decide a message of one segment (that one's word is in its row): of unknown ids, of segments, repeated,
-- contradictory and intermediate ones. Written before deliver_sm is answered; account_id is unknown until matched.
create table receipts (
  link_id uuid not null,
  raw_id text not null,
  state text not null,
  done_date text not null default '',
  match_id text not null,
  stat text not null,
  err text,
  network_error text,
  account_id uuid,
  message_id uuid,
  segment int,
  received_at timestamptz not null default now(),
  primary key (link_id, raw_id, state, done_date)
);
create index receipts_unmatched on receipts (link_id, match_id) where message_id is null;
create index receipts_received_at on receipts using brin (received_at);

-- Parts of long replies, kept before deliver_sm is answered, until all are there or their time is over.
create table reply_parts (
  link_id uuid not null,
  source text not null,
  destination text not null,
  kind text not null check (kind in ('udh8', 'udh16', 'sar')),
  reference int not null,
  total int not null,
  part int not null,
  data_coding int not null,
  udh_length int not null,
  locking_shift int,
  single_shift int,
  bytes bytea not null,
  received_at timestamptz not null default now(),
  primary key (link_id, source, destination, kind, reference, total, part)
);
create index reply_parts_received_at on reply_parts (received_at);
-- What a carrier may deliver a second time after a lost session.
create table reply_hashes (
  link_id uuid not null,
  hash bytea not null,
  received_at timestamptz not null default now(),
  primary key (link_id, hash)
);
-- Replies to numbers that no account owns, kept for the operator.
create table orphan_replies (
  id uuid primary key,
  link_id uuid not null,
  source text not null,
  destination text not null,
  body text not null,
  received_at timestamptz not null default now()
);

-- The event log, 30 days. txid lets a reader stay below the oldest running transaction: a cursor on (txid, id) never skips an
-- event whose transaction commits late.
create table events (
  account_id uuid not null,
  id uuid not null,
  txid xid8 not null default pg_current_xact_id(),
  type text not null,
  message_id uuid,
  sequence int,
  payload text not null,
  created_at timestamptz not null default now(),
  primary key (account_id, id)
) partition by range (id);
create index events_order on events (account_id, txid, id);
create index events_message on events (account_id, message_id, id) where message_id is not null;

create table webhooks (
  account_id uuid not null references accounts,
  id uuid not null,
  url text not null,
  events text[] not null,
  description text,
  enabled boolean not null default true,
  disabled_reason text,
  ordered boolean not null default false,
  headers jsonb not null default '{}',
  secret bytea not null,
  previous_secret bytea,
  previous_secret_until timestamptz,
  failing_since timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (account_id, id)
);

-- What is still to be posted: one row an event and endpoint, in the order of its due time, emptied by DELETE.
-- endpoint_id is a webhook's id, or for a callback_url an id derived from account and origin (url is set then).
create table outbox (
  endpoint_id uuid not null,
  due_at timestamptz not null,
  event_id uuid not null,
  account_id uuid not null,
  try int not null default 1,
  url text,
  leased_by uuid,
  leased_until timestamptz,
  primary key (endpoint_id, due_at, event_id)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);

-- One POST of an event.
create table attempts (
  account_id uuid not null,
  id uuid not null,
  endpoint_id uuid not null,
  event_id uuid not null,
  try int not null,
  outcome text not null,
  status_code int,
  response_head text,
  duration_ms int not null,
  next_attempt_at timestamptz,
  created_at timestamptz not null default now(),
  primary key (account_id, endpoint_id, id)
) partition by range (id);

-- Written by the statement that creates the resource; a retry with the same key finds it.
create table idempotency_keys (
  account_id uuid not null,
  operation text not null,
  key text not null,
  fingerprint bytea not null,
  resource_id uuid,
  status int,
  response text,
  created_at timestamptz not null default now(),
  primary key (account_id, operation, key)
);
create index idempotency_keys_created_at on idempotency_keys using brin (created_at);

create table messages_default partition of messages default with (fillfactor = 70);
create table outcomes_default partition of outcomes default;
create table submissions_default partition of submissions default with (fillfactor = 70);
create table events_default partition of events default;
create table attempts_default partition of attempts default;
