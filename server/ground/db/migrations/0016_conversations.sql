-- What a person and one of our numbers have written to each other, from the person's first reply on. Written with replies only: messages
-- to people would pay for it otherwise, and most of them are never answered. The id is made of the account and both numbers.
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
  primary key (account_id, id)
) with (fillfactor = 70);
create index conversations_recent on conversations (account_id, last_reply_id);
create index conversations_unread on conversations (account_id, last_reply_id) where unread > 0;
create index conversations_our_number on conversations (account_id, our_number, last_reply_id);
create index conversations_their_number on conversations (account_id, their_number);
create index conversations_assignee on conversations (account_id, assignee, last_reply_id) where assignee is not null;
