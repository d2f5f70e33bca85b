/** One row of a table. */
import { useId, type Key, type ReactNode } from 'react'
import { Link, useLocation } from 'wouter'
import { None } from './show.tsx'

export interface Column<Row> {
  title: string
  cell: (row: Row) => ReactNode
  isNumber?: boolean
  /** A text: takes the remaining width, cut to one line. */
  isWide?: boolean
  /** Hidden until it is chosen. */
  isRare?: boolean
}

export const kindOf = <Row,>({ isNumber, isWide }: Column<Row>): string | undefined =>
  isNumber ? 'number' : isWide ? 'wide' : undefined

export interface RowsProps<Row> {
  rows: readonly Row[]
  columns: readonly Column<Row>[]
  keyOf: (row: Row) => Key
  to: ((row: Row) => string) | undefined
  /** Keys of marked rows; undefined: rows have no checkboxes. */
  marks: ReadonlySet<Key> | undefined
  onMark: (key: Key, isMarked: boolean) => void
}

interface OneRowProps<Row> extends RowsProps<Row> {
  row: Row
  /** In a long list. */
  index?: number
  measure?: (element: Element | null) => void
}

export function OneRow<Row>({ row, columns, keyOf, to, marks, onMark, index, measure }: OneRowProps<Row>) {
  const [, go] = useLocation()
  const id = useId()
  const isMarked = marks?.has(keyOf(row)) ?? false
  return (
    // The link in the first cell serves the keyboard; the row serves the mouse.
    <tr
      ref={measure}
      role="row"
      data-index={index}
      aria-rowindex={index === undefined ? undefined : index + 2}
      className={[to && 'leads', isMarked && 'marked'].filter(Boolean).join(' ') || undefined}
      onClick={({ target, currentTarget }) => {
        // A click in a dialog that a cell opened arrives here, too.
        const isRow = target instanceof Element && currentTarget.contains(target)
        const isOther = isRow && target.closest('a, button, input, label') !== null
        if (to && isRow && !isOther && getSelection()?.isCollapsed !== false) go(to(row))
      }}
    >
      {marks && (
        <td role="cell" className="mark">
          <label>
            <input
              id={`${id}-mark`}
              type="checkbox"
              aria-label="Select"
              aria-labelledby={`${id}-mark ${id}-first`}
              checked={isMarked}
              onChange={({ target }) => onMark(keyOf(row), target.checked)}
            />
          </label>
        </td>
      )}
      {columns.map((column, n) => (
        <td key={column.title} role="cell" data-title={column.title} className={kindOf(column)}>
          {n === 0 && to ? (
            <Link id={`${id}-first`} href={to(row)}>
              {column.cell(row)}
            </Link>
          ) : (
            // One line, or a few on a phone.
            <span
              id={n === 0 ? `${id}-first` : undefined}
              className={column.isWide ? 'cell cut' : 'cell'}
              dir={column.isWide ? 'auto' : undefined}
            >
              {orNone(column.cell(row))}
            </span>
          )}
        </td>
      ))}
    </tr>
  )
}

const orNone = (cell: ReactNode): ReactNode => (cell === null || cell === undefined || cell === '' ? <None /> : cell)
