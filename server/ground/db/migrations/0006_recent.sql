-- A message of one segment that goes from accept straight to a link needs no intent: its row says who has it (node_id, while it is
-- `sending`). What a dead node had is found among the messages from its low-water mark on, written with each heartbeat.
alter table messages add column node_id uuid;
create index messages_id on messages using brin (id) with (pages_per_range = 32);
alter table heartbeats add column low_water uuid;
alter table nodes add column settled_at timestamptz;

-- An event about the end of a message holds no copy of it: the message does not change any more, and is read with the event. Erasing a
-- message erases its events with it. `previous_status` is the one thing that the message does not know.
alter table events alter column payload drop not null;
alter table events add column previous_status text;
