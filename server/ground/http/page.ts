/** Keyset pages: opaque cursors that belong to their filters, stable under inserts. */
import { ApiError } from '../base/errors.ts'
import { fingerprintOf } from './idempotency.ts'
import { readMark, showMark, type Mark } from './mark.ts'

/** `before`: older than the id (the next page of a newest-first list); `after`: newer than it. */
export interface Position {
  direction: 'before' | 'after'
  id: string
  /** Only rows not committed at the mark; `next`, on a further page of the same refresh, is the mark for the following refresh. */
  since?: { mark: Mark; next: Mark | null }
}

/** SQL of the direction: ascending after a position, otherwise from the newest down. */
export const wayOf = (position: Position | null): { beyond: '<' | '>'; order: 'asc' | 'desc' } =>
  position?.direction === 'after' ? { beyond: '>', order: 'asc' } : { beyond: '<', order: 'desc' }

/** Rows read newest first (`before`) or oldest first (`after`), with one row more if there is one. */
export interface Page<Row> {
  data: Row[]
  has_more: boolean
  next_cursor: string | null
  prev_cursor: string | null
  refresh_cursor: string | null
}

export interface PageOptions {
  /** Without a position the list starts at the oldest, and is shown so. */
  isOldestFirst?: boolean
  /** Where a filter stopped at its bound before the page was full; null: it did not. */
  edge?: string | null
  /** Taken before the page was read: its refresh cursor returns everything else, and rows from shortly before once more. */
  mark?: Mark
  /** Ids become readable in order, so the newest is a refresh cursor. Otherwise a mark is needed for one. */
  isInOrder?: boolean
}

/** @throws ApiError `invalid_cursor` if it is not ours or belongs to other filters. */
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
 * Builds a page. `rows` are in reading order: descending ids for a newest-first list without a position and for `before`, ascending
 * otherwise; up to `limit + 1` rows.
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
    // Clients that follow only refresh cursors miss nothing: while a refresh has more, this is the cursor for it.
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

/** A store's arguments: it returns rows from a position on, in the order of `buildPage`, and one more than `limit`. */
export type PagePlace = [limit: number, position: Position | null]

/** `edge`: where a filter stopped at its bound, before there were `limit + 1` rows. */
export interface Found<Row> {
  rows: Row[]
  edge?: string | null
}

/** The page of a query, rendered. `filters`: the cursors belong to these. */
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

/** The order of filters does not matter. */
function hashOf(filters: unknown): string {
  return fingerprintOf(filters).toString('base64url').slice(0, 12)
}
