-- Of which campaign what quiet hours hold is: who changes those of one campaign need not look at all that others hold
-- (server/quiet-hours/hold.ts).
alter table delayed
  add column campaign_id uuid;

update delayed d
set campaign_id = m.campaign_id
from messages m
where d.held_at is not null
  and m.account_id = d.account_id
  and m.id = d.message_id
  and m.campaign_id is not null;

create index delayed_held_campaign on delayed (account_id, campaign_id, held_at) where held_at is not null and campaign_id is not null;
