import { bucketOf, costIn, hasCarrier, hourOf, countedColumns } from './delta-sql.ts'

/**
 * SQL of deltas as signed rows: minus in the old bucket, plus in the new one. Only buckets that have a carrier, price or error are split by
 * them, so queued messages count the same after any attempt.
 */
export const signed = (deltas: string): string => `
    select account_id, hour, campaign_id, broadcast_id, type, is_test, country, case when ${hasCarrier('bucket')} then carrier_id end as carrier_id, segments,
      bucket, case when sign = 1 then error_code end as error_code, case when ${hasCarrier('bucket')} then currency end as currency,
      sign * messages as messages, case sign when 1 then cost else -cost_before end as cost
    from ${deltas}
    cross join lateral (values (to_bucket, 1), (from_bucket, -1)) as s (bucket, sign)
    where bucket is not null`

/**
 * The relation of all counts for a condition on `account_id`, `hour`, `campaign_id`, `broadcast_id`, `type`, `is_test` or `country`: folded
 * and unfolded, in one snapshot. Keys repeat: sum `messages` and `cost`. By the unique key of tallies (account_id, hour), tallies_campaign,
 * or tallies_broadcast.
 */
export const counts = (condition: string): string => `(
    select account_id, hour, campaign_id, broadcast_id, type, is_test, country, carrier_id, segments, bucket, error_code, currency, messages, cost
    from tallies
    where ${condition}
    union all
    ${signed('tally_deltas')}
      and ${condition}
  )`

/** The same relation counted from the messages themselves. For checks only: it reads all messages. */
export const countsOfMessages: string = `(
    select "accountId" as account_id, ${hourOf('"createdAt"')} as hour, case when not "isConfirmation" then "campaignId" end as campaign_id,
      case when not "isConfirmation" then "broadcastId" end as broadcast_id,
      type, "isTest" as is_test, country, case when ${hasCarrier('bucket')} then "carrierId" end as carrier_id, segments, bucket,
      case when bucket in ('failed', 'canceled') then "errorCode" end as error_code,
      case when ${hasCarrier('bucket')} and "costCarrierId" = "carrierId" then "costCurrency" end as currency, count(*) as messages,
      ${costIn('bucket')} as cost
    from (select ${countedColumns('m')}, ${bucketOf('m.status')} as bucket from messages m) m
    group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12
  )`
