-- Texts with merge fields. Nothing refers to these rows: what a message or a broadcast takes from one is copied into it.
create table templates (
  account_id uuid not null references accounts,
  id uuid not null,
  name text not null,
  -- BCP 47, of the body.
  language text not null,
  body text not null,
  -- The text in other languages, by their tags.
  languages jsonb not null default '{}',
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (account_id, id),
  unique (account_id, name)
);
