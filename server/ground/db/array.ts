/** Array parameters as PostgreSQL writes them (§8.15.6 of its manual): pg's own encoding is slow for thousands of values. */

import type { Encoded } from './binary-array.ts'

export type Item = string | number | boolean | Date | Buffer | null

// Quoted: the empty string, the word NULL, and special characters of arrays.
const needsQuotes = /^$|^null$|[\s{}",\\]/i

/** Parameters for `unnest`: each column as one array literal, or already encoded. */
export function columns(values: readonly (readonly Item[] | Encoded)[]): (string | Buffer)[] {
  return values.map((column) => {
    if (typeof column === 'string' || Buffer.isBuffer(column)) return column
    return column.every(isNull) ? '{}' : arrayLiteral(column)
  })
}

/** The values of these fields, a list each. */
export const fieldsOf = <Row, Field extends keyof Row>(rows: readonly Row[], ...fields: Field[]): Row[Field][][] =>
  fields.map((field) => rows.map((row) => row[field]))

// unnest fills shorter arrays with nulls, so a column of nulls can be empty. The first column never is.
const isNull = (item: Item): boolean => item === null

/** `{a,"b c",NULL}` */
export function arrayLiteral(items: readonly Item[]): string {
  // Joined: concatenation would build a tree of strings.
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
