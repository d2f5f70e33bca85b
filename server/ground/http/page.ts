/** Keyset pages: opaque cursors that belong to their filters, stable under inserts. */
import { ApiError } from '../base/errors.ts'
import { fingerprintOf } from './idempotency.ts'
import { readMark, showMark, type Mark } from './mark.ts'

/** Where a page begins. `before`: older than the id (the next page of a newest-first list); `after`: newer than it. */
export interface Position {
  direction: 'before' | 'after'
  id: string
  /** Only what was not committed at a mark; `next`, on a further page of the same refresh, is the mark for the one after it. */
  since?: { mark: Mark; next: Mark | null }
}

/** The way in which a page is read, as SQL: upwards from a position that it comes after, otherwise from the newest down. */
export const wayOf = (position: Position | null): { beyond: '<' | '>'; order: 'asc' | 'desc' } =>
  position?.direction === 'after' ? { beyond: '>', order: 'asc' } : { beyond: '<', order: 'desc' }

/** One page of rows that were read newest first (`before`) or oldest first (`after`), with one row more than asked where there is one. */
export interface Page<Row> {
  data: Row[]
  has_more: boolean
  next_cursor: string | null
  prev_cursor: string | null
  refresh_cursor: string | null
}

/** What else a page may need. */
export interface PageOptions {
  /** Without a position the list was read from the oldest on, and is shown so. */
  isOldestFirst?: boolean
  /** Where reading stopped before the page was full, because a filter read as much of a list as it may; null: it did not. */
  edge?: string | null
  /** What was committed before the page was read: its refresh cursor shows everything else, and what was made shortly before once more. */
  mark?: Mark
  /** Ids are in the order in which they can be read, so that the newest one is a refresh cursor. Without it and a mark there is none. */
  isInOrder?: boolean
}

/** The position a cursor stands for. @throws ApiError `invalid_cursor` when it is not ours or belongs to other filters. */
export function readCursor(cursor: string | undefined, filters: unknown): Position | null {
  if (cursor === undefined) return null
  const parts = Buffer.from(cursor, 'base64url').toString('latin1').split('.')
  const [kind, id = ''] = parts
  const isUuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id)
  const marks = parts.slice(2, -1).map(readMark)
  const [mark, next = null] = marks
  const isWhole = kind === 'r' ? mark && marks.length <= 2 && !marks.includes(null) : marks.length === 0
  if (!kind || !/^[abr]$/.test(kind) || !isUuid || !isWhole || parts.at(-1) !== hashOf(filters))
    throw new ApiError('invalid_cursor', { detail: 'The cursor does not belong to this list with these filters.' })
  return { direction: kind === 'b' ? 'before' : 'after', id, ...(mark && { since: { mark, next } }) }
}

/**
 * Builds a page. `rows` are in the order they were read: descending ids for a newest-first list without a position and for `before` one,
 * ascending otherwise; they hold up to `limit + 1` rows.
 */
export function buildPage<Row extends { id: string }>(
  rows: Row[],
  limit: number,
  position: Position | null,
  filters: unknown,
  { isOldestFirst = false, edge = null, mark, isInOrder = false }: PageOptions = {},
): Page<Row> {
  const hasMore = rows.length > limit || edge !== null
  const page = rows.slice(0, limit)
  const isUpward = position ? position.direction === 'after' : isOldestFirst
  const hash = hashOf(filters)
  const cursor = (direction: Position['direction'], id: string | undefined, since?: Position['since']): string | null =>
    id === undefined ? null : writeCursor({ direction, id, ...(since && { since }) }, hash)
  const [first, last] = [page[0]?.id, edge ?? page.at(-1)?.id]
  const since = position?.since && { mark: position.since.mark, next: position.since.next ?? mark ?? null }
  const onward = hasMore ? cursor(isUpward ? 'after' : 'before', last, since) : null
  const back = position ? cursor(isUpward ? 'before' : 'after', first) : null
  const [newer, older] = isUpward ? [onward, back] : [back, onward]
  const nextMark = since?.next ?? mark
  return {
    data: isUpward === isOldestFirst ? page : page.reverse(),
    has_more: hasMore,
    next_cursor: isOldestFirst ? newer : older,
    prev_cursor: isOldestFirst ? older : newer,
    // Whoever follows refresh cursors alone misses nothing: while a refresh has more, it is the cursor for that.
    refresh_cursor:
      since && hasMore
        ? onward
        : nextMark
          ? cursor('after', nextMark.floor, { mark: nextMark, next: null })
          : isInOrder
            ? cursor('after', (isUpward ? last : first) ?? position?.id)
            : null,
  }
}

/** What a store is asked for: rows from a position on, in the order that `buildPage` takes them, and one more than `limit`. */
export type PagePlace = [limit: number, position: Position | null]

/** What a store has found. `edge`: where it stopped before there were `limit + 1`, because a filter reads as much of a list as it may. */
export interface Found<Row> {
  rows: Row[]
  edge?: string | null
}

/** The page of a list that a query asks for, with each row as it is shown. `filters`: whose cursors are whose. */
export async function readPage<Row extends { id: string }, Shown>(
  { limit = 50, cursor }: { limit?: number | undefined; cursor?: string | undefined },
  filters: unknown,
  read: (...place: PagePlace) => Promise<Row[] | Found<Row>>,
  show: (row: Row) => Shown,
  options?: PageOptions,
): Promise<Page<Shown>> {
  const position = readCursor(cursor, filters)
  const found = await read(limit, position)
  const { rows, edge = null } = Array.isArray(found) ? { rows: found } : found
  const page = buildPage(rows, limit, position, filters, { ...options, edge })
  return { ...page, data: page.data.map((row) => show(row)) }
}

function writeCursor({ direction, id, since }: Position, hash: string): string {
  const marks = since ? [since.mark, ...(since.next ? [since.next] : [])].map(showMark) : []
  const kind = since ? 'r' : direction === 'before' ? 'b' : 'a'
  return Buffer.from([kind, id, ...marks, hash].join('.'), 'latin1').toString('base64url')
}

/** The same for the same filters in any order. */
function hashOf(filters: unknown): string {
  return fingerprintOf(filters).toString('base64url').slice(0, 12)
}
