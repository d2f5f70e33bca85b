-- The receipts of a message beside the one in its row: of segments, on the way, repeated and contradictory ones.
create index receipts_message on receipts (account_id, message_id) where message_id is not null;

-- Which delivery of these octets was stored last, and by whom: what a process that died had answered may come again. doubts: deliveries
-- whose session was lost before the carrier can be known to have its answers; each of them may come once more.
alter table reply_hashes
  add column node_id uuid,
  add column delivery uuid,
  add column doubts int not null default 0;

-- Receipts that found no message in the days for which they are kept, by link: the rows are gone, their number stays.
create table forgotten_receipts (
  link_id uuid primary key references links on delete cascade,
  count bigint not null,
  last_at timestamptz not null default now()
);
