/** Tables of resources: rows that lead somewhere, and pages by cursor. */
import type { Key, ReactNode } from 'react'
import { Link, useLocation, useSearchParams } from 'wouter'
import { Button } from './button.tsx'
import { None } from './show.tsx'

export interface Column<Row> {
  title: string
  /** None: a dash. */
  cell: (row: Row) => ReactNode
  /** Numbers stand at the right. */
  isNumber?: boolean
  /** Takes what room there is, and is cut at one line. */
  isWide?: boolean
}

interface TableProps<Row> {
  /** What the rows are, for screen readers. */
  label: string
  rows: readonly Row[]
  columns: readonly Column<Row>[]
  keyOf: (row: Row) => Key
  /** Where a row leads. */
  to?: (row: Row) => string
  empty: ReactNode
}

export function Table<Row>({ label, rows, columns, keyOf, to, empty }: TableProps<Row>) {
  const [, go] = useLocation()
  if (rows.length === 0) return empty
  // On a phone a row is a card, where it is more than numbers: these are compared with those above them.
  const isCards = columns.filter(({ isNumber }) => isNumber).length * 3 <= columns.length * 2
  const kindOf = ({ isNumber, isWide }: Column<Row>) => (isNumber ? 'number' : isWide ? 'wide' : undefined)
  return (
    <div className={isCards ? 'table cards' : 'table'} role="region" aria-label={label} tabIndex={0}>
      {/* Told as what they are: browsers forget it of tables that are laid out as cards. */}
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
            // The first cell of such a row holds a link for the keyboard; the row itself is for the mouse.
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
                    // Cut at one line, or at a few on a phone, where it takes what room there is.
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

/** One page of a list, as the API answers it. */
interface ListPage {
  has_more: boolean
  next_cursor: string | null
  prev_cursor: string | null
}

/** The way to the pages before and behind the one that is shown; the cursor stands in the address. */
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
