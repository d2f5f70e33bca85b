/**
 * Lists of messages: the leading index, the checks on the messages it finds, and the limit of a page's reads. A statement covers one period, because
 * each day costs a little, and a limited number of messages in it. A page is a few statements: newer days first (or older ones), each period longer
 * than the last, until the page is full or the limit is reached.
 */
import { nowMs } from '../ground/db/clock.ts'
import type { Queryable } from '../ground/db/db.ts'
import { firstDay } from '../ground/db/partitions.ts'
import { spanOf, within } from '../ground/db/span.ts'
import { firstIdAt, timeOfId } from '../ground/base/ids.ts'
import { isSince, type Mark } from '../ground/http/mark.ts'
import type { Position } from '../ground/http/page.ts'
import { readWindow } from '../ground/http/search.ts'
import { findInStatusTables, tableStatuses } from './status-tables.ts'
import { messageColumnNames, messageColumns, outcomeStatuses, type MessageRow } from '../message/message.ts'

/** Filters; null: not set. */
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
  /** Values by name; all must match. */
  metadata: Record<string, string> | null
  createdAfter: Date | null
  createdBefore: Date | null
  updatedAfter: Date | null
  updatedBefore: Date | null
  segmentsMin: number | null
  isTest: boolean | null
}

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

/** Where to read from, and in which direction. */
export interface Reading {
  /** From older to newer messages. */
  isUpward: boolean
  /** Begins after this id; null: at the end of the list. */
  from: string | null
  /** Only messages not committed at this mark, or changed since. */
  since: Mark | null
}

/** Start and direction of the page at a position; without one, from the newest message, or the oldest. */
export function readingOf(position: Position | null, isOldestFirst = false): Reading {
  const isUpward = position ? position.direction === 'after' : isOldestFirst
  return { isUpward, from: position?.id ?? null, since: position?.since?.mark ?? null }
}

/** A part of a list: matching messages, and how far the list was read. */
export interface Stretch {
  rows: MessageRow[]
  /** Where reading stopped before `limit + 1` messages were found; null at the end of the list. */
  edge: string | null
}

// Messages checked by a statement, and statements of a page that may stop there: 100,000 messages take some 0.1 s. StatusSearch tables cost more, because
// each message is looked up, and as many rows of each status are read for the merge.
const windows = { messages: { rows: 20_000, max: 5 }, statusTables: { rows: 1000, max: 20 } }
// Ids of an array; twice as many take twice as long for each day.
const arrayMax = 200

