/**
 * The days that a statement is about. Where the first and last of its ids stand in its text, it is planned for, locks and looks into the days
 * between them alone; else for every day that is kept, which takes a tenth of a second where those are a year's. In its text, and not among its
 * values: sessions of the pipeline plan for all values at once (pipeline.ts), and so do prepared statements. Such statements have no name.
 */
import { nowMs } from './clock.ts'
import type { Queryable } from './db.ts'
import { dayOf } from './partitions.ts'
import { firstIdAt, timeOfId } from './uuid.ts'

/** The first and last of some ids, both inclusive. */
export interface Span {
  first: string
  last: string
}

/** The span of ids. @throws RangeError of none. */
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
 * A span as a condition of SQL, behind the name of a column. It says which days to look into; a statement that joins a list of ids looks each of
 * them up in a lateral query that is not merged (`offset 0`), or else the whole span may be read (decision 0039).
 */
export const within = ({ first, last }: Span): string => `between ${idSql(first)} and ${idSql(last)}`

/**
 * Where rows of some ids are, for a statement that looks each of them up: the suffix of the partitions of their one day, or an empty one and a
 * condition for its columns. A range of ids that is newer than the statistics would be taken for one of none, and read as a whole for each (decision 0039).
 */
export function placeOf(ids: readonly string[]): { day: string; isThere: (column: string) => string } {
  const day = dayOf(ids)
  return { day, isThere: (column) => (day === '' ? `and ${column} ${within(spanOf(ids))}` : '') }
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** An id for the text of a statement. @throws RangeError where it is none. */
export function idSql(id: string): string {
  if (!uuid.test(id)) throw new RangeError(`"${id}" is not a UUID`)
  return `'${id}'::uuid`
}

// Tables of what waits for a time, with the columns of that.
const waiting = { delayed: 'due_at', queue: 'expires_at', discards: 'check_at' } as const

/** The messages of the first `limit` rows whose time has come, and how many they are; null where none has: by the index on that time. */
export async function findDueSpan(
  db: Queryable,
  table: keyof typeof waiting,
  limit: number,
): Promise<(Span & { count: number }) | null> {
  const time = waiting[table]
  const { rows } = await db.query<{ first: string | null; last: string | null; count: number }>({
    name: `find-due-${table}`,
    // There is no least of UUIDs before PostgreSQL 18.
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
 * The rows of a list of ids nearest to one: before it (null: the newest), or after it where `isUpward`. Reads those of the nearest days first,
 * and further ones where there are too few. `read` gets the id at which it is to stop, null: at none. Rows may be told to be enough by what
 * else is known of them.
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
