-- Short links: a code of its own for each address and message. message_id is a UUIDv7, so that the order on disk is the order of age.
create table short_links (
  code text collate "C" primary key,
  account_id uuid not null,
  message_id uuid not null,
  position int not null,
  campaign_id uuid,
  url text not null,
  clicks int not null default 0,
  bot_clicks int not null default 0,
  first_clicked_at timestamptz,
  last_clicked_at timestamptz
) with (fillfactor = 90);
create index short_links_message on short_links (account_id, message_id);
create index short_links_age on short_links using brin (message_id);

-- Clicks of people, by campaign: the sum of what its links say, so that nobody has to add them up.
create table campaign_clicks (
  account_id uuid not null,
  campaign_id uuid not null,
  clicks bigint not null,
  primary key (account_id, campaign_id)
) with (fillfactor = 50);

-- Default of what is sent under its name; null: not said.
alter table campaigns add column shorten_urls boolean;
