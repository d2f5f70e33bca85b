/**
 * Lists of messages: which index leads, what is checked on the messages that it finds, and how much one page may read.
 *
 * A statement looks at one stretch of time, because each day there is costs it a little, and at no more than so many messages of it. A page
 * is a few statements: newer days first (or older ones), each stretch longer than the one before, until it is full or has looked at enough.
 */
import { nowMs } from '../db/clock.ts'
import type { Queryable } from '../db/db.ts'
import { firstDay } from '../db/partitions.ts'
import { firstIdAt, timeOfId } from '../ids.ts'
import { isSince, type Mark } from '../mark.ts'
import type { Position } from '../page.ts'
import { messageColumnNames, messageColumns, type MessageRow, type Status } from './message.ts'

/** Which messages; null: not asked. */
export interface MessageFilters {
  direction: 'outbound' | 'inbound' | null
  /** The person's number: `to` of outbound, `from` of inbound messages. */
  theirNumber: string | null
  ourNumber: string | null
  campaignId: string | null
  contactId: string | null
  /** At least one. */
  statuses: string[] | null
  errorCode: string | null
  type: string | null
  tag: string | null
  /** Values by name; all of them. */
  metadata: Record<string, string> | null
  createdAfter: Date | null
  createdBefore: Date | null
  updatedAfter: Date | null
  updatedBefore: Date | null
  segmentsMin: number | null
  isTest: boolean | null
}

/** All of them. */
export const allMessages: MessageFilters = {
  direction: null,
  theirNumber: null,
  ourNumber: null,
  campaignId: null,
  contactId: null,
  statuses: null,
  errorCode: null,
  type: null,
  tag: null,
  metadata: null,
  createdAfter: null,
  createdBefore: null,
  updatedAfter: null,
  updatedBefore: null,
  segmentsMin: null,
  isTest: null,
}

/** From where to read, and which way. */
export interface Reading {
  /** From older to newer messages. */
  isUpward: boolean
  /** Begins behind this id; null: at the end of the list. */
  from: string | null
  /** Only what was not committed at this mark, or has changed since. */
  since: Mark | null
}

/** Where and which way the page of a position is read; without one it begins at the newest message, or at the oldest. */
export function readingOf(position: Position | null, isOldestFirst = false): Reading {
  const isUpward = position ? position.direction === 'after' : isOldestFirst
  return { isUpward, from: position?.id ?? null, since: position?.since?.mark ?? null }
}

/** A part of a list: the messages that match, and how far the list was read to find them. */
export interface Stretch {
  rows: MessageRow[]
  /** Where reading stopped before `limit + 1` messages were found; null at the end of the list. */
  edge: string | null
}

/** Statuses that an index finds: ends but `delivered`, which are rows of `outcomes`, and what waits in `delayed`. */
export const indexedStatuses: readonly Status[] = [
  'undelivered',
  'rejected',
  'failed',
  'expired',
  'unconfirmed',
  'canceled',
  'scheduled',
]

// Messages looked at in a statement, and statements of a page that may stop there: 100,000 messages take some 0.1 s. An outcome costs more,
// because its message is looked up, and as many of each status are read to be merged.
const windows = { messages: { rows: 20_000, max: 5 }, outcomes: { rows: 1000, max: 20 } }

const dayMs = 86_400_000
// Days of the first, second and third stretch; the fourth is the rest.
const stretchDays = [2, 14, 90]
// An id is made a moment after the time that its message was created; a message is never updated before it was created.
const idLatenessMs = 60_000

/** Up to `limit + 1` messages, in the order of reading. */
export async function listMessages(
  db: Queryable,
  accountId: string,
  filters: MessageFilters,
  { isUpward, from, since }: Reading,
  limit: number,
): Promise<Stretch> {
  const rows: MessageRow[] = []
  const bounds = boundsOf(filters)
  if (isUpward) bounds.lower = later(bounds.lower, from)
  else bounds.upper = earlier(bounds.upper, from)
  const { max } = leadOf(filters) === 'outcomes' ? windows.outcomes : windows.messages
  let stops = 0
  for (let stretch = 0; ; stretch++) {
    const end = endOfStretch(stretch, isUpward, bounds)
    for (;;) {
      const within = isUpward
        ? { lower: bounds.lower, upper: end ?? bounds.upper }
        : { lower: end ?? bounds.lower, upper: bounds.upper }
      const part = await readWindow(db, accountId, filters, { ...within, isUpward, since }, limit + 1 - rows.length)
      rows.push(...part.rows)
      if (rows.length > limit) return { rows, edge: null }
      const reached = part.edge ?? end
      if (reached === null) return { rows, edge: null }
      bounds[isUpward ? 'lower' : 'upper'] = reached
      if (part.edge === null) break
      if (++stops === max) return { rows, edge: part.edge }
    }
  }
}

