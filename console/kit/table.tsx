/** Tables of resources: linked rows, marked rows, chosen columns, and pages by cursor. */
import {
  columnVisibilityFeature,
  rowSelectionFeature,
  tableFeatures,
  useTable,
  type RowSelectionState,
} from '@tanstack/react-table'
import { useCallback, useState, type Key, type ReactNode } from 'react'
import { useSearchParams } from 'wouter'
import { Button } from './button.tsx'
import { Menu, MenuCheck } from './menu.tsx'
import { kindOf, Rows, type Column } from './rows.tsx'
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

const features = tableFeatures({ columnVisibilityFeature, rowSelectionFeature })

export function Table<Row extends object>({ label, list, rows, columns, keyOf, to, bulk, empty }: TableProps<Row>) {
  const rare = Object.fromEntries(columns.filter(({ isRare }) => isRare).map(({ title }) => [title, false]))
  const [columnVisibility, keepColumns] = useKept<Record<string, boolean>>(list && `columns.${list}`, rare)
  const [rowSelection, mark] = useState<RowSelectionState>({})
  const table = useTable({
    features,
    data: rows,
    columns: columns.map((column, n) => ({ id: column.title || `column ${n}`, meta: { column } })),
    getRowId: (row) => String(keyOf(row)),
    state: { columnVisibility, rowSelection },
    onRowSelectionChange: mark,
  })
  const [frame, fits] = useFits()
  if (rows.length === 0) return empty
  const shown = columns.filter((_, n) => table.getAllLeafColumns()[n]?.getIsVisible())
  const marked = bulk ? table.getSelectedRowModel().rows : []
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
                    checked={table.getIsAllRowsSelected()}
                    onChange={table.getToggleAllRowsSelectedHandler()}
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
          <Rows rows={table.getRowModel().rows} columns={shown} to={to} hasMarks={bulk !== undefined} />
        </table>
      </div>
      {list && (
        <Menu label="Columns" icon="⋯" className="table-columns">
          {columns.slice(1).map(({ title }, n) => {
            const column = table.getAllLeafColumns()[n + 1]
            return (
              <MenuCheck
                key={title}
                isOn={column?.getIsVisible() ?? true}
                onChange={(isOn) => keepColumns({ ...columnVisibility, [title]: isOn })}
              >
                {title}
              </MenuCheck>
            )
          })}
        </Menu>
      )}
      {marked.length > 0 && (
        <div className="bulk" role="toolbar" aria-label="Selected rows">
          <strong>{marked.length} selected</strong>
          {bulk?.(
            marked.map(({ original }) => original),
            () => mark({}),
          )}
          <Button kind="quiet" onClick={() => mark({})}>
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
