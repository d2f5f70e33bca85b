/**
 * What a statement that changes messages adds to itself, so that the counts change with it: one narrow row for each group of the batch.
 * `fold.ts` takes the rows away, `counts-sql.ts` reads.
 */

/** What messages are counted as; a change within one says nothing to the counts. */
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

/** SQL of the bucket of a status; null of null. */
export const bucketOf = (status: string): string => `case
        when ${status} in ('queued', 'sending') then 'queued'
        when ${status} in ('undelivered', 'rejected', 'failed', 'expired') then 'failed'
        else ${status}
      end`

/** Says in SQL that messages of a bucket are, or may be, with the carrier in their row; before, it is only one that was tried. */
export const hasCarrier = (bucket: string): string => `${bucket} not in ('scheduled', 'queued', 'canceled')`

/**
 * What messages of a bucket cost, summed in SQL over rows with the columns of `MessageRow`: what was estimated for the carrier that has
 * them. One that failed before any carrier took it costs nothing.
 */
export const costIn = (bucket: string): string => `coalesce(sum(cost) filter (
        where "costCarrierId" = "carrierId" and ${hasCarrier(bucket)} and (${bucket} <> 'failed' or "sentAt" is not null)), 0)`

/** Select list of the columns of `MessageRow` that are counted by, of the table under the alias; `type` under another name. */
export const countedColumns = (m: string, type = 'type'): string => `
    ${m}.account_id as "accountId", ${m}.created_at as "createdAt", ${m}.campaign_id as "campaignId",
    ${m}.broadcast_id as "broadcastId", ${m}.is_confirmation as "isConfirmation",
    ${m}.type as ${type}, ${m}.is_test as "isTest", ${m}.country, ${m}.carrier_id as "carrierId", ${m}.segments,
    ${m}.previous_status as "previousStatus", ${m}.status, ${m}.error_code as "errorCode", ${m}.sent_at as "sentAt", ${m}.cost,
    ${m}.cost_currency as "costCurrency", ${m}.cost_carrier_id as "costCarrierId"`

/** SQL of the hour in which a time lies. `date_trunc` would look its time zone up for each row. */
export const hourOf = (time: string): string => `date_bin('1 hour', ${time}, 'epoch')`

/**
 * The CTE that counts what moved: a relation with `countedColumns` as the change left them, and no `previousStatus` where messages are new.
 * Every `update` of a status sets `previous_status = m.status`, which is right whoever else changed the row meanwhile. Where all come from one
 * status, or get one, it is named in SQL: then nothing is decided again for each row.
 */
export const countMoves = (moved: string, { type = 'type', from = '"previousStatus"', to = 'status' } = {}): string => `
  tallied as (
    insert into tally_deltas (account_id, hour, campaign_id, broadcast_id, type, is_test, country, carrier_id, segments, from_bucket, to_bucket,
      error_code, currency, messages, cost_before, cost)
    select "accountId", ${hourOf('"createdAt"')}, case when not "isConfirmation" then "campaignId" end,
      case when not "isConfirmation" then "broadcastId" end, ${type}, "isTest",
      country, "carrierId", segments, from_bucket, to_bucket, case when to_bucket in ('failed', 'canceled') then "errorCode" end,
      case when "costCarrierId" = "carrierId" then "costCurrency" end, count(*), ${costIn('from_bucket')}, ${costIn('to_bucket')}
    from (
      select *, ${bucketOf(from)} as from_bucket, ${bucketOf(to)} as to_bucket
      from ${moved}
    ) b
    where from_bucket is distinct from to_bucket
    group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13
  )`

/**
 * `countMoves` of what the accept statement inserts: its CTE `accepted`, at the time of the parameter. Nothing of it is with a carrier, and
 * where the batch has no campaigns, or nothing for a later time, the CTE has no such columns.
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
  /** SQL of the time of acceptance. */
  at: string
  hasCampaigns: boolean
  hasScheduled: boolean
}
