-- When the person behind a login last showed who they are, by a password: refreshing a login does not. Logins that are open count from now on.
alter table tokens add column confirmed_at timestamptz not null default now();
