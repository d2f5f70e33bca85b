/**
 * SQL that statements add when they change messages: one narrow row of counts for each group of the batch. `fold.ts` takes the rows away,
 * `counts-sql.ts` reads them.
 */

/** Messages are counted by bucket; a status change within one does not change the counts. */
export const buckets = [
  'scheduled',
  'queued',
  'sent',
  'delivered',
  'failed',
  'unconfirmed',
  'canceled',
  'received',
] as const
export type Bucket = (typeof buckets)[number]

export const bucketOf = (status: string): string => `case
        when ${status} in ('queued', 'sending') then 'queued'
        when ${status} in ('undelivered', 'rejected', 'failed', 'expired') then 'failed'
        else ${status}
      end`

/** SQL: whether the row's carrier may have the messages of a bucket. In earlier buckets it was only tried. */
export const hasCarrier = (bucket: string): string => `${bucket} not in ('scheduled', 'queued', 'canceled')`

/**
 * SQL of the cost of a bucket's messages, over rows with the columns of `MessageRow`: the estimate for their carrier. A message that failed
 * before a carrier took it costs nothing.
 */
export const costIn = (bucket: string): string => `coalesce(sum(cost) filter (
        where "costCarrierId" = "carrierId" and ${hasCarrier(bucket)} and (${bucket} <> 'failed' or "sentAt" is not null)), 0)`

/** Select list of the columns of `MessageRow` that counts use, from the given alias. */
export const countedColumns = (m: string): string => `
    ${m}.account_id as "accountId", ${m}.created_at as "createdAt", ${m}.campaign_id as "campaignId",
    ${m}.broadcast_id as "broadcastId", ${m}.is_confirmation as "isConfirmation",
    ${m}.type, ${m}.is_test as "isTest", ${m}.country, ${m}.carrier_id as "carrierId", ${m}.segments,
    ${m}.previous_status as "previousStatus", ${m}.status, ${m}.error_code as "errorCode", ${m}.sent_at as "sentAt", ${m}.cost,
    ${m}.cost_currency as "costCurrency", ${m}.cost_carrier_id as "costCarrierId"`

/** SQL of a time's hour. `date_trunc` would look up the time zone for each row. */
export const hourOf = (time: string): string => `date_bin('1 hour', ${time}, 'epoch')`

/**
 * The CTE that counts moves: `countedColumns` after the change, and no `previousStatus` for new messages. Every `update` of a status sets
 * `previous_status = m.status`, which stays right under concurrent changes.
 */
export const countMoves = (moved: string): string => `
  tallied as (
    insert into tally_deltas (account_id, hour, campaign_id, broadcast_id, type, is_test, country, carrier_id, segments, from_bucket, to_bucket,
      error_code, currency, messages, cost_before, cost)
    select "accountId", ${hourOf('"createdAt"')}, case when not "isConfirmation" then "campaignId" end,
      case when not "isConfirmation" then "broadcastId" end, type, "isTest",
      country, "carrierId", segments, from_bucket, to_bucket, case when to_bucket in ('failed', 'canceled') then "errorCode" end,
      case when "costCarrierId" = "carrierId" then "costCurrency" end, count(*), ${costIn('from_bucket')}, ${costIn('to_bucket')}
    from (
      select *, ${bucketOf('"previousStatus"')} as from_bucket, ${bucketOf('status')} as to_bucket
      from ${moved}
    ) b
    where from_bucket is distinct from to_bucket
    group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13
  )`

/**
 * The CTE that adds counts of moves from a bucket (`message/move-counts.ts`), if the condition holds. Queued messages have no carrier yet, and
 * cost nothing.
 */
export const addCounts = (parameter: string, from: Bucket, condition: string): string => `tallied as (
    insert into tally_deltas (account_id, hour, campaign_id, broadcast_id, type, is_test, country, carrier_id, segments, from_bucket, to_bucket,
      error_code, currency, messages, cost_before, cost)
    select account_id, hour, campaign_id, broadcast_id, type, is_test, country, carrier_id, segments, '${from}', to_bucket,
      error_code, currency, messages, ${from === 'queued' ? '0' : 'cost * messages'}, cost * messages
    from json_populate_recordset(null::tally_deltas, ${parameter})
    where ${condition}
  )`

/**
 * `countMoves` for the accept statement: its CTE `accepted`, at the time of the parameter. No message has a carrier yet, and the CTE has no
 * columns for campaigns or schedules if the batch has none.
 */
export const countAccepted = ({ at, hasCampaigns, hasScheduled }: AcceptedShape): string => `
  tallied as (
    insert into tally_deltas (account_id, hour, to_bucket, type, is_test, country, segments${hasCampaigns ? ', campaign_id, broadcast_id' : ''}, messages)
    select account_id, ${hourOf(at)}, ${hasScheduled ? "case when (send_at is not null) then 'scheduled' else 'queued' end" : "'queued'"},
      type, is_test, country, segments${hasCampaigns ? ', campaign_id, broadcast_id' : ''}, count(*)
    from accepted
    group by account_id, type, is_test, country, segments${hasCampaigns ? ', campaign_id, broadcast_id' : ''}${hasScheduled ? ', (send_at is not null)' : ''}
  )`

interface AcceptedShape {
  at: string
  hasCampaigns: boolean
  hasScheduled: boolean
}
