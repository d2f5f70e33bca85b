-- An endpoint that answers nothing but failures is an alert long before it is disabled.
alter table alerts
  drop constraint alerts_type_check,
  add constraint alerts_type_check
    check (type in ('link.down', 'link.throttled', 'sender.degraded', 'webhook.failing', 'webhook.disabled'));
create index webhooks_failing on webhooks (failing_since) where failing_since is not null;
