-- The carrier of test mode: messages of test keys go to it and to no other, and no other message goes to it. There is one at most.
alter table carriers add column is_test boolean not null default false;
create unique index carriers_test on carriers (is_test) where is_test;

-- Requests a second that each credential of the account may make, over all processes; null: as the installation says.
alter table accounts add column api_per_second numeric check (api_per_second > 0);

-- How many requests a second were asked of each process with a credential: by these the processes share its limit. Nobody misses them after
-- a crash. A credential is a key or a user.
create unlogged table request_demands (
  credential_id uuid not null,
  node_id uuid not null references nodes on delete cascade,
  per_second real not null,
  at timestamptz not null default now(),
  primary key (credential_id, node_id)
) with (fillfactor = 50);
create index request_demands_node on request_demands (node_id);
