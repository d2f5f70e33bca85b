-- Broadcasts: one text to the contacts of a campaign. Recipients come from the contacts in pieces (expanded_to), and messages from the
-- recipients in pieces (taken_to, taken_due_at), each piece in one transaction with its mark: nobody twice, nobody skipped.
create table broadcasts (
  account_id uuid not null references accounts,
  id uuid not null,
  campaign_id uuid not null,
  status text not null check (status in ('scheduled', 'sending', 'paused', 'completed', 'canceled')),
  -- What each message is made of, as a send has it; the text is frozen here.
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
  -- Messages that waited when it was canceled have been taken back.
  is_settled boolean not null default false,
  created_at timestamptz not null default now(),
  started_at timestamptz,
  completed_at timestamptz,
  primary key (account_id, id),
  foreign key (account_id, campaign_id) references campaigns
) with (fillfactor = 50);
create index broadcasts_campaign on broadcasts (account_id, campaign_id, id);
-- One at a time: a second would mix its messages with the first one's, and with its pause.
create unique index broadcasts_open on broadcasts (account_id, campaign_id) where status in ('scheduled', 'sending', 'paused');
-- What the clock looks at: few rows at any time.
create index broadcasts_waiting on broadcasts (send_at) where status in ('scheduled', 'sending') or (status = 'canceled' and not is_settled);

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
