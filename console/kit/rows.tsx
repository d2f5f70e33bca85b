/** The rows of a table. Of a long list only those near the window are in the page. */
import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { useLayoutEffect, useRef, useState, type ReactNode } from 'react'
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

/** A row of TanStack's table, with its mark. */
interface Held<Row> {
  id: string
  original: Row
  getIsSelected: () => boolean
  getToggleSelectedHandler: () => (event: unknown) => void
}

interface RowsProps<Row> {
  rows: readonly Held<Row>[]
  columns: readonly Column<Row>[]
  to: ((row: Row) => string) | undefined
  hasMarks: boolean
}

/** Lists of more rows are slow to lay out as a whole. */
const manyRows = 200

export const Rows = <Row,>(props: RowsProps<Row>) =>
  props.rows.length > manyRows ? (
    <NearRows {...props} />
  ) : (
    <tbody>
      {props.rows.map((row) => (
        <OneRow key={row.id} row={row} {...props} />
      ))}
    </tbody>
  )

function NearRows<Row>(props: RowsProps<Row>) {
  const body = useRef<HTMLTableSectionElement>(null)
  const [top, setTop] = useState(0)
  useLayoutEffect(() => setTop((body.current?.getBoundingClientRect().top ?? 0) + scrollY), [])
  const list = useWindowVirtualizer({
    count: props.rows.length,
    estimateSize: () => 40,
    getItemKey: (n) => props.rows[n]?.id ?? n,
    overscan: 12,
    scrollMargin: top,
  })
  const near = list.getVirtualItems()
  const above = (near[0]?.start ?? top) - top
  const below = list.getTotalSize() - ((near.at(-1)?.end ?? top) - top)
  return (
    <tbody ref={body}>
      <Gap height={above} />
      {near.map(({ index, key }) => {
        const row = props.rows[index]
        return row && <OneRow key={key} row={row} index={index} measure={list.measureElement} {...props} />
      })}
      <Gap height={below} />
    </tbody>
  )
}

const Gap = ({ height }: { height: number }) => (
  <tr role="presentation" className="gap-row" style={{ height }}>
    <td role="presentation" />
  </tr>
)

interface OneRowProps<Row> extends RowsProps<Row> {
  row: Held<Row>
  /** In a long list. */
  index?: number
  measure?: (element: Element | null) => void
}

function OneRow<Row>({ row, columns, to, hasMarks, index, measure }: OneRowProps<Row>) {
  const [, go] = useLocation()
  const { original } = row
  return (
    // The link in the first cell serves the keyboard; the row serves the mouse.
    <tr
      ref={measure}
      role="row"
      data-index={index}
      aria-rowindex={index === undefined ? undefined : index + 2}
      className={[to && 'leads', row.getIsSelected() && 'marked'].filter(Boolean).join(' ') || undefined}
      onClick={({ target, currentTarget }) => {
        // A click in a dialog that a cell opened arrives here, too.
        const isRow = target instanceof Element && currentTarget.contains(target)
        const isOther = isRow && target.closest('a, button, input, label') !== null
        if (to && isRow && !isOther && getSelection()?.isCollapsed !== false) go(to(original))
      }}
    >
      {hasMarks && (
        <td role="cell" className="mark">
          <label>
            <input
              type="checkbox"
              aria-label="Select"
              checked={row.getIsSelected()}
              onChange={row.getToggleSelectedHandler()}
            />
          </label>
        </td>
      )}
      {columns.map((column, n) => (
        <td key={column.title} role="cell" data-title={column.title} className={kindOf(column)}>
          {n === 0 && to ? (
            <Link href={to(original)}>{column.cell(original)}</Link>
          ) : (
            // One line, or a few on a phone.
            <span className={column.isWide ? 'cell cut' : 'cell'} dir={column.isWide ? 'auto' : undefined}>
              {orNone(column.cell(original))}
            </span>
          )}
        </td>
      ))}
    </tr>
  )
}

const orNone = (cell: ReactNode): ReactNode => (cell === null || cell === undefined || cell === '' ? <None /> : cell)
