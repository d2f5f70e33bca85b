-- Results by broadcast. A message knows the broadcast that made it, and a reply the one whose message it answers; messages that were sent
-- alone have none, so that their counts keep the rows that they had.
alter table messages add column broadcast_id uuid;
alter table tally_deltas add column broadcast_id uuid;
alter table tallies
  add column broadcast_id uuid,
  drop constraint tallies_account_id_hour_campaign_id_type_is_test_country_ca_key,
  add constraint tallies_key unique nulls not distinct
    (account_id, hour, campaign_id, broadcast_id, type, is_test, country, carrier_id, segments, bucket, error_code, currency);
create index tallies_broadcast on tallies (account_id, broadcast_id) where broadcast_id is not null;

alter table short_links add column broadcast_id uuid;
alter table campaign_clicks
  add column broadcast_id uuid,
  drop constraint campaign_clicks_pkey,
  add constraint campaign_clicks_key unique nulls not distinct (account_id, campaign_id, broadcast_id);
create index campaign_clicks_broadcast on campaign_clicks (account_id, broadcast_id) where broadcast_id is not null;

-- Whose message a reply answered that opted out: counted without the reply, which may be gone.
alter table opt_outs
  add column campaign_id uuid,
  add column broadcast_id uuid;
update opt_outs o
set campaign_id = m.campaign_id
from messages m
where m.account_id = o.account_id
  and m.id = o.message_id
  and m.direction = 'inbound'
  and m.campaign_id is not null;
create index opt_outs_campaign on opt_outs (account_id, campaign_id) where campaign_id is not null;
create index opt_outs_broadcast on opt_outs (account_id, broadcast_id) where broadcast_id is not null;
