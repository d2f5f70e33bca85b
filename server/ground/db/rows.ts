/**
 * The rows of a batch as parameters of one statement. `unnest` costs time for each column and row, and most columns of a batch have the same
 * value in every row (the account, the link, the state). Such a column is sent as one value with an empty array, which `unnest` fills with nulls at
 * no cost. The statement's text is the same either way.
 */
import { columns, type Item } from './array.ts'
import { times, uuids, type Encoded } from './binary-array.ts'

/** A relation whose rows are parameters. */
export interface RowParameters<Column extends string> {
  /** The `select` of all columns, and of `n`, the place of the row from 1. */
  select: string
  /** The number of its last parameter. */
  count: number
  /** SQL of a common column's single value; null in SQL if its rows differ. @throws for a column of `own`. */
  shared(this: void, column: Column): string
  /** The parameters of that `select`, for at least one row. */
  encode<Row>(rows: readonly Row[], picks: Readonly<Record<Column, Picker<Row>>>): unknown[]
}

/** A row's value in a column; `i` is its place from 0. */
export type Picker<Row> = (row: Row, i: number) => Item

/**
 * A relation of columns with their types: `own` differ from row to row, and the first of them is never null; `common` are mostly the same in
 * all rows of a batch. Both may be null. Its parameters are those after `$before`.
 */
export function rowParameters<Own extends string, Common extends string>(
  own: Readonly<Record<Own, string>>,
  common: Readonly<Record<Common, string>>,
  before = 0,
): RowParameters<Own | Common> {
  const alone = Object.entries(own) as [Own, string][]
  const shared = Object.entries(common) as [Common, string][]
  const all: [Own | Common, string][] = [...alone, ...shared]
  const arrays = all.map(([, type], i) => `$${before + i + 1}::${type}[]`)
  const sharedOf = new Map<string, string>(
    shared.map(([name, type], i) => [name, `$${before + all.length + i + 1}::${type}`]),
  )
  const values = shared.map(([name]) => `coalesce(batch.${name}, ${sharedOf.get(name)}) as ${name}`)
  const names = all.map(([name]) => name)
  return {
    select: `select ${[...alone.map(([name]) => `batch.${name}`), ...values].join(', ')}, n
    from unnest(${arrays.join(', ')}) with ordinality as batch (${names.join(', ')}, n)`,
    count: before + all.length + shared.length,
    shared: (column) => {
      const sql = sharedOf.get(column)
      if (sql === undefined) throw new Error(`${column} is not a common column`)
      return sql
    },
    encode(rows, picks) {
      const parameters: (readonly Item[] | Encoded)[] = alone.map(([name, type]) =>
        encodeAs(type, rows.map(picks[name])),
      )
      const one: unknown[] = []
      for (const [name, type] of shared) {
        const pick = picks[name]
        const first = rows[0] === undefined ? null : pick(rows[0], 0)
        const isSame = rows.every((row, i) => isEqual(pick(row, i), first))
        // An empty array is one of nulls.
        parameters.push(isSame ? '{}' : encodeAs(type, rows.map(pick)))
        one.push(isSame ? textOf(first) : null)
      }
      return [...columns(parameters), ...one]
    },
  }
}

/** Ids and times in binary form. */
function encodeAs(type: string, items: readonly Item[]): readonly Item[] | Encoded {
  if (type === 'uuid') return uuids(items as (string | null)[])
  return type === 'timestamptz' ? times(items as (Date | null)[]) : items
}

const isEqual = (a: Item, b: Item): boolean =>
  a === b || (a instanceof Date && b instanceof Date && a.getTime() === b.getTime())

const textOf = (item: Item): unknown => (item instanceof Date ? item.toISOString() : item)

/** The places of all rows of a batch, from 1 as `n` is. */
export const everyPlace = (batch: readonly unknown[]): number[] => batch.map((_, i) => i + 1)
