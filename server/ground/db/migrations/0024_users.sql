-- The second factor of a login. The secret is sealed; it counts from totp_since on, and is only prepared before.
alter table users
  add column totp_sealed bytea,
  add column totp_since timestamptz,
  -- The last step (30 s since 1970) whose code was accepted: none is accepted twice.
  add column totp_step bigint;

-- Codes that stand in for the second factor once. Keyed hashes.
create table recovery_codes (
  account_id uuid not null,
  user_id uuid not null,
  hash bytea not null,
  primary key (account_id, user_id, hash),
  foreign key (account_id, user_id) references users on delete cascade
);

-- Invitations to become a user. email is personal data; rows go a month after their end.
create table invitations (
  account_id uuid not null references accounts (id),
  id uuid not null,
  email text not null,
  role text not null check (role in ('owner', 'admin', 'developer', 'sender', 'viewer')),
  code_hash bytea not null unique,
  -- The user who invites, or a key; null: the parent of the account.
  invited_by uuid,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  accepted_at timestamptz,
  revoked_at timestamptz,
  primary key (account_id, id)
);
-- One open invitation for an address of an account.
create unique index invitations_open on invitations (account_id, lower(email))
  where accepted_at is null and revoked_at is null;

alter table api_keys
  -- Networks from which the key works; empty: from everywhere.
  add column ip_allow text[] not null default '{}',
  -- The secret before the last rotation, which works until then; logins made before that end with it.
  add column previous_hash bytea,
  add column previous_until timestamptz;

-- All logins of a user or key, to end them.
create index tokens_user on tokens (account_id, user_id);

-- Sub-accounts, one level deep.
alter table accounts add column parent_id uuid references accounts (id);
create index accounts_parent on accounts (parent_id, id) where parent_id is not null;
