-- When messages moved, for series: a fold may come later.
alter table tally_deltas add column moved_at timestamptz not null default now();

-- Counts and times by the step in which they happened, for pictures: each in steps of ten seconds, a minute and an hour. subject: an account,
-- a campaign, a broadcast or a webhook of the account; without an account a carrier or a link. Moves of messages are added by the fold of
-- tallies; what a process measures (submits of links, posts, times) is added every few seconds, and lost if it crashes before.
create table series (
  account_id uuid,
  subject uuid not null,
  step_seconds int not null,
  at timestamptz not null,
  forget_at timestamptz not null,
  accepted int not null default 0,
  -- Of a link: submits that the carrier accepted.
  sent int not null default 0,
  -- Of a webhook: posts that succeeded.
  delivered int not null default 0,
  failed int not null default 0,
  replies int not null default 0,
  throttled int not null default 0,
  -- Numbers by the bucket of `ground/metrics/histogram.ts`: from submit or post to response, and from response to receipt.
  response_times int[] not null default '{}',
  receipt_times int[] not null default '{}',
  constraint series_key unique nulls not distinct (account_id, subject, step_seconds, at)
) with (fillfactor = 50);
create index series_forget on series (forget_at);
