-- The first schema. Conventions for every table: ids are UUIDv7 made by the server. account_id is the first column of every key that can
-- carry it. Large tables are partitioned by day on the UUIDv7 (one range = one day of ids), so (account_id, id) finds one partition. No
-- foreign key points to a partitioned table: a referenced partition cannot be dropped. No index contains a column that changes, so
-- updates stay heap-only.

create table accounts (
  id uuid primary key,
  name text not null,
  status text not null default 'active' check (status in ('active', 'suspended', 'closed')),
  settings jsonb not null default '{}',
  callback_secret bytea,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  pace numeric check (pace > 0),
  -- Decided by the message, else its campaign, else its account, else the settings of the link; stored in the message.
  on_unknown text check (on_unknown in ('hold', 'resend')),
  -- Null: none of its own. quiet_hours_changed_at: the last change.
  quiet_hours jsonb,
  quiet_hours_changed_at timestamptz,
  -- Sub-accounts, one level deep.
  parent_id uuid references accounts (id),
  -- Requests a second that each credential of the account may make, over all processes; null: as the installation says.
  api_per_second numeric check (api_per_second > 0),
  -- How long an account keeps things, in days. 0 for bodies: until the message is over.
  message_body_days integer not null default 30 check (message_body_days between 0 and 36500),
  reply_body_days integer not null default 90 check (reply_body_days between 0 and 36500),
  message_days integer not null default 400 check (message_days between 1 and 36500),
  event_days integer not null default 30 check (event_days between 4 and 36500),
  closed_at timestamptz,
  -- Posts that are due are made (drain) or dropped (stop).
  close_webhooks text check (close_webhooks in ('drain', 'stop')),
  -- Since then nothing of it is pending and its endpoints are off.
  wound_up_at timestamptz,
  -- Until then it can be opened again.
  destroy_at timestamptz,
  destroyed_at timestamptz,
  -- How long its audit log keeps an event.
  audit_days int not null default 400 check (audit_days between 90 and 36500),
  constraint accounts_closed_check
    check ((status = 'closed') = (closed_at is not null) and (closed_at is null) = (close_webhooks is null)
      and (closed_at is null) = (destroy_at is null) and (destroyed_at is null or wound_up_at is not null)
      and (wound_up_at is null or closed_at is not null))
);
create index accounts_pace on accounts (id) where pace is not null;
create index accounts_quiet_hours_changed on accounts (quiet_hours_changed_at) where quiet_hours_changed_at is not null;
-- Accounts with guards are read every second.
create index accounts_guarded on accounts (id) where settings ? 'guards';
create index accounts_parent on accounts (parent_id, id) where parent_id is not null;
create index accounts_closing on accounts (closed_at) where closed_at is not null and destroyed_at is null;
-- For the longest of all accounts: with ten thousand accounts the table was read for each.
create index accounts_message_days on accounts (message_days);
create index accounts_event_days on accounts (event_days);

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
  -- The second factor of a login. The secret is sealed; it counts from totp_since on, and is only prepared before.
  totp_sealed bytea,
  totp_since timestamptz,
  -- The last step (30 s since 1970) whose code was accepted: no code is accepted twice.
  totp_step bigint,
  primary key (account_id, id)
);
create unique index users_email on users (lower(email), account_id);

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
  revoked_at timestamptz,
  -- When the user last typed the password. A refresh does not change it.
  confirmed_at timestamptz not null default now()
);
create index tokens_family on tokens (family);
create index tokens_expires_at on tokens (expires_at);
create index tokens_user on tokens (account_id, user_id);

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
  -- Networks from which the key works; empty: from everywhere.
  ip_allow text[] not null default '{}',
  -- The secret before the last rotation, which works until then; logins made before that end with it.
  previous_hash bytea,
  previous_until timestamptz,
  primary key (account_id, id)
);

-- Failed logins by (address or network address), for the growing delay; forgotten after a day.
create table login_failures (
  subject text primary key,
  failures int not null,
  last_at timestamptz not null
);

-- Processes. A claim takes FOR SHARE on its node's row; heartbeats have a table of their own, so they never wait for claims.
create table nodes (
  id uuid primary key,
  name text not null,
  started_at timestamptz not null default now(),
  fenced_at timestamptz,
  settled_at timestamptz
);

create table heartbeats (
  node_id uuid primary key references nodes on delete cascade,
  seen_at timestamptz not null,
  low_water uuid,
  -- Ids of the master keys that a process knows, the sealing one first. A key is replaced when all processes know the next.
  master_keys text[] not null default '{}'
);

-- Carriers and their links belong to the installation, not to an account.
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
  updated_at timestamptz not null default now(),
  -- The carrier of test mode: it gets all messages of test keys and no others. At most one.
  is_test boolean not null default false
);
create unique index carriers_test on carriers (is_test) where is_test;

create table links (
  id uuid primary key,
  carrier_id uuid not null references carriers on delete cascade,
  position int not null default 1,
  -- Settings and pace override the carrier's.
  settings jsonb not null default '{}',
  secrets bytea,
  pace numeric check (pace > 0),
  enabled boolean not null default true,
  updated_at timestamptz not null default now(),
  unique (carrier_id, position)
);

