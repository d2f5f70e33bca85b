-- What a session of a carrier has proved of the replies that it delivered: all up to a number have our answer. Of what it has not proved, and
-- of a session that is over or whose process is dead, an equal reply may be the same one again. `is_asked`: another process waits for a proof.
create table reply_sessions (
  id uuid not null primary key,
  node_id uuid not null references nodes (id) on delete cascade,
  sure_to bigint not null default 0,
  is_asked boolean not null default false,
  over_at timestamptz
);
create index reply_sessions_node_id on reply_sessions (node_id);

drop table reply_notings;

-- The delivery that came last, by its session and its number there; and the one that was stored, by its id and its session.
alter table reply_hashes
  drop column node_id,
  add column session_id uuid,
  add column number bigint,
  add column stored_session_id uuid,
  -- Equal ones before it on its session, of which the carrier may lack our answer until the session proves that it has it.
  add column unproved integer not null default 0,
  -- Our answer came too late, or was an error: the carrier gives it again whatever the session proves.
  add column is_late boolean not null default false;
