-- Data keys: 32 random bytes an account and version, wrapped by the master key; texts of messages are sealed with them where the
-- installation encrypts content. The current one has no retired_at. wrapped is null: the key was destroyed, and what it sealed with it.
-- swept_to: messages up to this id have been sealed with a later key. Erasure and retention leave keys alone: they are about no person.
create table data_keys (
  account_id uuid not null,
  version int not null check (version between 1 and 65535),
  wrapped bytea,
  created_at timestamptz not null default now(),
  retired_at timestamptz,
  swept_to uuid,
  primary key (account_id, version)
);

create unique index data_keys_current on data_keys (account_id) where retired_at is null;

-- What the sweep of retired keys looks for.
create index data_keys_retired on data_keys (retired_at) where retired_at is not null and wrapped is not null;

-- Parts of texts whose rest has not come are sealed with the master key: they wait for a minute. A part in smpp_gatherings.parts says so itself.
alter table reply_parts add column is_sealed boolean not null default false;