-- A number belongs to one account at a carrier: a reply or STOP to it is its owner's, and nobody else's.
create table senders (
  account_id uuid not null references accounts,
  id uuid not null,
  carrier_id uuid not null references carriers,
  number text not null,
  kind text not null check (kind in ('long_code', 'short_code', 'toll_free', 'alphanumeric')),
  country text,
  -- Numbers can be answered, names cannot.
  capabilities text[] not null default '{sms,replies}',
  pace numeric,
  is_default boolean not null default false,
  created_at timestamptz not null default now(),
  primary key (account_id, id),
  unique (number, carrier_id)
);
create unique index senders_default on senders (account_id) where is_default;
create index senders_pace on senders (account_id, id) where pace is not null;
-- Candidates for an account's default sender, the oldest of each kind: without it, a message of an account with 50,000 numbers read them
-- all.
create index senders_alike on senders (account_id, kind, coalesce(country, ''), capabilities, id);

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
  -- Keyed hash of account and external id. If the installation encrypts content, names, external id, attributes and consent are in
  -- `sealed`, and their columns are empty.
  external_id_hmac bytea,
  unique (account_id, campaign_id, phone_number),
  primary key (account_id, campaign_id, id)
);
-- A caller's own id finds a contact; imports without one do not pay for it.
create index contacts_external_id on contacts (account_id, campaign_id, external_id, id) where external_id is not null;
create index contacts_external_id_hmac on contacts (account_id, campaign_id, external_id_hmac, id) where external_id_hmac is not null;

-- One opt-out for an account and number; the last inbound word decides.
create table opt_outs (
  account_id uuid not null references accounts,
  number text,
  number_hmac bytea,
  source text not null,
  reason text,
  message_id uuid,
  created_at timestamptz not null default now(),
  id uuid not null default gen_random_uuid(),
  -- The campaign and broadcast whose message was answered: counted without the reply, which may be gone.
  campaign_id uuid,
  broadcast_id uuid,
  primary key (account_id, id),
  unique (account_id, number),
  unique (account_id, number_hmac),
  check (number is not null or number_hmac is not null)
);
-- Accept reads hashes without a number; the sweep reads numbers that are to be forgotten.
create index opt_outs_forgotten on opt_outs (account_id, number_hmac) where number is null;
create index opt_outs_forgetting on opt_outs (created_at) where number is not null and number_hmac is not null;
-- Opt-outs from one source, newest first: few are confirmed by a review, most are imported.
create index opt_outs_source on opt_outs (account_id, source, id);
create index opt_outs_campaign on opt_outs (account_id, campaign_id) where campaign_id is not null;
create index opt_outs_broadcast on opt_outs (account_id, broadcast_id) where broadcast_id is not null;

-- Messages of both directions. their_number is the person's, our_number is the sender's (null: the carrier's default). Without CHECKs, which
-- PostgreSQL would read and prepare in each statement that writes here.
create table messages (
  account_id uuid not null,
  id uuid not null,
  direction text not null default 'outbound',
  type text not null default 'transactional',
  status text not null,
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
  on_unknown text,
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
  -- Why a message went where it went: the rule that took it (null: the default route), and the carriers it may still go to after a proven
  -- refusal, in order. No index: neither is ever searched for, and updates stay heap-only.
  route_id uuid,
  chain uuid[],
  -- A message of one segment that goes from accept straight to a link needs no intent: its row says who has it (node_id, while it is
  -- `sending`). What a dead node had is found among the messages from its low-water mark on, written with each heartbeat.
  node_id uuid,
  -- The country (ISO 3166-1 alpha-2) of their_number; null: none.
  country text,
  -- The status before this one.
  previous_status text,
  -- The estimate when it was accepted (all segments, in the currency's unit), for the first carrier of its chain that was up; the price
  -- if that carrier took it. Null: no rate was known.
  cost numeric,
  cost_currency text,
  cost_carrier_id uuid,
  -- If another carrier took it: the first estimate (amount and currency; empty: none), while cost is the price of that carrier.
  first_estimate text,
  -- Octets of a reply that are not in the declared encoding; sealed if the text is.
  octets bytea,
  -- Tries that ended before a byte was written (a refused dial, an ended session): no attempts, but they keep their numbers.
  handed_back int not null default 0,
  -- The broadcast that made it, or whose message it answers; null: sent alone.
  broadcast_id uuid,
  primary key (account_id, id)
) partition by range (id);
create table messages_default partition of messages default with (fillfactor = 70);
create index messages_their_number on messages (account_id, their_number, id);
create index messages_campaign on messages (account_id, campaign_id, id) where campaign_id is not null;
create index messages_id on messages using brin (id) with (pages_per_range = 32);
-- Replies of a campaign, for its opt-outs.
create index messages_replies on messages (account_id, campaign_id, id) where direction = 'inbound' and campaign_id is not null;
create index messages_contact on messages (account_id, contact_id, id) where contact_id is not null;

-- One row for each outcome other than delivered. It serves the filters by status and error, so messages needs no index on what changes.
-- If a later outcome overtook a row (unconfirmed, then delivered), readers see that by comparing with the message.
create table outcomes (
  account_id uuid not null,
  status text not null,
  message_id uuid not null,
  error_code text,
  primary key (account_id, status, message_id)
) partition by range (message_id);
create table outcomes_default partition of outcomes default;
create index outcomes_error on outcomes (account_id, error_code, message_id) where error_code is not null;

-- A lane is a queue of one account, campaign run (or none) and type. The scheduler picks lanes, then claims by (lane, id).
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
create index lanes_pace on lanes (id) where pace is not null;

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
  -- Since when quiet hours hold it; null: it waits for something else.
  held_at timestamptz,
  -- The campaign of a message that quiet hours hold: a change of one campaign's quiet hours does not read the others'.
  campaign_id uuid,
  primary key (account_id, message_id)
);
create index delayed_due_at on delayed (due_at);
create index delayed_held on delayed (account_id, held_at) where held_at is not null;
-- If more is due than one piece moves to the queue, each lane gets its share.
create index delayed_lane on delayed (lane_id, due_at);
create index delayed_held_campaign on delayed (account_id, campaign_id, held_at) where held_at is not null and campaign_id is not null;

-- A segment that is with a carrier and not answered: committed before the first byte is written, deleted with the answer. What a dead
-- node leaves here has an unknown outcome.
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
  state text not null,
  carrier_message_id text,
  command_status int,
  intent_at timestamptz,
  answered_at timestamptz not null default now(),
  receipt_state text,
  receipt_stat text,
  receipt_err text,
  receipt_at timestamptz,
  -- is_adopted: a receipt, not an answer, showed that the carrier took it. is_repeated: its outcome was unknown, and a later try repeats
  -- it.
  is_adopted boolean not null default false,
  is_repeated boolean not null default false,
  primary key (account_id, message_id, segment, try)
) partition by range (message_id);
create table submissions_default partition of submissions default with (fillfactor = 70);

