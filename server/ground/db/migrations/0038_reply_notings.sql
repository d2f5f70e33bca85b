-- Up to when all that a process doubts of its answers to replies is in reply_hashes. A beat did not tell that: a process that was frozen beats
-- before it has read from its sockets which sessions it has lost.
create table reply_notings (
  node_id uuid not null primary key references nodes (id) on delete cascade,
  noted_to timestamptz not null
);
