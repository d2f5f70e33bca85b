import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ApiError } from '../base/errors.ts'
import { firstIdAt } from '../base/ids.ts'
import { buildPage, readCursor, type Page, type Position } from './page.ts'

describe('pages', () => {
  it('show everything once, forwards and backwards, whatever the limit', () => {
    fc.assert(
      fc.property(fc.nat(40), fc.integer({ min: 1, max: 9 }), (count, limit) => {
        const rows = rowsOf(count)
        const seen: string[] = []
        let page = pageOf(rows, limit)
        for (;;) {
          seen.push(...page.data.map(({ id }) => id))
          expect(page.has_more).toBe(page.next_cursor !== null)
          if (page.next_cursor === null) break
          page = pageOf(rows, limit, page.next_cursor)
        }
        expect(seen).toEqual(rows.toReversed().map(({ id }) => id))
        const back = page.data.map(({ id }) => id).toReversed()
        while (page.prev_cursor !== null) {
          page = pageOf(rows, limit, page.prev_cursor)
          back.push(...page.data.map(({ id }) => id).toReversed())
        }
        expect(back).toEqual(rows.map(({ id }) => id))
      }),
    )
  })

  it('stay the same when more rows are added', () => {
    const first = pageOf(rowsOf(10), 3)
    expect(pageOf(rowsOf(15), 3, first.next_cursor).data).toEqual(pageOf(rowsOf(10), 3, first.next_cursor).data)
    expect(pageOf(rowsOf(15), 9, first.refresh_cursor).data).toEqual(rowsOf(15).slice(10).toReversed())
  })

  it('of an empty list have no cursors', () => {
    expect(pageOf([], 5)).toEqual({
      data: [],
      has_more: false,
      next_cursor: null,
      prev_cursor: null,
      refresh_cursor: null,
    })
  })
})

describe('a cursor', () => {
  const refused = (cursor: string, filters: unknown): unknown => {
    try {
      return readCursor(cursor, filters)
    } catch (error) {
      return error instanceof ApiError ? error.code : error
    }
  }

  it('belongs to its filters, in any order', () => {
    const cursor = pageOf(rowsOf(5), 2, null, { a: 1, b: ['x'] }).next_cursor ?? ''
    expect(readCursor(cursor, { b: ['x'], a: 1 })).toMatchObject({ direction: 'before' })
    for (const other of [{ a: 1 }, { a: 2, b: ['x'] }, {}, 'a', { a: 1, b: ['y'] }])
      expect(refused(cursor, other)).toBe('invalid_cursor')
  })

  it('from elsewhere is refused', () => {
    fc.assert(fc.property(fc.string(), (text) => refused(text, {}) === 'invalid_cursor'))
    const cursor = pageOf(rowsOf(5), 2).next_cursor ?? ''
    for (const bad of [cursor.slice(1), `${cursor}AAAA`, cursor.toLowerCase(), ''])
      expect(refused(bad, {})).toBe('invalid_cursor')
  })
})

const rowsOf = (count: number): { id: string }[] => Array.from({ length: count }, (_, i) => ({ id: firstIdAt(i + 1) }))

/** A store's result: up to one row more than the limit, in reading order. */
function read(rows: { id: string }[], limit: number, position: Position | null): { id: string }[] {
  const newestFirst = rows.toReversed()
  if (position === null) return newestFirst.slice(0, limit + 1)
  if (position.direction === 'before') return newestFirst.filter(({ id }) => id < position.id).slice(0, limit + 1)
  return rows.filter(({ id }) => id > position.id).slice(0, limit + 1)
}

function pageOf(
  rows: { id: string }[],
  limit: number,
  cursor?: string | null,
  filters: unknown = {},
): Page<{ id: string }> {
  const position = readCursor(cursor ?? undefined, filters)
  return buildPage(read(rows, limit, position), limit, position, filters, { isInOrder: true })
}
