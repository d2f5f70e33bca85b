/** Lists with filters that no index serves: a page reads a bounded number of rows, and returns where it stopped. */
import type { Queryable } from '../db/db.ts'
import { firstIdAt } from '../base/ids.ts'
import { isSince } from './mark.ts'
import { wayOf, type Found, type PagePlace, type Position } from './page.ts'

/** Adds a parameter to a statement, and returns its name. */
export type Value = (one: unknown) => string

/** Which rows of a list are read, and the checks on each; `t` is its table. */
export interface Search {
  table: string
  /** Output columns, including `id`. */
  columns: string
  accountId: string
  /** Columns of the primary key between the account and `by`. */
  key?: Record<string, string>
  /** The order: `id`, or another column of an index that begins with the account. */
  by?: string
  /** Conditions that an index serves. */
  found?: (value: Value) => string[]
  /** Conditions that no index serves. */
  matches?: (value: Value) => string[]
}

/** One statement of a list. `where` begins with conditions that an index serves; `checks` apply to up to `size` of those rows, in order. */
export interface ListWindow {
  /** A table and its alias. */
  from: string
  /** Output columns with their `names`, including `id`. */
  columns: string
  names: readonly string[]
  where: string[]
  checks: string[]
  /** The column of the order. */
  by: string
  order: 'asc' | 'desc'
  size: number
}

/**
 * Reads a window: up to `limit` rows that pass the checks. The statement always returns the last row of a full window, because it is the
 * `edge` from which the next window continues. The outer query has no order: with one the planner expects to need all of the inner one.
 */
export async function readWindow<Row extends object>(
  db: Queryable,
  { from, columns, names, where, checks, by, order, size }: ListWindow,
  values: unknown[],
  limit: number,
): Promise<Required<Found<Row>>> {
  const inOrder = `from ${from} where ${where.join(' and ')} order by ${by} ${order}`
  if (checks.length === 0) {
    const { rows } = await db.query<Row>(`select ${columns} ${inOrder} limit ${limit}`, values)
    return { rows, edge: null }
  }
  const { rows } = await db.query<Row & { isMatch: boolean; place: number; edge: string }>(
    `select ${names.map((name) => `w."${name}"`).join(', ')}, "isMatch", place, edge
     from (
       select ${columns}, coalesce(${checks.join(' and ')}, false) as "isMatch",
         row_number() over (order by ${by} ${order}) as place, ${by} as edge
       ${inOrder}
       limit ${size}
     ) w
     where "isMatch" or place = ${size}
     limit ${limit}`,
    values,
  )
  const last = rows.at(-1)
  return { rows: last?.isMatch === false ? rows.slice(0, -1) : rows, edge: last?.place === size ? last.edge : null }
}

// Rows of a window, and windows of a page: 20,000 rows take some 30 ms.
const bounds = { rows: 20_000, windows: 10 }

/**
 * Matching rows, up to `limit + 1`, in the order of `buildPage`; `edge` if the bound came first. If the position has a mark, only rows that
 * have changed since.
 */
export async function findRows<Row extends object>(
  db: Queryable,
  { table, columns, accountId, key = {}, by = 'id', found = () => [], matches = () => [] }: Search,
  limit: number,
  position: Position | null,
  { rows: size, windows }: typeof bounds = bounds,
): Promise<Found<Row>> {
  const { beyond, order } = wayOf(position)
  const keyed = (value: Value): string[] =>
    Object.entries({ account_id: accountId, ...key }).map(([name, one]) => `t.${name} = ${value(one)}`)
  const ids: string[] = []
  let from = position?.id ?? null
  for (let window = 0; window < windows && ids.length <= limit; window++) {
    const values: unknown[] = []
    const value: Value = (one) => `$${values.push(one)}`
    const where = [...keyed(value), ...found(value), ...(from === null ? [] : [`t.${by} ${beyond} ${value(from)}`])]
    const checks = [
      ...matches(value),
      ...(position?.since ? [isSince('t', position.since.mark, value, `t.${by}`)] : []),
    ]
    const reading = { from: `${table} t`, where, checks, by: `t.${by}`, order, size } as const
    if (checks.length === 0) return readWindow<Row>(db, { ...reading, columns, names: [] }, values, limit + 1)
    // Columns may need another table: only those of the page are read.
    const id = { columns: `t.${by} as id`, names: ['id'] }
    const part = await readWindow<{ id: string }>(db, { ...reading, ...id }, values, limit + 1 - ids.length)
    ids.push(...part.rows.map(({ id: one }) => one))
    from = part.edge
    if (from === null) break
  }
  const values: unknown[] = []
  const value: Value = (one) => `$${values.push(one)}`
  const where = [...keyed(value), `t.${by} = any (${value(ids)}::uuid[])`].join(' and ')
  const { rows } = await db.query<Row>(
    `select ${columns} from ${table} t where ${where} order by t.${by} ${order}`,
    values,
  )
  // If a row was deleted meanwhile, the list still continues after the page.
  return { rows, edge: ids.length > limit ? (ids[limit - 1] ?? null) : from }
}

/** The same without unserved conditions: all rows up to `limit + 1`. */
export async function listRows<Row extends object>(
  db: Queryable,
  search: Omit<Search, 'matches'>,
  ...place: PagePlace
): Promise<Row[]> {
  const { rows } = await findRows<Row>(db, search, ...place)
  return rows
}

// No name has more words.
const wordsMax = 20

/** SQL: the text contains all words or parts of words, ignoring case. */
export function hasWords(text: string, words: string, value: Value): string[] {
  const asked = words.split(/\s+/).filter((word) => word !== '')
  return asked.slice(0, wordsMax).map((word) => `strpos(lower(${text}), lower(${value(word)})) > 0`)
}

/** SQL: the row was created in a span, by its id. */
export function isCreatedIn(after: Date | null, before: Date | null, value: Value): string[] {
  return [
    ...(after ? [`t.id >= ${value(firstIdAt(after.getTime()))}`] : []),
    ...(before ? [`t.id < ${value(firstIdAt(before.getTime()))}`] : []),
  ]
}
