/** Tables of resources: linked rows, and pages by cursor. */
import type { Key, ReactNode } from 'react'
import { Link, useLocation, useSearchParams } from 'wouter'
import { Button } from './button.tsx'
import { None } from './show.tsx'

export interface Column<Row> {
  title: string
  cell: (row: Row) => ReactNode
  isNumber?: boolean
  /** Takes the remaining width, cut to one line. */
  isWide?: boolean
}

interface TableProps<Row> {
  /** For screen readers. */
  label: string
  rows: readonly Row[]
  columns: readonly Column<Row>[]
  keyOf: (row: Row) => Key
  to?: (row: Row) => string
  empty: ReactNode
}

export function Table<Row>({ label, rows, columns, keyOf, to, empty }: TableProps<Row>) {
  const [, go] = useLocation()
  if (rows.length === 0) return empty
  // On a phone rows are cards, unless they are mostly numbers, which are compared vertically.
  const isCards = columns.filter(({ isNumber }) => isNumber).length * 3 <= columns.length * 2
  const kindOf = ({ isNumber, isWide }: Column<Row>) => (isNumber ? 'number' : isWide ? 'wide' : undefined)
  return (
    <div className={isCards ? 'table cards' : 'table'} role="region" aria-label={label} tabIndex={0}>
      {/* Explicit roles: browsers drop them from tables laid out as cards. */}
      <table role="table">
        <thead>
          <tr role="row">
            {columns.map((column) => (
              <th key={column.title} role="columnheader" scope="col" className={kindOf(column)}>
                {column.title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            // The link in the first cell serves the keyboard; the row serves the mouse.
            <tr
              key={keyOf(row)}
              role="row"
              className={to && 'leads'}
              onClick={(event) => {
                const isOther = event.target instanceof Element && event.target.closest('a, button, input, label')
                if (to && !isOther && getSelection()?.isCollapsed !== false) go(to(row))
              }}
            >
              {columns.map((column, n) => (
                <td key={column.title} role="cell" data-title={column.title} className={kindOf(column)}>
                  {n === 0 && to ? (
                    <Link href={to(row)}>{column.cell(row)}</Link>
                  ) : (
                    // One line, or a few on a phone.
                    <span className={column.isWide ? 'cell cut' : 'cell'}>{orNone(column.cell(row))}</span>
                  )}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

const orNone = (cell: ReactNode): ReactNode => (cell === null || cell === undefined || cell === '' ? <None /> : cell)

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
