-- Unknown outcomes: what a receipt adopts, what is sent again, and what is not given to a process any more.

-- Who decides, in this order: the message, its campaign, its account, then the settings of the link. What was decided stands in the message.
alter table accounts add column on_unknown text check (on_unknown in ('hold', 'resend'));
alter table campaigns add column on_unknown text check (on_unknown in ('hold', 'resend'));

-- is_adopted: a receipt told that the carrier took it, not an answer. is_repeated: its outcome was unknown, and a later try repeats it.
alter table submissions
  add column is_adopted boolean not null default false,
  add column is_repeated boolean not null default false;

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

-- What a receipt tells besides its id, while its message is not known: whom it is about and when it was submitted. The numbers are
-- personal, and go with the receipt after 30 days at most. The date is in the carrier's own zone and spelling.
alter table receipts
  add column source text,
  add column destination text,
  add column submit_date text,
  add column reference int;
create index receipts_adoptable on receipts (link_id, source) where message_id is null and source is not null;

-- Which processes ended with a message in their hands. Of most messages none, so that messages has no column for it.
create table crashes (
  account_id uuid not null,
  message_id uuid not null,
  node_id uuid not null,
  at timestamptz not null default now(),
  primary key (account_id, message_id, node_id)
);
create index crashes_at on crashes using brin (at);

-- Who had a message sent again whose outcome was unknown.
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
