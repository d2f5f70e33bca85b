import { Type, type Static } from 'typebox'
import { writeCsv } from '../ground/http/csv.ts'
import type { Queryable } from '../ground/db/db.ts'
import { millionths, MoneySchema, showMoney } from '../ground/base/money.ts'
import { counts as countsSql } from './counts-sql.ts'
import type { Bucket } from './delta-sql.ts'

const Count = Type.Integer({ minimum: 0 })

export const Costs = Type.Array(MoneySchema, {
  description:
    'Estimated cost of what carriers accepted or may have accepted: one amount for each currency, empty if no rate is known.',
})

/** `messages` is the sum of the fields after it, up to `canceled`. */
export const countFields = {
  messages: Type.Integer({ minimum: 0, description: 'All outbound messages: the sum of the next six.' }),
  queued: Count,
  sent: Count,
  delivered: Count,
  failed: Count,
  unconfirmed: Count,
  canceled: Count,
  replies: Count,
  segments: Type.Integer({ minimum: 0, description: 'Segments of `messages`.' }),
  cost: Costs,
}
const CountsObject = Type.Object(countFields)
export type Counts = Static<typeof CountsObject>

/** Keys of counts, with the SQL of their text. */
const keys = {
  account: 'account_id::text',
  hour: `to_char(hour at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.000"Z"')`,
  day: `to_char(hour at time zone 'UTC', 'YYYY-MM-DD')`,
  month: `to_char(hour at time zone 'UTC', 'YYYY-MM')`,
  country: 'country',
  carrier: 'carrier_id::text',
  campaign: 'campaign_id::text',
  type: 'type',
  error: 'error_code',
  segments: 'segments::text',
} as const
export type Group = keyof typeof keys

/** Messages accepted (replies: received) from `from` until before `to`; absent: all. */
export interface Selection {
  campaignId?: string
  broadcastId?: string | null
  from?: Date | null
  to?: Date | null
  isTest?: boolean
}

export interface Counted {
  key: string | null
  counts: Counts
}

export interface Line {
  keys: (string | null)[]
  counts: Counts
}

/**
 * Reads counts by key, and their sum. Hours, days, months and segments are in their order, other keys by messages, most first. By error,
 * only failed and canceled messages are counted.
 */
export async function readCounts(
  db: Queryable,
  accountId: string | readonly string[],
  selection: Selection,
  group: Group,
): Promise<{ counted: Counted[]; total: Counts }> {
  const { lines, total } = await readLines(db, accountId, selection, [group])
  const counted = lines.map(({ keys: [key = null], counts }) => ({ key, counts }))
  return { counted: counted.sort(orders[group] ?? byMessages), total }
}

/** The same by several keys: a line for each combination, in the order of the keys; null if there are more than `linesMax`. */
export async function readLinesBy(
  db: Queryable,
  accountId: string | readonly string[],
  selection: Selection,
  groups: readonly Group[],
  linesMax: number,
): Promise<{ lines: Line[]; total: Counts } | null> {
  const { lines, total, isCut } = await readLines(db, accountId, selection, groups, linesMax * sumsOfLine)
  return isCut || lines.length > linesMax ? null : { lines: lines.sort(byKeys), total }
}

// A line is the sum of rows by state and currency.
const sumsOfLine = 16

async function readLines(
  db: Queryable,
  accountId: string | readonly string[],
  { campaignId, broadcastId, from, to, isTest }: Selection,
  groups: readonly Group[],
  sumsMax: number | null = null,
): Promise<{ lines: Line[]; total: Counts; isCut: boolean }> {
  const conditions = [typeof accountId === 'string' ? 'account_id = $1' : 'account_id = any ($1::uuid[])']
  const values: unknown[] = [accountId]
  const where = (condition: string, value: unknown): void => {
    if (value !== undefined && value !== null) conditions.push(`${condition} $${values.push(value)}`)
  }
  where('campaign_id =', campaignId)
  where('broadcast_id =', broadcastId)
  where('hour >=', from)
  where('hour <', to)
  where('is_test =', isTest)
  const { rows } = await db.query<Sum & { keys: (string | null)[] }>(
    `select array[${groups.map((group) => keys[group]).join()}]::text[] as keys, ${sums}
     from ${countsSql(conditions.join(' and '))} c
     ${groups.includes('error') ? `where bucket in ('failed', 'canceled')` : ''}
     group by keys, bucket, currency
     having sum(messages) <> 0
     limit $${values.push(sumsMax)}`,
    values,
  )
  const lines = [...Map.groupBy(rows, (row) => JSON.stringify(row.keys)).values()].map((parts) => ({
    keys: parts[0]?.keys ?? [],
    counts: addUp(parts),
  }))
  return { lines, total: addUp(rows), isCut: rows.length === sumsMax }
}

