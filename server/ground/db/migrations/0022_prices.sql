-- What carriers take for a segment: the rate card of each, as its last upload has it. It belongs to the installation.
create table rates (
  carrier_id uuid not null references carriers on delete cascade,
  -- `*` (everywhere), a country (ISO 3166-1 alpha-2), or first digits of numbers. What says more goes first.
  destination text collate "C" not null check (destination ~ '^(\*|[A-Z]{2}|[1-9][0-9]{0,14})$'),
  effective_from timestamptz not null,
  -- Of a segment, in millionths of the currency's unit.
  cost bigint not null check (cost >= 0),
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  primary key (carrier_id, destination, effective_from)
);

-- Beside the version of the routes, because it is read with it: every process reads the cards anew when it has changed.
alter table routes_version add column rates bigint not null default 0;

-- What a message was estimated to cost when it was accepted (all segments, in the currency's unit), and at which carrier: the first of
-- its chain that was up. Null: no rate was known. It is the price where that carrier took it.
alter table messages
  add column cost numeric,
  add column cost_currency text,
  add column cost_carrier_id uuid;
