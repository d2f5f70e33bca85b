-- What the built-in receiver of webhooks was sent (`post/receiver.ts`): the last hundred posts of an account, for a day. content: headers and
-- body, sealed.
create table received_posts (
  account_id uuid not null,
  id uuid not null,
  endpoint_id uuid not null,
  is_callback boolean not null,
  is_verified boolean not null,
  content bytea not null,
  received_at timestamptz not null default now(),
  primary key (account_id, id)
);
create index received_posts_age on received_posts (received_at);
