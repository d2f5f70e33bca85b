-- More defaults of campaigns: a pool in the place of a sender, and the text of broadcasts that bring none of their own (message is there
-- since 0001). The routes that delete a pool or a template refuse while an open campaign uses it; a closed one forgets it.
alter table campaigns
  add column pool_id uuid,
  add column template_id uuid,
  -- Values for fields of its text that are the same for all.
  add column variables jsonb not null default '{}',
  add foreign key (account_id, pool_id) references sender_pools on delete set null (pool_id),
  add foreign key (account_id, template_id) references templates on delete set null (template_id),
  add check (sender is null or pool_id is null),
  add check (message is null or template_id is null);
create index campaigns_pool on campaigns (account_id, pool_id) where pool_id is not null;
create index campaigns_template on campaigns (account_id, template_id) where template_id is not null;