const dayMs = 86_400_000
// Days of the first, second and third period; the fourth is the rest.
const stretchDays = [2, 14, 90]
// An id is generated just after its message's creation time; updates are never before it.
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
  const { max } = leadOf(filters) === 'statusTables' ? windows.statusTables : windows.messages
  let stops = 0
  for (let stretch = 0; ; stretch++) {
    const end = endOfStretch(stretch, isUpward, bounds)
    for (;;) {
      const within = isUpward
        ? { lower: bounds.lower, upper: end ?? bounds.upper }
        : { lower: end ?? bounds.lower, upper: bounds.upper }
      const part = await readPart(db, accountId, filters, { ...within, isUpward, since }, limit + 1 - rows.length)
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

/** Exclusive bounds of ids: times as ids that no message has, which also prunes days. */
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

/** Where a period ends; null: the end of the list. */
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

interface MessageWindow extends Bounds {
  isUpward: boolean
  since: Mark | null
}

/** The messages of one window. One index leads: messages_their_number, messages_contact, messages_campaign, or the primary key. */
async function readPart(
  db: Queryable,
  accountId: string,
  filters: MessageFilters,
  window: MessageWindow,
  limit: number,
): Promise<Stretch> {
  const lead = leadOf(filters)
  if (lead === 'statusTables') return readStatusTables(db, accountId, filters, window, limit)
  const { isUpward, lower, upper, since } = window
  const values: unknown[] = [accountId]
  const value = (one: unknown): string => `$${values.push(one)}`
  const where = [
    'm.account_id = $1',
    ...(lead ? [`m.${lead.column} = ${value(lead.value)}`] : []),
    ...(lower ? [`m.id > ${value(lower)}`] : []),
    ...(upper ? [`m.id < ${value(upper)}`] : []),
  ]
  const checks = [...checksOf(filters, lead, value), ...(since ? [isSince('m', since, value)] : [])]
  const order = isUpward ? 'asc' : 'desc'
  const [columns, names, size] = [messageColumns('m'), messageColumnNames, windows.messages.rows]
  return readWindow(db, { from: 'messages m', columns, names, where, checks, by: 'm.id', order, size }, values, limit)
}

/**
 * A window from status tables. Nearly every message matches, so only the wanted number is looked up first, and the rest of the window only if that is
 * not enough.
 */
async function readStatusTables(
  db: Queryable,
  accountId: string,
  filters: MessageFilters,
  window: MessageWindow,
  limit: number,
): Promise<Stretch> {
  const { rows: size } = windows.statusTables
  const wanted = Math.min(limit, size)
  const ids = await findInStatusTables(db, accountId, filters, window, wanted)
  const rows = await lookUp(db, accountId, filters, window, ids, limit)
  const last = ids.at(-1)
  if (last === undefined || ids.length < wanted || rows.length === limit) return { rows, edge: null }
  const rest = { ...window, [window.isUpward ? 'lower' : 'upper']: last }
  const others = wanted === size ? [] : await findInStatusTables(db, accountId, filters, rest, size - wanted)
  rows.push(...(await lookUp(db, accountId, filters, window, others, limit - rows.length)))
  return { rows, edge: others.length === size - wanted ? (others.at(-1) ?? last) : null }
}

/**
 * Those of these messages that match, by primary key. With an array PostgreSQL prunes days, but for a long one the pruning takes longer a day than
 * reading it: then all days between the first and the last are read.
 */
async function lookUp(
  db: Queryable,
  accountId: string,
  filters: MessageFilters,
  { isUpward, since }: MessageWindow,
  ids: readonly string[],
  limit: number,
): Promise<MessageRow[]> {
  if (ids.length === 0) return []
  const values: unknown[] = [accountId, ids]
  const value = (one: unknown): string => `$${values.push(one)}`
  const isMany = ids.length > arrayMax
  const where = [
    'm.account_id = $1',
    isMany ? `m.id = k.id and m.id ${within(spanOf(ids))}` : 'm.id = any ($2::uuid[])',
    ...checksOf(filters, 'statusTables', value),
    ...(since ? [isSince('m', since, value)] : []),
  ]
  const read = `select ${messageColumns('m')} from messages m where ${where.join(' and ')}`
  // Ids are in the order of reading: the join ends with the limit.
  const text = isMany
    ? `select ${columnsOf('m')} from unnest($2::uuid[]) with ordinality as k (id, n) cross join lateral (${read} limit 1) m order by k.n limit ${limit}`
    : `${read} order by m.id ${isUpward ? 'asc' : 'desc'} limit ${limit}`
  return (await db.query<MessageRow>(text, values)).rows
}

const columnsOf = (table: string): string => messageColumnNames.map((name) => `${table}."${name}"`).join(', ')

type Lead = { column: 'their_number' | 'contact_id' | 'campaign_id'; value: string } | 'statusTables' | null

/** The filter that probably finds the fewest messages. */
function leadOf({ theirNumber, contactId, campaignId, statuses, errorCode }: MessageFilters): Lead {
  if (theirNumber !== null) return { column: 'their_number', value: theirNumber }
  if (contactId !== null) return { column: 'contact_id', value: contactId }
  const hasTables = statuses?.every((status) => tableStatuses.some((one) => one === status))
  // The queue may hold many others: a campaign has fewer messages.
  const isInLine = campaignId !== null && statuses?.includes('queued')
  if (errorCode !== null || (hasTables && !isInLine)) return 'statusTables'
  if (campaignId !== null) return { column: 'campaign_id', value: campaignId }
  return null
}

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
  // A message that is being retried still has the error of its last try.
  if (filters.errorCode !== null) checks.push(`m.status = any (${value(outcomeStatuses)}::text[])`)
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
