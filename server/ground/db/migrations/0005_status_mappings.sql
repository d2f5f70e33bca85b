-- What a carrier's codes mean, where its operator says more than the defaults. A submit's code stands in code; a receipt has stat and
-- err (in code), and an empty one of the two stands for any.
create table status_mappings (
  carrier_id uuid not null references carriers on delete cascade,
  kind text not null check (kind in ('submit', 'receipt')),
  stat text not null default '',
  code text not null default '',
  error_code text not null,
  handling text not null check (handling in ('permanent', 'passing', 'throttling')),
  note text,
  updated_at timestamptz not null default now(),
  primary key (carrier_id, kind, stat, code)
);

-- The carrier's own spelling of an id, where the key is another: what the ids are keyed anew from when their form changes.
alter table carrier_ids add column raw_id text;

-- Unmatched receipts by time: the operator's list, and the matching after their form has changed.
create index receipts_unmatched_at on receipts (link_id, received_at, raw_id, state, done_date) where message_id is null;

-- The form by which the ids of a link are keyed. It follows message_id_form of the carrier: a change leaves rows in the old form
-- behind, and more come until the link is bound anew. settled_at: since when none are left.
create table link_id_forms (
  link_id uuid primary key references links on delete cascade,
  form text not null,
  changed_at timestamptz not null default now(),
  passed_at timestamptz,
  settled_at timestamptz,
  leased_until timestamptz,
  rekeyed bigint not null default 0,
  matched bigint not null default 0
);
