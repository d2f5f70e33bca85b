-- A campaign may have a pace of its own, in segments a second over all processes, as accounts, lanes and senders may.
alter table campaigns add column pace numeric check (pace > 0);
create index campaigns_pace on campaigns (account_id, id) where pace is not null;

-- What waits for the pace of its campaign is a part of its lane, as what waits for its sender's. campaign_id null: of any.
alter table backlogs
  add column campaign_id uuid,
  drop constraint backlogs_lane_id_carrier_id_sender_key,
  add unique nulls not distinct (lane_id, carrier_id, sender, campaign_id);

-- What each process may use of a pace of an account, a lane, a campaign or a sender: units of the pace + 1, which add up to no more.
create table pace_grants (
  account_id uuid not null references accounts on delete cascade,
  kind text not null check (kind in ('account', 'lane', 'sender', 'campaign')),
  name text not null,
  node_id uuid not null references nodes on delete cascade,
  units int not null,
  primary key (account_id, kind, name, node_id)
) with (fillfactor = 50);
create index pace_grants_node on pace_grants (node_id);

-- How long a link waits for the answer to a heartbeat and to its bind; both are asked of the carrier's memory.
update carriers set settings = '{"enquire_timeout_seconds": 5, "bind_timeout_seconds": 10}' || settings
where kind in ('smpp', 'simulator');
