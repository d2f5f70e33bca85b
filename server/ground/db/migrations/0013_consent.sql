-- Opt-outs that outlive what the account knows of a person, the ledger of consent, and keywords that can be edited.

-- An opt-out has its number until the person is forgotten, and then only the keyed hash of account and number. Both are there from the
-- request to forget until nothing is on its way to the number any more. The key is not in the database.
alter table opt_outs drop constraint opt_outs_pkey;
alter table opt_outs add column id uuid not null default gen_random_uuid();
-- Lists go by id: old rows get a UUIDv7 of their time.
update opt_outs
set id = (lpad(to_hex(floor(extract(epoch from created_at) * 1000)::bigint), 12, '0') || '7' || substr(md5(random()::text), 1, 3)
  || '8' || substr(md5(random()::text), 1, 15))::uuid;
alter table opt_outs
  alter column number drop not null,
  add primary key (account_id, id),
  add unique (account_id, number),
  add unique (account_id, number_hmac),
  add check (number is not null or number_hmac is not null);
-- What accept looks for: the hashes that stand alone; and what the clock looks for: those that do not yet.
create index opt_outs_forgotten on opt_outs (account_id, number_hmac) where number is null;
create index opt_outs_forgetting on opt_outs (created_at) where number is not null and number_hmac is not null;

-- Who agreed or withdrew, when, how and by whose word. By keyed hash, so that it needs no number and outlives the person's data.
-- Nothing refers to it and nobody may change it, its owner included (a superuser can, and so can whoever may grant).
create table consents (
  account_id uuid not null,
  id uuid not null,
  number_hmac bytea not null,
  status text not null check (status in ('opted_in', 'opted_out', 'unknown')),
  source text not null check (source in ('reply', 'api', 'import', 'contact', 'review')),
  -- Public id of the key or user that said so; null: the person.
  actor text,
  campaign_id uuid,
  message_id uuid,
  evidence jsonb not null default '{}',
  recorded_at timestamptz not null default now(),
  primary key (account_id, id)
);
create index consents_number on consents (account_id, number_hmac, id);
revoke update, delete, truncate on consents from public, current_user;

-- What an account, or one of its campaigns (else null), says about keywords otherwise than the defaults.
create table keyword_settings (
  account_id uuid not null references accounts,
  campaign_id uuid,
  settings jsonb not null,
  updated_at timestamptz not null default now(),
  unique nulls not distinct (account_id, campaign_id)
);

-- Replies that may mean STOP, until a person has looked at them.
create table opt_out_suspicions (
  account_id uuid not null references accounts,
  message_id uuid not null,
  number text not null,
  created_at timestamptz not null default now(),
  primary key (account_id, message_id)
);
create index opt_out_suspicions_number on opt_out_suspicions (account_id, number);
