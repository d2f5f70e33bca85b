-- Quiet hours: what an account and its campaigns say of them (null: nothing), and when they last said something else.
alter table accounts add column quiet_hours jsonb, add column quiet_hours_changed_at timestamptz;
create index accounts_quiet_hours_changed on accounts (quiet_hours_changed_at) where quiet_hours_changed_at is not null;
alter table campaigns add column quiet_hours jsonb, add column quiet_hours_changed_at timestamptz;
create index campaigns_quiet_hours on campaigns (account_id, id) where quiet_hours is not null;
create index campaigns_quiet_hours_changed on campaigns (quiet_hours_changed_at) where quiet_hours_changed_at is not null;

-- Since when quiet hours hold it; null: it waits for something else.
alter table delayed add column held_at timestamptz;
create index delayed_held on delayed (account_id, held_at) where held_at is not null;
