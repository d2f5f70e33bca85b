-- How long an account keeps things, in days. 0 for bodies: until the message is over.
alter table accounts
  add column message_body_days integer not null default 30 check (message_body_days between 0 and 36500),
  add column reply_body_days integer not null default 90 check (reply_body_days between 0 and 36500),
  add column message_days integer not null default 400 check (message_days between 1 and 36500),
  add column event_days integer not null default 30 check (event_days between 4 and 36500);

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
  -- Where the work stands: the step, and how far it is in it.
  step text,
  after text,
  -- This pass met something that may still write the number.
  is_waiting boolean not null default false,
  erased jsonb not null default '{}',
  created_at timestamptz not null default now(),
  -- What was being written when it was asked for is visible from then on; a pass that began later finds all.
  settles_at timestamptz not null default now() + interval '2 minutes',
  pass_at timestamptz not null default now(),
  due_at timestamptz not null default now(),
  completed_at timestamptz,
  primary key (account_id, id),
  check (completed_at is null or number is null)
);
create unique index erasures_number on erasures (account_id, number) where number is not null;
create index erasures_due_at on erasures (due_at) where completed_at is null;

-- What an erasure looks for: events that are about no message.
create index events_loose on events (account_id, id) where message_id is null;