-- Carrier's id -> segment, for receipts. Not partitioned (one probe instead of one a day), expired by time: carriers reuse ids.
create table carrier_ids (
  link_id uuid not null,
  carrier_message_id text not null,
  account_id uuid not null,
  message_id uuid not null,
  segment int not null,
  segments int not null,
  at timestamptz not null default now(),
  -- The carrier's own spelling, if the key differs. If the form of ids changes, keys are made again from it.
  raw_id text,
  primary key (link_id, carrier_message_id)
);
create index carrier_ids_at on carrier_ids using brin (at);

-- Receipts of unknown ids, of segments, repeated, contradictory and intermediate ones. A receipt that decided a message of one segment is
-- in the message. Written before deliver_sm is answered; account_id is unknown until matched.
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
  -- Kept while the message is unknown. The numbers are personal and go with the receipt, after 30 days at most. The date is in the
  -- carrier's zone and spelling.
  source text,
  destination text,
  submit_date text,
  reference int,
  -- How many parts of a long message it covers; 0: all; null: the part whose id it names.
  parts int,
  -- If TLV and text have different final states: the one that counts; this row has the other.
  contradicts text,
  primary key (link_id, raw_id, state, done_date)
);
create index receipts_unmatched on receipts (link_id, match_id) where message_id is null;
create index receipts_received_at on receipts using brin (received_at);
-- Unmatched receipts by time: the operator's list, and the matching after their form has changed.
create index receipts_unmatched_at on receipts (link_id, received_at, raw_id, state, done_date) where message_id is null;
create index receipts_adoptable on receipts (link_id, source) where message_id is null and source is not null;
-- The receipts of a message beside the one in its row: of segments, on the way, repeated and contradictory ones.
create index receipts_message on receipts (account_id, message_id) where message_id is not null;
-- For the doctor; empty for most carriers.
create index receipts_contradicting on receipts (link_id, received_at) where contradicts is not null;

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
  -- Sealed with the master key: parts are kept for a minute. Parts in smpp_gatherings say it in the part.
  is_sealed boolean not null default false,
  primary key (link_id, source, destination, kind, reference, total, part)
);
create index reply_parts_received_at on reply_parts (received_at);

-- Replies that a carrier may deliver again after a lost session.
create table reply_hashes (
  link_id uuid not null,
  hash bytea not null,
  received_at timestamptz not null default now(),
  delivery uuid,
  doubts int not null default 0,
  session_id uuid,
  number bigint,
  stored_session_id uuid,
  -- Equal ones before it on its session that the carrier may not know to be answered.
  unproved integer not null default 0,
  -- Our answer was late or an error, so the carrier repeats it in any case.
  is_late boolean not null default false,
  primary key (link_id, hash)
);

-- Replies to numbers that no account owns, for the operator to list. An account that registers the number gets them.
create table orphan_replies (
  id uuid primary key,
  link_id uuid not null,
  source text not null,
  destination text not null,
  body text not null,
  received_at timestamptz not null default now(),
  is_sealed boolean not null default false,
  octets bytea
);
create index orphan_replies_destination on orphan_replies (link_id, destination);
create index orphan_replies_source on orphan_replies (source);

-- The event log, 30 days. txid lets a reader stay below the oldest running transaction: a cursor on (txid, id) never skips an event whose
-- transaction commits late.
create table events (
  account_id uuid not null,
  id uuid not null,
  txid xid8 not null default pg_current_xact_id(),
  type text not null,
  message_id uuid,
  sequence int,
  -- Set for the end of a message: such an event has no payload, because the message does not change and is read with the event.
  payload text,
  created_at timestamptz not null default now(),
  previous_status text,
  primary key (account_id, id)
) partition by range (id);
create table events_default partition of events default;
create index events_order on events (account_id, txid, id);
create index events_message on events (account_id, message_id, id) where message_id is not null;
-- Events that are about no message, for erasures.
create index events_loose on events (account_id, id) where message_id is null;

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
  -- Values of `headers`, which has masks in their place.
  sealed_headers bytea,
  -- Its posts have texts of messages: its creator may read them.
  has_bodies boolean not null default true,
  -- Events a post, and the longest wait for more in milliseconds; null: one event a post.
  batch_events int check (batch_events between 1 and 200),
  batch_wait_ms int check (batch_wait_ms between 0 and 10000),
  disabled_at timestamptz,
  -- What is older and still waits is not posted: it was there when the endpoint was disabled.
  posts_since timestamptz,
  primary key (account_id, id)
);
create index webhooks_disabled on webhooks (account_id, id) where disabled_reason in ('gone', 'failing');
create index webhooks_failing on webhooks (failing_since) where failing_since is not null;

