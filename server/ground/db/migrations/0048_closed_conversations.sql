-- A conversation is open until somebody closes it; the next reply opens it again. `closed_by` is a user or an API key, as it is shown.
alter table conversations
  add column closed_at timestamptz,
  add column closed_by text,
  add constraint conversations_closed_check check ((closed_at is null) = (closed_by is null));
create index conversations_open on conversations (account_id, last_reply_id) where closed_at is null;
create index conversations_closed on conversations (account_id, last_reply_id) where closed_at is not null;