/** Ids between which the messages are, both exclusive: times as ids that no message has, which also prunes the days that cannot match. */
interface Bounds {
  lower: string | null
  upper: string | null
}

function boundsOf({ createdAfter, createdBefore, updatedBefore }: MessageFilters): Bounds {
  const idOf = (time: Date | null, lateMs = 0): string | null => time && firstIdAt(time.getTime() + lateMs)
  return { lower: idOf(createdAfter), upper: earlier(idOf(createdBefore), idOf(updatedBefore, idLatenessMs)) }
}

const later = (a: string | null, b: string | null): string | null => (a === null || (b !== null && b > a) ? b : a)
const earlier = (a: string | null, b: string | null): string | null => (a === null || (b !== null && b < a) ? b : a)

/** Where a stretch ends; null: where the list does. */
function endOfStretch(stretch: number, isUpward: boolean, { lower, upper }: Bounds): string | null {
  const [days, firstMs, now] = [stretchDays[stretch], firstDay(), nowMs()]
  if (days === undefined || firstMs === null) return null
  const fromMs = isUpward
    ? Math.max(firstMs, lower === null ? 0 : timeOfId(lower))
    : Math.min(now, upper === null ? now : timeOfId(upper))
  const endMs = (Math.floor(fromMs / dayMs) + (isUpward ? days : 1 - days)) * dayMs
  const end = firstIdAt(endMs)
  if (isUpward) return endMs > now || (upper !== null && end >= upper) ? null : end
  return endMs <= firstMs || (lower !== null && end <= lower) ? null : end
}

interface Window extends Bounds {
  isUpward: boolean
  since: Mark | null
}

async function readWindow(
  db: Queryable,
  accountId: string,
  filters: MessageFilters,
  window: Window,
  limit: number,
): Promise<Stretch> {
  const { size, ...statement } = buildStatement(accountId, filters, window, limit)
  const { rows } = await db.query<MessageRow & { isMatch?: boolean | null; place?: number; edge?: string }>(statement)
  const last = rows.at(-1)
  const edge = last?.place === size ? (last.edge ?? null) : null
  const isMarkOnly = last?.place !== undefined && last.isMatch !== true
  return { rows: isMarkOnly ? rows.slice(0, -1) : rows, edge }
}

/**
 * The statement of one window. One index leads: messages_their_number, messages_contact, the primary key of outcomes and delayed or
 * outcomes_error, messages_campaign, or else the primary key. What has to be checked is, on up to `size` messages in order; the last of
 * them comes with the answer in any case, to say how far it has got.
 */
function buildStatement(
  accountId: string,
  filters: MessageFilters,
  { isUpward, lower, upper, since }: Window,
  limit: number,
): { text: string; values: unknown[]; size: number } {
  const values: unknown[] = [accountId]
  const value = (one: unknown): string => `$${values.push(one)}`
  const order = isUpward ? 'asc' : 'desc'
  const within = (id: string): string =>
    [lower && `and ${id} > ${value(lower)}`, upper && `and ${id} < ${value(upper)}`].filter(Boolean).join(' ')
  const lead = leadOf(filters)
  const checks = checksOf(filters, lead, value)
  if (since) checks.push(isSince('m', since, value))

  if (lead === 'outcomes') {
    const size = windows.outcomes.rows
    // The outer query has no order of its own: it would make the planner think that all of the inner one is needed.
    const text = `
      select ${columnsOf('l')}, "isMatch", place, edge
      from (
        select ${columnsOf('m')}, m."isMatch", o.message_id as edge, row_number() over (order by o.message_id ${order}) as place
        from (
          ${outcomesOf(filters, within('message_id'), `order by message_id ${order} limit ${size}`, value)}
        ) o
        left join lateral (
          select ${messageColumns('m')}, ${isMatch(checks)}
          from messages m
          where m.account_id = $1
            and m.id = o.message_id
          limit 1
        ) m on true
        order by o.message_id ${order}
      ) l
      where "isMatch" or place = ${size}
      limit ${limit}`
    return { text, values, size }
  }

  const found = lead && `and m.${lead.column} = ${value(lead.value)}`
  const from = `from messages m
        where m.account_id = $1 ${[found, within('m.id')].filter(Boolean).join(' ')}
        order by m.id ${order}`
  if (checks.length === 0)
    return { text: `select ${messageColumns('m')} ${from} limit ${limit}`, values, size: Infinity }
  const size = windows.messages.rows
  const text = `
      select ${columnsOf('l')}, "isMatch", place, id as edge
      from (
        select ${messageColumns('m')}, ${isMatch(checks)}, row_number() over (order by m.id ${order}) as place
        ${from}
        limit ${size}
      ) l
      where "isMatch" or place = ${size}
      limit ${limit}`
  return { text, values, size }
}