-- What is still to be posted: one row an event and endpoint, in the order of its due time, emptied by DELETE. endpoint_id is a webhook's
-- id, or for a callback_url an id derived from account and origin (url is set then).
create table outbox (
  endpoint_id uuid not null,
  due_at timestamptz not null,
  event_id uuid not null,
  account_id uuid not null,
  try int not null default 1,
  url text,
  leased_by uuid,
  leased_until timestamptz,
  -- Of a repeated post: the endpoint whose settings apply. endpoint_id is then that endpoint, or a replay.
  target_id uuid,
  -- Set if the endpoint is ordered: a post waits for earlier ones of its message.
  message_id uuid,
  sequence int,
  primary key (endpoint_id, due_at, event_id)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
create index outbox_message on outbox (endpoint_id, message_id, sequence, event_id) where message_id is not null;

-- One POST of an event, and the posts after it that ended with the same answer (post/attempt-rows.ts).
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
  url text,
  -- Names of the endpoint's own headers; null: none.
  header_names text[],
  -- Events that were posted together share it.
  batch_id uuid,
  response_headers text,
  connect_ms int,
  first_byte_ms int,
  -- The events of the later posts, in the order of their ends; null: none.
  more_event_ids uuid[],
  -- Four numbers for each of them: milliseconds from created_at to its start, connect_ms, first_byte_ms, duration_ms.
  more_timings int[],
  primary key (account_id, endpoint_id, id)
) partition by range (id);
-- Ids do not compress.
alter table attempts alter column more_event_ids set storage external;
create table attempts_default partition of attempts default;
create index attempts_event on attempts (account_id, event_id);
create index attempts_more on attempts (account_id, event_id) where more_event_ids is not null;
-- Empty while endpoints work.
create index attempts_failed on attempts (account_id, event_id) where outcome <> 'ok';
create index attempts_failed_endpoint on attempts (account_id, endpoint_id, id) where outcome <> 'ok';

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
  -- Long messages of a client of which parts did not come, or that were crossed: they were not sent.
  incomplete bigint not null default 0,
  incomplete_at timestamptz,
  primary key (account_id, id)
);

-- One row a bound session, of all nodes; those of a fenced node do not count.
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
  -- Two parts with one number and reference came that say different things: nobody can tell which parts belong together, so none is sent.
  crossed_at timestamptz,
  primary key (account_id, credential_id, source, destination, kind, reference, total),
  foreign key (account_id, credential_id) references smpp_credentials on delete cascade
);
create index smpp_gatherings_received_at on smpp_gatherings (received_at);

-- Messages whose receipts a client asked for and does not have yet. client_id is the id that the client was given: the message's own, or
-- that of the gathering it was put together from. registered_delivery is each part's.
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
-- What is due to an SMPP client, the longest first. By the primary key, a claim went through everything that the client had refused and
-- that waits to come again, five times a second.
create index smpp_deliveries_due on smpp_deliveries (account_id, credential_id, due_at, id, part);

-- How far an account's event log was read for its clients. floor_id: no unread event has a smaller id (prunes days).
create table smpp_cursors (
  account_id uuid primary key references accounts,
  txid xid8 not null,
  event_id uuid not null,
  floor_id uuid not null
);

-- The sessions that a carrier allows, each held by one process at a time. The epoch counts its holders: who comes back with an old one is
-- refused.
create table link_slots (
  link_id uuid not null references links on delete cascade,
  slot int not null check (slot > 0),
  node_id uuid references nodes on delete set null,
  epoch bigint not null default 0,
  leased_until timestamptz not null default now(),
  primary key (link_id, slot)
) with (fillfactor = 50);

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

-- The part of a lane that waits for one carrier, or for one sender with a pace of its own: what is in its place in the queue has this id
-- as its lane, so that a carrier that is down or busy is not in the way of the others. sender '': all of the carrier.
create table backlogs (
  id uuid primary key,
  lane_id uuid not null references lanes on delete cascade,
  carrier_id uuid not null,
  sender text not null default '',
  created_at timestamptz not null default now(),
  -- What waits for the pace of its campaign is a part of its lane, as what waits for its sender's. campaign_id null: of any.
  campaign_id uuid,
  unique nulls not distinct (lane_id, carrier_id, sender, campaign_id)
);

-- One row: the version of everything above. A change of routes locks it, so that changes take turns, and every process sees that there
-- was one by reading a single number.
create table routes_version (
  is_one boolean primary key default true check (is_one),
  version bigint not null,
  -- Every process reads the rate cards again when it has changed.
  rates bigint not null default 0
);
insert into routes_version (version) values (1);

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

-- Meanings of a carrier's codes that its operator added to the defaults. A submit has code; a receipt has stat and err (in code), an
-- empty one of the two matches any.
create table status_mappings (
  carrier_id uuid not null references carriers on delete cascade,
  kind text not null check (kind in ('submit', 'receipt')),
  stat text not null default '',
  code text not null default '',
  error_code text not null,
  handling text not null check (handling in ('permanent', 'passing', 'throttling')),
  note text,
  updated_at timestamptz not null default now(),
  primary key (carrier_id, kind, stat, code)
);

-- The form by which the ids of a link are keyed. It follows message_id_form of the carrier: a change leaves rows in the old form, and
-- more come until the link binds again. settled_at: since when none are left.
create table link_id_forms (
  link_id uuid primary key references links on delete cascade,
  form text not null,
  changed_at timestamptz not null default now(),
  passed_at timestamptz,
  settled_at timestamptz,
  leased_until timestamptz,
  rekeyed bigint not null default 0,
  matched bigint not null default 0
);

-- Tries that no receipt finds by the carrier's id: never answered, or answered without one. link_id is the one under which the receipts
-- of its carrier come. Gone when the id is known, and with the ids of its time.
create table nameless_tries (
  account_id uuid not null,
  message_id uuid not null,
  segment int not null,
  try int not null,
  link_id uuid not null,
  -- As carrier_ids has it: 1 where one receipt speaks for the whole message.
  segments int not null,
  their_number text not null,
  our_number text,
  reference int not null,
  intent_at timestamptz not null,
  noted_at timestamptz not null default now(),
  check_at timestamptz not null default now(),
  -- When the message is sent again unless its outcome is known by then; null: it is held.
  resend_at timestamptz,
  primary key (account_id, message_id, segment, try)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
create index nameless_tries_number on nameless_tries (link_id, their_number);
create index nameless_tries_check_at on nameless_tries (check_at);
create index nameless_tries_resend_at on nameless_tries (resend_at) where resend_at is not null;

-- Processes that ended while they held a message. Rare, so messages has no column for it.
create table crashes (
  account_id uuid not null,
  message_id uuid not null,
  node_id uuid not null,
  at timestamptz not null default now(),
  primary key (account_id, message_id, node_id)
);
create index crashes_at on crashes using brin (at);

-- Resends of messages with an unknown outcome.
create table resends (
  account_id uuid not null,
  message_id uuid not null,
  -- Tries before it.
  tries int not null,
  actor_kind text not null check (actor_kind in ('key', 'token')),
  actor_id text not null,
  request_id text not null,
  at timestamptz not null default now(),
  primary key (account_id, message_id, tries)
);

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
  type text not null
    check (type in ('link.down', 'link.throttled', 'sender.degraded', 'webhook.failing', 'webhook.disabled', 'reply.orphaned')),
  subject text not null,
  detail jsonb not null default '{}',
  seen_at timestamptz not null default now(),
  opened_at timestamptz,
  -- Since when it seems to be over.
  clear_at timestamptz,
  closed_at timestamptz,
  primary key (account_id, id)
);
-- One episode at a time.
create unique index alerts_unclosed on alerts (type, subject, account_id) where closed_at is null;

