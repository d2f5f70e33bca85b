-- The one-time code of an owner who has no password yet: an invitation for a user who is there already. Null: it makes a user.
alter table invitations
  add column user_id uuid,
  add foreign key (account_id, user_id) references users on delete cascade;

-- The end of an account: closed (refused everywhere; nothing waits any more), and at destroy_at its data keys and texts are gone.
alter table accounts
  drop constraint accounts_status_check,
  add constraint accounts_status_check check (status in ('active', 'suspended', 'closed')),
  add column closed_at timestamptz,
  -- What becomes of posts that are due: drain: they are made; stop: they are not.
  add column close_webhooks text check (close_webhooks in ('drain', 'stop')),
  -- Nothing of it waits any more, and its endpoints are off.
  add column wound_up_at timestamptz,
  -- Until then it can be opened again.
  add column destroy_at timestamptz,
  add column destroyed_at timestamptz,
  -- How long its audit log keeps an event.
  add column audit_days int not null default 400 check (audit_days between 90 and 36500),
  add constraint accounts_closed_check check (
    (status = 'closed') = (closed_at is not null)
    and (closed_at is null) = (close_webhooks is null)
    and (closed_at is null) = (destroy_at is null)
    and (destroyed_at is null or wound_up_at is not null)
    and (wound_up_at is null or closed_at is not null)
  );
-- What the sweep of closed accounts looks for.
create index accounts_closing on accounts (closed_at) where closed_at is not null and destroyed_at is null;

-- The last event of an audit log that went by age: what follows is chained to its hash. 0 and null: none did.
alter table audit_chains
  add column pruned_seq bigint not null default 0,
  add column pruned_hash bytea,
  add constraint audit_chains_pruned_check check ((pruned_seq = 0) = (pruned_hash is null) and pruned_seq <= seq);
-- Events go by age; still nothing updates one.
grant delete on audit_events to current_user;

-- Who made or rotated a key, of what went from the audit log by age: whoever held its secret cannot approve what the key orders. About no
-- person but by id.
create table key_makers (
  account_id uuid not null references accounts (id),
  -- Public id of the key.
  target text not null,
  actor_kind text not null check (actor_kind in ('user', 'key', 'system')),
  actor_id uuid,
  unique nulls not distinct (account_id, target, actor_kind, actor_id)
);

-- An endpoint that Heliogram disabled is an alert, too, until it is enabled again or deleted.
alter table alerts
  drop constraint alerts_type_check,
  add constraint alerts_type_check check (type in ('link.down', 'link.throttled', 'sender.degraded', 'webhook.disabled'));
create index webhooks_disabled on webhooks (account_id, id) where disabled_reason in ('gone', 'failing');
