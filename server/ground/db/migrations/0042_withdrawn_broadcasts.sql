-- A broadcast of which there is no message yet is withdrawn, and its campaign goes on.
alter table broadcasts
  drop constraint broadcasts_status_check,
  add constraint broadcasts_status_check
    check (status in ('awaiting_approval', 'scheduled', 'sending', 'paused', 'completed', 'canceled', 'rejected', 'withdrawn'));