-- Receipts that found no message in the days for which they are kept, by link: the rows are gone, their number stays.
create table forgotten_receipts (
  link_id uuid primary key references links on delete cascade,
  count bigint not null,
  last_at timestamptz not null default now()
);

-- What each process may use of a pace of an account, a lane, a campaign or a sender: units of the pace + 1, which add up to no more.
create table pace_grants (
  account_id uuid not null references accounts on delete cascade,
  kind text not null check (kind in ('account', 'lane', 'sender', 'campaign')),
  name text not null,
  node_id uuid not null references nodes on delete cascade,
  units int not null,
  primary key (account_id, kind, name, node_id)
) with (fillfactor = 50);
create index pace_grants_node on pace_grants (node_id);

-- Who agreed or withdrew, when and how. By keyed hash, so that it needs no number and outlives the person's data. Nothing refers to it,
-- and its owner may not change it (a superuser can, and so can a role that may grant).
create table consents (
  account_id uuid not null,
  id uuid not null,
  number_hmac bytea not null,
  status text not null check (status in ('opted_in', 'opted_out', 'unknown')),
  source text not null check (source in ('reply', 'api', 'import', 'contact', 'review', 'carrier')),
  -- Public id of the key or user that said so; null: the person.
  actor text,
  campaign_id uuid,
  message_id uuid,
  evidence jsonb not null default '{}',
  recorded_at timestamptz not null default now(),
  primary key (account_id, id)
);
create index consents_number on consents (account_id, number_hmac, id);
revoke update, delete, truncate on consents from public, current_user;

-- Keywords of an account, or of one of its campaigns, that differ from the defaults.
create table keyword_settings (
  account_id uuid not null references accounts,
  campaign_id uuid,
  settings jsonb not null,
  updated_at timestamptz not null default now(),
  unique nulls not distinct (account_id, campaign_id)
);

-- Replies that may mean STOP, until a person has looked at them.
create table opt_out_suspicions (
  account_id uuid not null references accounts,
  message_id uuid not null,
  number text not null,
  created_at timestamptz not null default now(),
  primary key (account_id, message_id)
);
create index opt_out_suspicions_number on opt_out_suspicions (account_id, number);

-- Texts with merge fields. Nothing refers to these rows: what a message or a broadcast takes from one is copied into it.
create table templates (
  account_id uuid not null references accounts,
  id uuid not null,
  name text not null,
  -- BCP 47, of the body.
  language text not null,
  body text not null,
  -- The text in other languages, by their tags.
  languages jsonb not null default '{}',
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (account_id, id),
  unique (account_id, name)
);

create table campaigns (
  account_id uuid not null references accounts,
  id uuid not null,
  key text,
  name text not null,
  description text,
  status text not null default 'active'
    check (status in ('draft', 'active', 'awaiting_approval', 'scheduled', 'sending', 'paused', 'completed', 'canceled', 'archived')),
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
  on_unknown text check (on_unknown in ('hold', 'resend')),
  -- Segments a second, over all processes.
  pace numeric check (pace > 0),
  quiet_hours jsonb,
  quiet_hours_changed_at timestamptz,
  -- Default of its messages; null: none.
  shorten_urls boolean,
  -- Instead of a sender and a message. The routes that delete a pool or a template refuse while an open campaign uses it; a closed one
  -- forgets it.
  pool_id uuid,
  template_id uuid,
  -- Values for fields of its text that are the same for all.
  variables jsonb not null default '{}',
  primary key (account_id, id),
  unique (account_id, key),
  foreign key (account_id, pool_id) references sender_pools on delete set null (pool_id),
  foreign key (account_id, template_id) references templates on delete set null (template_id),
  check (sender is null or pool_id is null),
  check (message is null or template_id is null)
);
create index campaigns_pace on campaigns (account_id, id) where pace is not null;
create index campaigns_quiet_hours on campaigns (account_id, id) where quiet_hours is not null;
create index campaigns_quiet_hours_changed on campaigns (quiet_hours_changed_at) where quiet_hours_changed_at is not null;
create index campaigns_pool on campaigns (account_id, pool_id) where pool_id is not null;
create index campaigns_template on campaigns (account_id, template_id) where template_id is not null;