const columnsOf = (table: string): string => messageColumnNames.map((name) => `${table}."${name}"`).join(', ')
// A column without a value is no match.
const isMatch = (checks: string[]): string => `coalesce(${checks.join(' and ')}, false) as "isMatch"`

type Lead = { column: 'their_number' | 'contact_id' | 'campaign_id'; value: string } | 'outcomes' | null

/** The filter that finds the fewest messages, as far as anybody can know. */
function leadOf({ theirNumber, contactId, campaignId, statuses, errorCode }: MessageFilters): Lead {
  if (theirNumber !== null) return { column: 'their_number', value: theirNumber }
  if (contactId !== null) return { column: 'contact_id', value: contactId }
  if (errorCode !== null || statuses?.every((status) => indexedStatuses.some((one) => one === status)))
    return 'outcomes'
  if (campaignId !== null) return { column: 'campaign_id', value: campaignId }
  return null
}

/**
 * Messages by status or error in order, each once; the message says whether it still has it. Each status is read by itself and no further than
 * a window, so that not all of them have to be sorted.
 */
function outcomesOf(
  { statuses, errorCode }: MessageFilters,
  within: string,
  tail: string,
  value: (one: unknown) => string,
): string {
  const of = (table: string, where: string): string =>
    `select message_id from ${table} where account_id = $1 ${where} ${within} ${tail}`
  if (errorCode !== null) {
    const ofStatus = statuses ? `and status = any (${value(statuses)}::text[])` : ''
    return of('outcomes', `and error_code = ${value(errorCode)} ${ofStatus}`)
  }
  const parts = [...new Set(statuses)].map((status) =>
    status === 'scheduled' ? of('delayed', '') : of('outcomes', `and status = ${value(status)}`),
  )
  // Of one status there is nothing to merge, and two clauses of order would be an error.
  if (parts.length === 1) return parts.join('')
  return `select distinct message_id from (${parts.map((part) => `(${part})`).join(' union all ')}) s ${tail}`
}

/** What has to be checked on each message that the leading filter finds. */
function checksOf(filters: MessageFilters, lead: Lead, value: (one: unknown) => string): string[] {
  const checks: string[] = []
  const check = (column: string, is: string, wanted: unknown): void => {
    if (wanted !== null) checks.push(`m.${column} ${is} ${value(wanted)}`)
  }
  const isLed = (column: string): boolean => typeof lead === 'object' && lead?.column === column
  check('direction', '=', filters.direction)
  check('our_number', '=', filters.ourNumber)
  if (!isLed('contact_id')) check('contact_id', '=', filters.contactId)
  if (!isLed('campaign_id')) check('campaign_id', '=', filters.campaignId)
  check('error_code', '=', filters.errorCode)
  if (filters.statuses) checks.push(`m.status = any (${value(filters.statuses)}::text[])`)
  // A message that is tried again still says why the last try failed.
  if (filters.errorCode !== null) checks.push(`m.status = any (${value(indexedStatuses)}::text[])`)
  check('type', '=', filters.type)
  check('segments', '>=', filters.segmentsMin)
  check('is_test', '=', filters.isTest)
  check('updated_at', '>=', filters.updatedAfter)
  check('updated_at', '<', filters.updatedBefore)
  if (filters.tag !== null) checks.push(`${value(filters.tag)} = any (m.tags)`)
  for (const [name, text] of Object.entries(filters.metadata ?? {}))
    checks.push(`m.metadata ->> ${value(name)} = ${value(text)}`)
  return checks
}
