/** Counts by the time at which messages moved, for pictures. Usage counts are others (`counts-sql.ts`): by the hour of accept, and exact for ever. */
import type { Queryable } from '../ground/db/db.ts'
import { denseOf, sparseOf, type Sparse } from '../ground/metrics/histogram.ts'
import type { MeasuredSubject } from '../ground/metrics/meter.ts'

/** Steps, and how long a caller can look back. */
export const seriesSteps = {
  '10s': { seconds: 10, spanSeconds: 3600 },
  '1m': { seconds: 60, spanSeconds: 86_400 },
  '1h': { seconds: 3600, spanSeconds: 366 * 86_400 },
} as const
export type SeriesStep = keyof typeof seriesSteps

const measures = ['accepted', 'sent', 'delivered', 'failed', 'replies', 'throttled'] as const
export type Measure = (typeof measures)[number]

// A fold may be late, and a reader may begin in the middle of a step.
const keepSeconds = 3600
const steps = Object.values(seriesSteps).map(
  ({ seconds, spanSeconds }) =>
    `(${seconds}, interval '${seconds} seconds', interval '${spanSeconds + keepSeconds} seconds')`,
)
const inSteps = `cross join (values ${steps.join(', ')}) as step (seconds, width, kept)`

const addTo = (name: string): string => `${name} = case when excluded.${name} = '{}' then s.${name} else array(
        select coalesce(a, 0) + coalesce(b, 0)
        from unnest(s.${name}, excluded.${name}) with ordinality as t (a, b, n)
        order by n
      ) end`

/** An insert of `source`, which has one row a subject and step. All writers lock in one order. */
const addFrom = (source: string): string => `
    insert into series as s (account_id, subject, step_seconds, at, forget_at, ${measures.join(', ')}, response_times, receipt_times)
    ${source}
    order by 1, 2, 3, 4
    on conflict on constraint series_key do update
      set ${measures.map((name) => `${name} = s.${name} + excluded.${name}`).join(', ')},
        ${addTo('response_times')}, ${addTo('receipt_times')}`

/** Number of messages of the deltas with a condition. */
const moved = (condition: string): string => `coalesce(sum(messages) filter (where ${condition}), 0)::int`

/**
 * CTEs that add deleted `tally_deltas` to the series of their account (without tests), carrier, campaign and broadcast. Accept knows no carrier.
 * A message whose segments are counted again was accepted once. A receipt that overtakes its response sends and delivers at once.
 */
export const addMoves = (deltas: string): string => `
  moves as (
    select account_id, carrier_id, campaign_id, broadcast_id, is_test, date_bin('10 seconds', moved_at, 'epoch') as at,
      ${moved(`from_bucket is null and to_bucket <> 'received'`)} - ${moved('to_bucket is null')} as accepted,
      ${moved(`from_bucket in ('scheduled', 'queued') and to_bucket in ('sent', 'delivered') or from_bucket = 'unconfirmed' and to_bucket = 'sent'`)} as sent,
      ${moved(`to_bucket = 'delivered'`)} as delivered,
      ${moved(`to_bucket = 'failed'`)} as failed,
      ${moved(`to_bucket = 'received'`)} as replies
    from ${deltas}
    group by 1, 2, 3, 4, 5, 6
  ), counted_moves as (${addFrom(`
    select k.account_id, k.subject, seconds, date_bin(width, at, 'epoch'), date_bin(width, at, 'epoch') + max(kept),
      sum(accepted), sum(sent), sum(delivered), sum(failed), sum(replies), 0, '{}'::int[], '{}'::int[]
    from moves
    cross join lateral (values
      (account_id, case when not is_test then account_id end), (null, carrier_id), (account_id, campaign_id), (account_id, broadcast_id)
    ) as k (account_id, subject)
    ${inSteps}
    where k.subject is not null
    group by 1, 2, 3, 4
    having (sum(accepted), sum(sent), sum(delivered), sum(failed), sum(replies)) <> (0, 0, 0, 0, 0)`)}
  )`

/** Adds to the present steps, by the unique key. Subjects of an account that is gone are left out. */
export async function addMeasured(db: Queryable, measured: readonly MeasuredSubject[]): Promise<void> {
  if (measured.length === 0) return
  const rows = measured.map(({ accountId, subject, responseTimes, receiptTimes, ...counts }) => ({
    ...counts,
    account_id: accountId,
    subject,
    response_times: denseOf(responseTimes),
    receipt_times: denseOf(receiptTimes),
  }))
  await db.query({
    name: 'add-measured',
    text: addFrom(`
    select m.account_id, m.subject, seconds, date_bin(width, now(), 'epoch'), date_bin(width, now(), 'epoch') + kept,
      ${measures.map((name) => `coalesce(m.${name}, 0)`).join(', ')}, m.response_times, m.receipt_times
    from json_populate_recordset(null::series, $1) m
    ${inSteps}
    where m.account_id is null
      or exists (select from accounts where id = m.account_id)`),
    values: [JSON.stringify(rows)],
  })
}

export interface SeriesRow extends Record<Measure, number> {
  at: Date
  responseTimes: Sparse
  receiptTimes: Sparse
}

/** The steps of a subject that have counts, in order; by the unique key. `accountId` is null for carriers and links. */
export async function readSeries(
  db: Queryable,
  { accountId, subject }: { accountId: string | null; subject: string },
  { step, since, until }: { step: SeriesStep; since: Date; until: Date },
): Promise<SeriesRow[]> {
  const { rows } = await db.query<SeriesRow>(
    `select at, ${measures.join(', ')}, response_times as "responseTimes", receipt_times as "receiptTimes"
     from series
     where ${accountId === null ? '$1::uuid is null and account_id is null' : 'account_id = $1'}
       and subject = $2
       and step_seconds = $3
       and at >= $4
       and at < $5
     order by at`,
    [accountId, subject, seriesSteps[step].seconds, since, until],
  )
  return rows.map((row) => ({
    ...row,
    responseTimes: sparseOf(row.responseTimes),
    receiptTimes: sparseOf(row.receiptTimes),
  }))
}
