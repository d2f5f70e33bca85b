-- What waits of a canceled broadcast is taken back at once, and not when the broadcast would have begun.
drop index broadcasts_waiting;
create index broadcasts_waiting on broadcasts ((case when status = 'canceled' then created_at else send_at end))
  where status in ('scheduled', 'sending') or (status = 'canceled' and not is_settled);