/** By the first key that differs; null comes last. */
function byKeys({ keys: a }: Line, { keys: b }: Line): number {
  const at = a.findIndex((key, i) => key !== b[i])
  const [mine = null, theirs = null] = [a[at], b[at]]
  if (mine === null || theirs === null) return mine === theirs ? 0 : mine === null ? 1 : -1
  return mine < theirs ? -1 : 1
}

const byKey = (a: Counted, b: Counted): number => ((a.key ?? '') < (b.key ?? '') ? -1 : 1)
const byMessages = (a: Counted, b: Counted): number =>
  b.counts.messages - a.counts.messages || b.counts.replies - a.counts.replies || byKey(a, b)
const orders: Partial<Record<Group, typeof byKey>> = {
  hour: byKey,
  day: byKey,
  month: byKey,
  segments: (a, b) => Number(a.key) - Number(b.key),
}

/** Select list of `Sum`, for a query grouped by bucket and currency. */
export const sums = `bucket, currency, sum(messages)::bigint as messages, sum(messages * segments)::bigint as segments,
       round(sum(cost) * ${millionths})::bigint as cost`

/** Messages of one bucket and currency. The cost is in millionths. */
export interface Sum {
  bucket: Bucket
  currency: string | null
  messages: number
  segments: number
  cost: number
}

export function addUp(parts: readonly Sum[]): Counts {
  const of = (...buckets: Bucket[]): number =>
    parts.reduce((sum, part) => sum + (buckets.includes(part.bucket) ? part.messages : 0), 0)
  const sent = parts.filter(({ bucket }) => bucket !== 'received')
  const costs = new Map<string, number>()
  for (const { currency, cost } of parts) if (currency !== null) costs.set(currency, (costs.get(currency) ?? 0) + cost)
  return {
    messages: sent.reduce((sum, part) => sum + part.messages, 0),
    queued: of('scheduled', 'queued'),
    sent: of('sent'),
    delivered: of('delivered'),
    failed: of('failed'),
    unconfirmed: of('unconfirmed'),
    canceled: of('canceled'),
    replies: of('received'),
    segments: sent.reduce((sum, part) => sum + part.segments, 0),
    cost: [...costs.keys()].sort().map((currency) => showMoney(costs.get(currency) ?? 0, currency)),
  }
}

/** Fills a series: every step of the span, with zero if nothing was counted. */
export function fillSteps(
  counted: readonly Counted[],
  from: Date,
  to: Date,
  group: 'hour' | 'day' | 'month',
): Counted[] {
  const known = new Map(counted.map((one) => [one.key, one]))
  const steps: Counted[] = []
  for (let time = startOf(from, group); time < to; time = startOf(time, group, 1)) {
    const key = time.toISOString().slice(0, keyLength[group])
    steps.push(known.get(key) ?? { key, counts: addUp([]) })
  }
  return steps
}

const keyLength = { hour: 24, day: 10, month: 7 }

/** The start of a time's hour, day or month, or of one `later` steps on. */
function startOf(time: Date, group: 'hour' | 'day' | 'month', later = 0): Date {
  const [year, month, day] = [time.getUTCFullYear(), time.getUTCMonth(), time.getUTCDate()]
  if (group === 'month') return new Date(Date.UTC(year, month + later))
  if (group === 'day') return new Date(Date.UTC(year, month, day + later))
  return new Date(Date.UTC(year, month, day, time.getUTCHours() + later))
}

export function csvOf(groups: readonly Group[], lines: readonly Line[]): string {
  const currencies = [...new Set(lines.flatMap(({ counts: { cost } }) => cost.map(({ currency }) => currency)))].sort()
  const { cost: _, ...plain } = countFields
  const names = Object.keys(plain) as (keyof typeof plain)[]
  return writeCsv([
    [...groups, ...names, ...currencies.map((currency) => `cost_${currency}`)],
    ...lines.map(({ keys: ofLine, counts }) => [
      ...ofLine,
      ...names.map((name) => String(counts[name])),
      ...currencies.map((currency) => counts.cost.find((cost) => cost.currency === currency)?.amount ?? null),
    ]),
  ])
}
