-- How an endpoint wants its posts.
alter table webhooks
  -- Names with a mask in the place of each value are in headers; rows from before have their values there until a start seals them.
  add column sealed_headers bytea,
  -- Texts of messages are in its posts: whoever set its address may read them.
  add column has_bodies boolean not null default true,
  -- Events a post, and the longest wait for more in milliseconds; null: one event a post.
  add column batch_events int check (batch_events between 1 and 200),
  add column batch_wait_ms int check (batch_wait_ms between 0 and 10000),
  add column disabled_at timestamptz,
  -- What is older and still waits is not posted: it was there when the endpoint was disabled.
  add column posts_since timestamptz;

alter table outbox
  -- Of a post that somebody asked for again: the endpoint whose settings apply. endpoint_id is then that endpoint, or a replay.
  add column target_id uuid,
  -- Set where the endpoint is ordered: a post waits for earlier ones of its message.
  add column message_id uuid,
  add column sequence int;
create index outbox_message on outbox (endpoint_id, message_id, sequence, event_id) where message_id is not null;

alter table attempts
  add column url text,
  -- Names of the endpoint's own headers; null: none.
  add column header_names text[],
  -- Events that were posted together share it.
  add column batch_id uuid,
  add column response_headers text,
  add column connect_ms int,
  add column first_byte_ms int;
-- Event ids grow, and so does the index: at its end.
create index attempts_event on attempts (account_id, event_id);
-- Empty while endpoints work.
create index attempts_failed on attempts (account_id, event_id) where outcome <> 'ok';
create index attempts_failed_endpoint on attempts (account_id, endpoint_id, id) where outcome <> 'ok';

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
  -- Why it was canceled: 'request', or what became of its endpoint.
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
