-- Counts of messages by what became of them: exact at any moment, read without looking at a message.

-- The country (ISO 3166-1 alpha-2) of their_number; null: of none, or a message from before this column.
alter table messages add column country text;
-- The status before this one: what a change takes from, told by the change itself.
alter table messages add column previous_status text;

-- What statements that change messages change in the counts, a row for each group of a batch, written by the same statement. Folded into
-- tallies within a second or so; readers add both. No index: few rows at any time, and each is written once and deleted once.
-- from_bucket null: new messages; to_bucket null: taken back, where one is counted with another number of segments.
create table tally_deltas (
  account_id uuid not null,
  hour timestamptz not null,
  campaign_id uuid,
  type text not null,
  is_test boolean not null,
  country text,
  carrier_id uuid,
  segments int not null,
  from_bucket text,
  to_bucket text,
  error_code text,
  currency text,
  messages int not null,
  -- What they cost as they were, and as they are.
  cost_before numeric not null default 0,
  cost numeric not null default 0
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0);

-- Messages by the hour in which they were accepted (replies: received), so that the buckets of an hour add up to its messages. Kept when
-- messages are not; about no person. campaign_id: none for automatic answers, which are nobody's recipients. carrier_id: none while they
-- wait, or have waited only. segments: of each message. error_code: of those that failed or were canceled.
create table tallies (
  account_id uuid not null,
  hour timestamptz not null,
  campaign_id uuid,
  type text not null,
  is_test boolean not null,
  country text,
  carrier_id uuid,
  segments int not null,
  bucket text not null check (bucket in ('scheduled', 'queued', 'sent', 'delivered', 'failed', 'unconfirmed', 'canceled', 'received')),
  error_code text,
  currency text,
  messages bigint not null,
  cost numeric not null default 0,
  unique nulls not distinct (account_id, hour, campaign_id, type, is_test, country, carrier_id, segments, bucket, error_code, currency)
) with (fillfactor = 50);
create index tallies_campaign on tallies (account_id, campaign_id, hour) where campaign_id is not null;

-- Replies of a campaign, for its opt-outs; what is in it never changes.
create index messages_replies on messages (account_id, campaign_id, id) where direction = 'inbound' and campaign_id is not null;

insert into tallies (account_id, hour, campaign_id, type, is_test, country, carrier_id, segments, bucket, error_code, messages)
select account_id, date_trunc('hour', created_at, 'UTC'), case when not is_confirmation then campaign_id end, type, is_test, country,
  case when bucket not in ('scheduled', 'queued', 'canceled') then carrier_id end, segments, bucket,
  case when bucket in ('failed', 'canceled') then error_code end, count(*)
from (
  select m.*,
    case
      when status in ('queued', 'sending') then 'queued'
      when status in ('undelivered', 'rejected', 'failed', 'expired') then 'failed'
      else status
    end as bucket
  from messages m
) b
group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10;
