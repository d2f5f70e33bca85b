-- Replies to numbers that no account has are listed, and given to the account that registers the number.
alter table orphan_replies
  add column is_sealed boolean not null default false;
create index orphan_replies_destination on orphan_replies (link_id, destination);
create index orphan_replies_source on orphan_replies (source);