create table imports (
  account_id uuid not null,
  id uuid not null,
  campaign_id uuid not null,
  status text not null default 'queued'
    check (status in ('queued', 'processing', 'completed', 'completed_with_errors', 'failed', 'canceled')),
  format text not null check (format in ('json', 'csv', 'ndjson', 'xlsx')),
  options jsonb not null default '{}',
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
  bytes_read bigint not null default 0,
  repairs jsonb not null default '{}',
  sample jsonb,
  -- Where the import last began, and how often it began there: one that makes progress may be interrupted any number of times.
  resumed_row bigint not null default 0,
  resumes integer not null default 0,
  hidden bigint not null default 0,
  faults jsonb not null default '[]',
  cells jsonb,
  -- Where an interrupted import continues: a place in its file after the committed rows, and their numbers. Both go with the file when
  -- the import ends.
  resume jsonb,
  -- Further numbers in the cells from which the import took the first.
  further_numbers jsonb,
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
-- Compressing uploads costs more time than the few days' disk is worth, and slices of the file can be read without unpacking all of it.
alter table import_chunks alter column bytes set storage external;

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

-- Routes: ordered rules that pick the carriers of a message; the first that matches wins. They belong to the installation. Lists in match
-- are alternatives, its members are conditions that must all hold; an absent member always does.
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

-- The messages between a person and one of our numbers, from the person's first reply on. Written with replies only, because most
-- messages are never answered. The id is made of the account and both numbers.
create table conversations (
  account_id uuid not null references accounts,
  id uuid not null,
  our_number text not null,
  their_number text not null,
  -- Lists are ordered by it.
  last_reply_id uuid not null,
  unread integer not null,
  -- Of the last reply that answered something of a campaign.
  campaign_id uuid,
  contact_id uuid,
  -- A user of the account.
  assignee uuid,
  created_at timestamptz not null default now(),
  -- The next reply opens it again. `closed_by` is the public id of a user or an API key.
  closed_at timestamptz,
  closed_by text,
  primary key (account_id, id),
  constraint conversations_closed_check check ((closed_at is null) = (closed_by is null))
) with (fillfactor = 70);
create index conversations_recent on conversations (account_id, last_reply_id);
create index conversations_unread on conversations (account_id, last_reply_id) where unread > 0;
create index conversations_our_number on conversations (account_id, our_number, last_reply_id);
create index conversations_their_number on conversations (account_id, their_number);
create index conversations_assignee on conversations (account_id, assignee, last_reply_id) where assignee is not null;
-- The conversations of one campaign, the last reply first.
create index conversations_campaign on conversations (account_id, campaign_id, last_reply_id) where campaign_id is not null;
create index conversations_open on conversations (account_id, last_reply_id) where closed_at is null;
create index conversations_closed on conversations (account_id, last_reply_id) where closed_at is not null;

-- Broadcasts: one text to the contacts of a campaign. Recipients come from the contacts in pieces (expanded_to), and messages from the
-- recipients in pieces (taken_to, taken_due_at), each piece in one transaction with its mark: nobody twice, nobody skipped.
create table broadcasts (
  account_id uuid not null references accounts,
  id uuid not null,
  campaign_id uuid not null,
  status text not null
    check (status in ('awaiting_approval', 'scheduled', 'sending', 'paused', 'completed', 'canceled', 'rejected', 'withdrawn')),
  -- The fields of a send; the text is frozen here.
  body jsonb not null,
  is_test boolean not null,
  audience_tags text[],
  send_at timestamptz not null,
  -- A time on the clock of each recipient; null: send_at for all.
  send_at_local timestamp,
  -- For recipients whose own is not known.
  timezone text not null,
  expanded_to uuid,
  is_expanded boolean not null default false,
  taken_to uuid,
  taken_due_at timestamptz,
  recipients bigint not null default 0,
  messages bigint not null default 0,
  segments bigint not null default 0,
  -- Who got no message, by reason.
  skipped jsonb not null default '{}',
  -- Messages that were queued when it was canceled are canceled.
  is_settled boolean not null default false,
  created_at timestamptz not null default now(),
  started_at timestamptz,
  completed_at timestamptz,
  -- Public ids of who ordered it, and of who decided.
  ordered_by text,
  decided_by text,
  decided_at timestamptz,
  decision text,
  -- Why it waits, until when at most, and when it is tried again.
  hold_reason text,
  hold_until timestamptz,
  hold_guard_id uuid,
  retry_at timestamptz,
  -- How many recipients it was approved for. If there are more when they are read, it needs approval again.
  approved_recipients bigint,
  primary key (account_id, id),
  foreign key (account_id, campaign_id) references campaigns
) with (fillfactor = 50);
create index broadcasts_campaign on broadcasts (account_id, campaign_id, id);
create unique index broadcasts_open on broadcasts (account_id, campaign_id)
  where status in ('awaiting_approval', 'scheduled', 'sending', 'paused');
create index broadcasts_waiting on broadcasts ((case when status = 'canceled' then created_at else send_at end))
  where status in ('scheduled', 'sending') or (status = 'canceled' and not is_settled);

-- due_at: only where each recipient has a time of their own.
create table recipients (
  account_id uuid not null,
  broadcast_id uuid not null,
  contact_id uuid not null,
  due_at timestamptz,
  skipped text,
  primary key (account_id, broadcast_id, contact_id)
);
create index recipients_due on recipients (account_id, broadcast_id, due_at, contact_id) where due_at is not null;

-- Short links: a code of its own for each address and message. message_id is a UUIDv7, so that the order on disk is the order of age.
create table short_links (
  code text collate "C" primary key,
  account_id uuid not null,
  message_id uuid not null,
  position int not null,
  campaign_id uuid,
  url text not null,
  clicks int not null default 0,
  bot_clicks int not null default 0,
  first_clicked_at timestamptz,
  last_clicked_at timestamptz,
  broadcast_id uuid
) with (fillfactor = 90);
create index short_links_message on short_links (account_id, message_id);
create index short_links_age on short_links using brin (message_id);

-- Clicks of people, by campaign: the sum over its links.
create table campaign_clicks (
  account_id uuid not null,
  campaign_id uuid not null,
  clicks bigint not null,
  broadcast_id uuid,
  constraint campaign_clicks_key unique nulls not distinct (account_id, campaign_id, broadcast_id)
) with (fillfactor = 50);
create index campaign_clicks_broadcast on campaign_clicks (account_id, broadcast_id) where broadcast_id is not null;

-- Changes of the counts, written by the statement that changes messages, a row for each group of a batch. Folded into tallies within
-- about a second; readers add both. No index: few rows, each written once and deleted once. from_bucket null: new messages; to_bucket
-- null: taken back, to be counted with another number of segments.
create table tally_deltas (
  account_id uuid not null,
  hour timestamptz not null,
  campaign_id uuid,
  type text not null,
  is_test boolean not null,
  country text,
  carrier_id uuid,
  segments int not null,
  from_bucket text,
  to_bucket text,
  error_code text,
  currency text,
  messages int not null,
  -- Their cost before and after.
  cost_before numeric not null default 0,
  cost numeric not null default 0,
  broadcast_id uuid
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0);

-- Messages by the hour in which they were accepted (replies: received), so that the buckets of an hour add up to its messages. Kept when
-- messages are not; about no person. campaign_id: none for automatic answers, which are nobody's recipients. carrier_id: none while they
-- wait, or have waited only. segments: of each message. error_code: of those that failed or were canceled.
create table tallies (
  account_id uuid not null,
  hour timestamptz not null,
  campaign_id uuid,
  type text not null,
  is_test boolean not null,
  country text,
  carrier_id uuid,
  segments int not null,
  bucket text not null check (bucket in ('scheduled', 'queued', 'sent', 'delivered', 'failed', 'unconfirmed', 'canceled', 'received')),
  error_code text,
  currency text,
  messages bigint not null,
  cost numeric not null default 0,
  broadcast_id uuid,
  constraint tallies_key unique nulls not distinct (account_id, hour, campaign_id, broadcast_id, type, is_test, country, carrier_id,
      segments, bucket, error_code, currency)
) with (fillfactor = 50);
create index tallies_campaign on tallies (account_id, campaign_id, hour) where campaign_id is not null;
create index tallies_broadcast on tallies (account_id, broadcast_id) where broadcast_id is not null;

-- One row a limit and window, locked and moved by accept in the transaction that accepts: exact over all processes. The key is a country,
-- the prefix of a number (its last four digits are not in it), or empty.
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

-- The rate card of each carrier, from its last upload. It belongs to the installation.
create table rates (
  carrier_id uuid not null references carriers on delete cascade,
  -- `*` (everywhere), a country (ISO 3166-1 alpha-2), or first digits of numbers. The most specific one applies.
  destination text collate "C" not null check (destination ~ '^(\*|[A-Z]{2}|[1-9][0-9]{0,14})$'),
  effective_from timestamptz not null,
  -- Of a segment, in millionths of the currency's unit.
  cost bigint not null check (cost >= 0),
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  primary key (carrier_id, destination, effective_from)
);

-- The end of each account's chain of audit events: its row is locked while one is added, so that the chain has no forks.
create table audit_chains (
  account_id uuid primary key,
  seq bigint not null,
  hash bytea not null,
  -- The last event of an audit log that went by age: what follows is chained to its hash. 0 and null: none did.
  pruned_seq bigint not null default 0,
  pruned_hash bytea,
  changed_in xid8 not null default '0',
  constraint audit_chains_pruned_check check ((pruned_seq = 0) = (pruned_hash is null) and pruned_seq <= seq)
) with (fillfactor = 50);
create index audit_chains_changed_in on audit_chains (changed_in);

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
-- The owner may grant them to itself again, but a statement that was not meant for this table fails.
revoke update, truncate on audit_events from current_user;

-- Codes that stand in for the second factor once. Keyed hashes.
create table recovery_codes (
  account_id uuid not null,
  user_id uuid not null,
  hash bytea not null,
  primary key (account_id, user_id, hash),
  foreign key (account_id, user_id) references users on delete cascade
);

-- Invitations to become a user. email is personal data; rows go a month after their end.
create table invitations (
  account_id uuid not null references accounts (id),
  id uuid not null,
  email text not null,
  role text not null check (role in ('owner', 'admin', 'developer', 'sender', 'viewer')),
  code_hash bytea not null unique,
  -- The user who invites, or a key; null: the parent of the account.
  invited_by uuid,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  accepted_at timestamptz,
  revoked_at timestamptz,
  -- The one-time code of an owner who has no password yet: an invitation for a user who is there already. Null: it makes a user.
  user_id uuid,
  primary key (account_id, id),
  foreign key (account_id, user_id) references users on delete cascade
);
create unique index invitations_open on invitations (account_id, lower(email))
  where accepted_at is null and revoked_at is null;

-- Requests a second of each process with a credential (a key or a user), by which the processes share its limit. Not needed after a
-- crash.
create unlogged table request_demands (
  credential_id uuid not null,
  node_id uuid not null references nodes on delete cascade,
  per_second real not null,
  at timestamptz not null default now(),
  primary key (credential_id, node_id)
) with (fillfactor = 50);
create index request_demands_node on request_demands (node_id);

-- Events that are posted again to one endpoint, piece by piece, in an outbox lane of their own (outbox.endpoint_id = id).
create table replays (
  account_id uuid not null references accounts on delete cascade,
  id uuid not null,
  endpoint_id uuid not null,
  -- Ids of events: the time between them.
  from_id uuid not null,
  to_id uuid not null,
  types text[] not null,
  only_failed boolean not null,
  status text not null default 'running' check (status in ('running', 'completed', 'canceled')),
  -- Why it was canceled: 'request', or the state of its endpoint.
  canceled_reason text,
  -- Events up to here are done or in the outbox.
  mark uuid not null,
  events bigint not null default 0,
  delivered bigint not null default 0,
  failed bigint not null default 0,
  -- It begins when every transaction that ran at its creation is over: none can commit an event behind the mark.
  txid xid8 not null default pg_current_xact_id(),
  created_at timestamptz not null default now(),
  completed_at timestamptz,
  primary key (account_id, id)
) with (fillfactor = 50);
create index replays_endpoint on replays (account_id, endpoint_id, id);
create index replays_running on replays (id) where status = 'running';

-- Up to which id an account's rows have been gone through: what is older was deleted, or is in discards.
create table retention_marks (
  account_id uuid primary key references accounts (id) on delete cascade,
  bodies_to uuid not null default '00000000-0000-0000-0000-000000000000',
  reply_bodies_to uuid not null default '00000000-0000-0000-0000-000000000000',
  messages_to uuid not null default '00000000-0000-0000-0000-000000000000',
  events_to uuid not null default '00000000-0000-0000-0000-000000000000',
  due_at timestamptz not null default now()
) with (fillfactor = 50);
create index retention_marks_due_at on retention_marks (due_at);

-- Messages whose body goes as soon as they are over.
create table discards (
  account_id uuid not null,
  message_id uuid not null,
  check_at timestamptz not null default now() + interval '2 seconds',
  primary key (account_id, message_id)
);
create index discards_check_at on discards (check_at);

-- Requests to erase a number from an account. Personal data: the number, until it is done.
create table erasures (
  account_id uuid not null references accounts (id),
  id uuid not null,
  number text,
  reason text,
  -- The current step, and how far it is in it.
  step text,
  after text,
  -- This pass met something that may still write the number.
  is_waiting boolean not null default false,
  erased jsonb not null default '{}',
  created_at timestamptz not null default now(),
  -- What was being written at the request is visible from then on, so a pass that begins later finds it all.
  settles_at timestamptz not null default now() + interval '2 minutes',
  pass_at timestamptz not null default now(),
  due_at timestamptz not null default now(),
  completed_at timestamptz,
  primary key (account_id, id),
  check (completed_at is null or number is null)
);
create unique index erasures_number on erasures (account_id, number) where number is not null;
create index erasures_due_at on erasures (due_at) where completed_at is null;

-- Credentials of programs written for Twilio's API: the auth token opens requests and signs callbacks, so it is kept sealed besides its
-- hash.
create table twilio_credentials (
  account_id uuid not null references accounts,
  id uuid not null,
  name text not null,
  mode text not null default 'live' check (mode in ('live', 'test')),
  token_hash bytea not null unique,
  token_sealed bytea not null,
  created_at timestamptz not null default now(),
  last_used_at timestamptz,
  revoked_at timestamptz,
  primary key (account_id, id)
);

-- Calls of deprecated operations by credential (an API key or a user), written at most once a minute by a process.
create table deprecated_calls (
  account_id uuid not null references accounts,
  credential_id uuid not null,
  operation text not null,
  credential text not null check (credential in ('key', 'user')),
  calls bigint not null,
  first_at timestamptz not null,
  last_at timestamptz not null,
  primary key (account_id, credential_id, operation)
);

-- Data keys: 32 random bytes an account and version, wrapped by the master key; texts of messages are sealed with them where the
-- installation encrypts content. The current one has no retired_at. wrapped is null: the key was destroyed, and what it sealed with it.
-- swept_to: messages up to this id have been sealed with a later key. Erasure and retention leave keys alone: they are about no person.
create table data_keys (
  account_id uuid not null,
  version int not null check (version between 1 and 65535),
  wrapped bytea,
  created_at timestamptz not null default now(),
  retired_at timestamptz,
  swept_to uuid,
  -- A key is destroyed when all messages (texts_swept_at) and all contacts (contacts_swept_at) are sealed with a later one. Contacts up
  -- to (contacts_campaign_id, contacts_swept_to) are. For the current key it means that plain contacts are sealed.
  texts_swept_at timestamptz,
  contacts_campaign_id uuid,
  contacts_swept_to uuid,
  contacts_swept_at timestamptz,
  primary key (account_id, version)
);
create unique index data_keys_current on data_keys (account_id) where retired_at is null;
create index data_keys_retired on data_keys (retired_at) where retired_at is not null and wrapped is not null;
-- Keys whose contacts have yet to be gone through; data_keys_retired serves the texts.
create index data_keys_contacts on data_keys (retired_at) where wrapped is not null and contacts_swept_at is null;

-- Who made or rotated a key, after the audit log forgot it: a holder of the secret cannot approve what the key orders. Only ids of
-- people.
create table key_makers (
  account_id uuid not null references accounts (id),
  -- Public id of the key.
  target text not null,
  actor_kind text not null check (actor_kind in ('user', 'key', 'system')),
  actor_id uuid,
  unique nulls not distinct (account_id, target, actor_kind, actor_id)
);

-- Which master key this database is used with, so that no process starts with another one. `sealing`: ids of the keys that secrets may be
-- sealed with, several while a key is replaced. `hashing`: id of the secret behind keyed hashes, which no rotation changes. An id tells
-- nothing of its key.
create table master_key (
  is_only boolean primary key default true check (is_only),
  sealing text[] not null check (sealing <> '{}'),
  hashing text not null
);

-- What a session of a carrier has proved of the replies that it delivered: all up to a number have our answer. Of what it has not proved,
-- and of a session that is over or whose process is dead, an equal reply may be the same one again. `is_asked`: another process waits for
-- a proof.
create table reply_sessions (
  id uuid not null primary key,
  node_id uuid not null references nodes (id) on delete cascade,
  sure_to bigint not null default 0,
  is_asked boolean not null default false,
  over_at timestamptz
);
create index reply_sessions_node_id on reply_sessions (node_id);

-- Who logged in lately, and from which network, as a keyed hash of both: guesses of strangers elsewhere do not make them wait.
create table known_logins (
  subject text primary key,
  last_at timestamptz not null
);

create table import_numbers (
  account_id uuid not null,
  import_id uuid not null,
  first_row bigint not null,
  -- Numbers that are new in the rows of a batch, and numbers that they opt out first; separated by blanks.
  numbers text not null,
  outs text not null,
  primary key (account_id, import_id, first_row),
  foreign key (account_id, import_id) references imports on delete cascade
);
