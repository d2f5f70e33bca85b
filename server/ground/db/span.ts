/**
 * The days of a statement. With the first and last ids in its text, it is planned for, locks and reads only the days between them; else all
 * days, which takes a tenth of a second for a year. In the text and not as parameters: pipeline sessions plan for all values at once
 * (pipeline.ts), and so do prepared statements. Such statements have no name.
 */
import { nowMs } from './clock.ts'
import type { Queryable } from './db.ts'
import { dayOf } from './partitions.ts'
import { firstIdAt, timeOfId } from './uuid.ts'

/** Both inclusive. */
export interface Span {
  first: string
  last: string
}

/** @throws RangeError without ids. */
export function spanOf(ids: readonly string[]): Span {
  let [first] = ids
  let last = first
  if (first === undefined || last === undefined) throw new RangeError('no ids have no span')
  for (const id of ids) {
    if (id < first) first = id
    if (id > last) last = id
  }
  return { first, last }
}

/**
 * A span as an SQL condition after a column. It selects days only; a statement that joins a list of ids must look each up in a lateral
 * query that is not merged (`offset 0`), or else the whole span may be read (decision 0039).
 */
export const within = ({ first, last }: Span): string => `between ${idSql(first)} and ${idSql(last)}`

/**
 * Where rows of some ids are, for a statement that looks each up: the suffix of their one day's partitions, or an empty one and a condition
 * for its columns. The planner expects no rows in a range newer than the statistics, and would read all of it for each id (decision 0039).
 */
export function placeOf(ids: readonly string[]): { day: string; isThere: (column: string) => string } {
  const day = dayOf(ids)
  return { day, isThere: (column) => (day === '' ? `and ${column} ${within(spanOf(ids))}` : '') }
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** An id for the text of a statement. @throws RangeError if invalid. */
export function idSql(id: string): string {
  if (!uuid.test(id)) throw new RangeError(`"${id}" is not a UUID`)
  return `'${id}'::uuid`
}

// Tables of delayed rows, with their time columns.
const waiting = { delayed: 'due_at', queue: 'expires_at', discards: 'check_at' } as const

/** The span of the first `limit` due rows, and their number; null if none is due: by the index on the time. */
export async function findDueSpan(
  db: Queryable,
  table: keyof typeof waiting,
  limit: number,
): Promise<(Span & { count: number }) | null> {
  const time = waiting[table]
  const { rows } = await db.query<{ first: string | null; last: string | null; count: number }>({
    name: `find-due-${table}`,
    // `min` does not support UUIDs before PostgreSQL 18.
    text: `
      select min(message_id::text) as first, max(message_id::text) as last, count(*)::int as count
      from (select message_id from ${table} where ${time} <= now() order by ${time} limit $1) due`,
    values: [limit],
  })
  const { first = null, last = null, count = 0 } = rows[0] ?? {}
  return first !== null && last !== null ? { first, last, count } : null
}

const dayMs = 86_400_000
// Days of the first and the second look; the third has no bound.
const looks = [2, 30]

/**
 * The rows nearest to an id: before it (null: the newest), or after it if `isUpward`. Reads the nearest days first, and further ones until
 * there are enough. `read` gets the id at which to stop, null: none. Callers may decide what is enough.
 */
export async function readNearest<Row>(
  { from, isUpward = false }: { from: string | null; isUpward?: boolean },
  read: (bound: string | null) => Promise<Row[]>,
  isEnough: (rows: Row[], bound: string) => boolean,
): Promise<Row[]> {
  const at = from === null ? nowMs() : timeOfId(from)
  for (const days of looks) {
    const bound = firstIdAt(at + (isUpward ? days : -days) * dayMs)
    const rows = await read(bound)
    if (isEnough(rows, bound)) return rows
  }
  return read(null)
}
