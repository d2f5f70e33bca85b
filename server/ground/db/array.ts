/** Array parameters as PostgreSQL writes them (§8.15.6 of its manual): pg's own way is made for few values, and ours come in thousands. */

import type { Encoded } from './binary-array.ts'

/** A value of a column. */
export type Item = string | number | boolean | Date | Buffer | null

// What needs quotes: nothing at all, the word NULL, and everything with a character that means something in an array.
const needsQuotes = /^$|^null$|[\s{}",\\]/i

/** Parameters of a statement over `unnest`: each column as one array literal, or as it was encoded already. */
export function columns(values: readonly (readonly Item[] | Encoded)[]): (string | Buffer)[] {
  return values.map((column) => {
    if (typeof column === 'string' || Buffer.isBuffer(column)) return column
    return column.every(isNull) ? '{}' : arrayLiteral(column)
  })
}

// unnest fills shorter arrays up with nulls: a column of nothing else need not be said. The first columns never are.
const isNull = (item: Item): boolean => item === null

/** `{a,"b c",NULL}` */
export function arrayLiteral(items: readonly Item[]): string {
  // Joined, not added up: a string that grows by parts is a tree of them.
  return `{${items.map(itemLiteral).join()}}`
}

function itemLiteral(item: Item): string {
  if (item === null) return 'NULL'
  if (typeof item === 'string') return needsQuotes.test(item) ? quote(item) : item
  if (typeof item !== 'object') return String(item)
  return item instanceof Date ? item.toISOString() : `"\\\\x${item.toString('hex')}"`
}

function quote(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`
}
