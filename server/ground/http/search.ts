/** Lists whose filters no index has: a page looks at a bounded number of rows, and says how far it has come. */
import type { Queryable } from '../db/db.ts'
import { firstIdAt } from '../base/ids.ts'
import { isSince } from './mark.ts'
import { wayOf, type Found, type Position } from './page.ts'

/** Makes a parameter of a value, and says how a statement names it. */
export type Value = (one: unknown) => string

/** Which rows of a list are looked at, and what is checked on each; `t` is its table. */
export interface Search {
  table: string
  /** As rows come out, `id` among them. */
  columns: string
  accountId: string
  /** By which the list is ordered: `id`, or another of an index that begins with the account. */
  by?: string
  /** What an index serves: conditions that leave few rows, or a stretch of them. */
  found: (value: Value) => string[]
  /** What none does. */
  matches: (value: Value) => string[]
}

// Rows looked at in a statement, and statements of a page: 20,000 take some 30 ms.
const bounds = { rows: 20_000, windows: 10 }

/**
 * The rows that match, `limit + 1` of them where there are as many, in the order that `buildPage` expects; `edge` where it has looked at enough
 * before. Only rows that have changed since the position's mark, where it has one.
 */
export async function findRows<Row extends object>(
  db: Queryable,
  { table, columns, accountId, by = 'id', found, matches }: Search,
  limit: number,
  position: Position | null,
  { rows: windowRows, windows }: typeof bounds = bounds,
): Promise<Found<Row>> {
  const { beyond, order } = wayOf(position)
  const statement = (from: string | null): { values: unknown[]; value: Value; where: string } => {
    const values: unknown[] = [accountId]
    const value: Value = (one) => `$${values.push(one)}`
    const where = ['t.account_id = $1', ...found(value), ...(from === null ? [] : [`t.${by} ${beyond} ${value(from)}`])]
    return { values, value, where: where.join(' and ') }
  }
  const checksOf = (value: Value): string[] => [
    ...matches(value),
    ...(position?.since ? [isSince('t', position.since.mark, value, `t.${by}`)] : []),
  ]
  if (checksOf(String).length === 0) {
    const { where, values } = statement(position?.id ?? null)
    const text = `select ${columns} from ${table} t where ${where} order by t.${by} ${order} limit ${limit + 1}`
    return { rows: (await db.query<Row>(text, values)).rows }
  }
  const ids: string[] = []
  let from = position?.id ?? null
  for (let window = 0; window < windows && ids.length <= limit; window++) {
    const { where, values, value } = statement(from)
    // The last row of a window comes with the answer in any case, to say how far it has got.
    const { rows } = await db.query<{ id: string; isMatch: boolean; place: number }>(
      `select id, "isMatch", place
       from (
         select t.${by} as id, coalesce(${checksOf(value).join(' and ')}, false) as "isMatch",
           row_number() over (order by t.${by} ${order}) as place
         from ${table} t
         where ${where}
         order by t.${by} ${order}
         limit ${windowRows}
       ) l
       where "isMatch" or place = ${windowRows}
       limit ${limit + 1 - ids.length}`,
      values,
    )
    ids.push(...rows.filter(({ isMatch }) => isMatch).map(({ id }) => id))
    const last = rows.at(-1)
    from = last?.place === windowRows ? last.id : null
    if (from === null) break
  }
  const { rows } = await db.query<Row>(
    `select ${columns} from ${table} t where t.account_id = $1 and t.${by} = any ($2::uuid[]) order by t.${by} ${order}`,
    [accountId, ids],
  )
  // Also where one of them has gone meanwhile, there is more behind the page.
  return { rows, edge: ids.length > limit ? (ids[limit - 1] ?? null) : from }
}

// A name has no more.
const wordsMax = 20

/** That a text has all of these words, or parts of words, whatever the case. */
export function hasWords(text: string, words: string, value: Value): string[] {
  const asked = words.split(/\s+/).filter((word) => word !== '')
  return asked.slice(0, wordsMax).map((word) => `strpos(lower(${text}), lower(${value(word)})) > 0`)
}

/** That a row was made in a span, by its id. */
export function isCreatedIn(after: Date | null, before: Date | null, value: Value): string[] {
  return [
    ...(after ? [`t.id >= ${value(firstIdAt(after.getTime()))}`] : []),
    ...(before ? [`t.id < ${value(firstIdAt(before.getTime()))}`] : []),
  ]
}
