-- Credentials of programs written for Twilio's API: the auth token opens requests and signs callbacks, so it is kept sealed besides its hash.
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
