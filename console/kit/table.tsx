/** Tables of resources: linked rows, marked rows, chosen columns, and pages by cursor. */
import { lazy, Suspense, useCallback, useState, type ComponentType, type Key, type ReactNode } from 'react'
import { useSearchParams } from 'wouter'
import { Button } from './button.tsx'
import { kindOf, type Column } from './row.tsx'
import { Rows } from './rows.tsx'
import type { TableColumnsProps } from './table-columns.tsx'
import { useKept } from './viewer.ts'
import './row-keys.ts'

export type { Column }

interface TableProps<Row> {
  /** For screen readers. */
  label: string
  /** The list whose chosen columns are kept. Without it columns cannot be chosen. */
  list?: string
  rows: readonly Row[]
  columns: readonly Column<Row>[]
  keyOf: (row: Row) => Key
  to?: (row: Row) => string
  /** Actions for marked rows; without it rows have no checkboxes. */
  bulk?: (marked: Row[], unmark: () => void) => ReactNode
  empty: ReactNode
}

const TableColumns = lazy<ComponentType<TableColumnsProps>>(() =>
  import('./table-columns.tsx').catch(() => ({ default: () => null })),
)

export function Table<Row>({ label, list, rows, columns, keyOf, to, bulk, empty }: TableProps<Row>) {
  const [chosen, keepChosen] = useKept<Record<string, boolean>>(list && `columns.${list}`, {})
  const [marks, setMarks] = useState<ReadonlySet<Key>>(new Set())
  const [frame, fits] = useFits()
  if (rows.length === 0) return empty
  const isShown = ({ title, isRare }: Column<Row>) => chosen[title] ?? isRare !== true
  const shown = columns.filter(isShown)
  // Marks of rows that have left the list stay, but do not count.
  const marked = bulk ? rows.filter((row) => marks.has(keyOf(row))) : []
  const mark = (key: Key, isMarked: boolean) => {
    const next = new Set(marks)
    if (isMarked) next.add(key)
    else next.delete(key)
    setMarks(next)
  }
  // On a phone rows are cards, unless they are mostly numbers, which are compared vertically.
  const isCards = shown.filter(({ isNumber }) => isNumber).length * 3 <= shown.length * 2
  return (
    <div className="table-frame">
      <div
        ref={frame}
        className={['table', isCards && 'cards', fits && 'fits'].filter(Boolean).join(' ')}
        role="region"
        aria-label={label}
        tabIndex={fits ? undefined : 0}
      >
        {/* Explicit roles: browsers drop them from tables laid out as cards. */}
        <table role="table" aria-rowcount={rows.length + 1}>
          <thead>
            <tr role="row">
              {bulk && (
                <th role="columnheader" scope="col" className="mark">
                  <input
                    type="checkbox"
                    aria-label="Select all"
                    checked={marked.length === rows.length}
                    onChange={({ target }) => setMarks(new Set(target.checked ? rows.map(keyOf) : []))}
                  />
                </th>
              )}
              {shown.map((column) => (
                <th key={column.title} role="columnheader" scope="col" className={kindOf(column)}>
                  {column.title}
                </th>
              ))}
            </tr>
          </thead>
          <Rows rows={rows} columns={shown} keyOf={keyOf} to={to} marks={bulk && marks} onMark={mark} />
        </table>
      </div>
      {list && (
        <Suspense>
          <TableColumns
            columns={columns.slice(1).map((column) => [column.title, isShown(column)])}
            onChange={(title, isOn) => keepChosen({ ...chosen, [title]: isOn })}
          />
        </Suspense>
      )}
      {marked.length > 0 && (
        <div className="bulk" role="toolbar" aria-label="Selected rows">
          <strong>{marked.length} selected</strong>
          {bulk?.(marked, () => setMarks(new Set()))}
          <Button kind="quiet" onClick={() => setMarks(new Set())}>
            Clear
          </Button>
        </div>
      )}
    </div>
  )
}

/** Whether the content is as narrow as its frame. If so, the frame does not scroll, and the head sticks to the window. */
function useFits() {
  const [fits, setFits] = useState(false)
  const watch = useCallback((frame: HTMLDivElement) => {
    const table = frame.firstElementChild ?? frame
    const observer = new ResizeObserver(() => setFits(table.scrollWidth <= frame.clientWidth))
    observer.observe(frame)
    observer.observe(table)
    return () => observer.disconnect()
  }, [])
  return [watch, fits] as const
}

interface ListPage {
  has_more: boolean
  next_cursor: string | null
  prev_cursor: string | null
}

/** The cursor is in the address. */
export function Pager({ page }: { page: ListPage }) {
  const [params, setParams] = useSearchParams()
  const isFirst = !params.has('cursor')
  if (isFirst && !page.has_more) return null
  const turn = (cursor: string | null) =>
    setParams((now) => {
      const next = new URLSearchParams(now)
      if (cursor === null) next.delete('cursor')
      else next.set('cursor', cursor)
      return next
    })
  return (
    <nav className="pager" aria-label="Pages">
      <Button kind="quiet" disabled={isFirst} onClick={() => turn(null)}>
        Newest
      </Button>
      <Button kind="quiet" disabled={isFirst || page.prev_cursor === null} onClick={() => turn(page.prev_cursor)}>
        ← Newer
      </Button>
      <Button
        kind="quiet"
        disabled={!page.has_more || page.next_cursor === null}
        onClick={() => turn(page.next_cursor)}
      >
        Older →
      </Button>
    </nav>
  )
}
