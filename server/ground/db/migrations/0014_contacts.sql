-- Contacts and imports at full size: what a million rows cost is what stands here.

-- A foreign key is checked row by row, a quarter of what writing a contact costs; the statement that writes contacts joins their campaign
-- once for all of them instead, and campaigns are not deleted.
alter table contacts drop constraint contacts_account_id_campaign_id_fkey;
-- Contacts are only ever asked for inside their campaign, so that one index serves ids, lists, exports and time ranges.
alter table contacts drop constraint contacts_pkey;
alter table contacts add primary key (account_id, campaign_id, id);
drop index contacts_list;
-- A caller's own id finds a contact; imports without one do not pay for it.
create index contacts_external_id on contacts (account_id, campaign_id, external_id, id) where external_id is not null;

-- repairs: how many numbers were mended, by what was wrong with them. sample: the first rows of a dry run as they would be stored.
alter table imports
  drop constraint imports_format_check,
  drop column mapping,
  add constraint imports_format_check check (format in ('json', 'csv', 'ndjson', 'xlsx')),
  add column bytes_read bigint not null default 0,
  add column repairs jsonb not null default '{}',
  add column sample jsonb;
-- Compressing uploads costs more time than the few days' disk is worth, and slices of the file can be read without unpacking all of it.
alter table import_chunks alter column bytes set storage external;
