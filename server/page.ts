/** Keyset pages: opaque cursors that belong to their filters, stable under inserts. */
import { ApiError } from './errors.ts'
import { fingerprintOf } from './idempotency.ts'

/** Where a page begins. `before`: older than the id (the next page of a newest-first list); `after`: newer than it. */
export interface Position {
  direction: 'before' | 'after'
  id: string
}

/** One page of rows that were read newest first (`before`) or oldest first (`after`), with one row more than asked where there is one. */
export interface Page<Row> {
  data: Row[]
  has_more: boolean
  next_cursor: string | null
  prev_cursor: string | null
  refresh_cursor: string | null
}

/** The position a cursor stands for. @throws ApiError `invalid_cursor` when it is not ours or belongs to other filters. */
export function readCursor(cursor: string | undefined, filters: unknown): Position | null {
  if (cursor === undefined) return null
  const [kind, id, mark] = Buffer.from(cursor, 'base64url').toString('latin1').split('.')
  const isUuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id ?? '')
  if ((kind !== 'b' && kind !== 'a') || !id || !isUuid || mark !== markOf(filters))
    throw new ApiError('invalid_cursor', { detail: 'The cursor is not one of this list with these filters.' })
  return { direction: kind === 'b' ? 'before' : 'after', id }
}

/**
 * Builds the page of a newest-first list. `rows` are in the order they were read: descending ids without a position or `before` one,
 * ascending after an `after` one; they hold up to `limit + 1` rows.
 */
export function buildPage<Row extends { id: string }>(
  rows: Row[],
  limit: number,
  position: Position | null,
  filters: unknown,
): Page<Row> {
  const hasMore = rows.length > limit
  const page = rows.slice(0, limit)
  const isAfter = position?.direction === 'after'
  if (isAfter) page.reverse()
  const mark = markOf(filters)
  const cursor = (kind: 'a' | 'b', id: string | undefined): string | null =>
    id === undefined ? null : Buffer.from(`${kind}.${id}.${mark}`, 'latin1').toString('base64url')
  const first = page[0]?.id
  const last = page.at(-1)?.id
  return {
    data: page,
    has_more: hasMore,
    next_cursor: isAfter || hasMore ? cursor('b', last) : null,
    prev_cursor: isAfter ? (hasMore ? cursor('a', first) : null) : position ? cursor('a', first) : null,
    refresh_cursor: cursor('a', first ?? position?.id),
  }
}

/** The cursor of a page that ends before it is full, because a filter read as much of a list as it may. */
export function cursorAt(direction: Position['direction'], id: string, filters: unknown): string {
  return Buffer.from(`${direction === 'before' ? 'b' : 'a'}.${id}.${markOf(filters)}`, 'latin1').toString('base64url')
}

/** The same for the same filters in any order. */
function markOf(filters: unknown): string {
  return fingerprintOf(filters).toString('base64url').slice(0, 12)
}
