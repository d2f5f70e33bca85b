-- A reply to a number that no account has is an alert of the operator. After 0077, which writes the same list.
alter table alerts
  drop constraint alerts_type_check,
  add constraint alerts_type_check
    check (type in ('link.down', 'link.throttled', 'sender.degraded', 'webhook.failing', 'webhook.disabled', 'reply.orphaned'));
