-- Which credential still calls what is deprecated, and when last: a row a credential and operation, written at most once a minute by a
-- process. credential_id is an API key's or a user's. No data of people in it.
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
