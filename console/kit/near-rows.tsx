/** The rows of a long list that are near the window. Loaded when there is one. */
import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { useLayoutEffect, useRef, useState } from 'react'
import { OneRow, type RowsProps } from './row.tsx'

export default function NearRows<Row>(props: RowsProps<Row>) {
  const body = useRef<HTMLTableSectionElement>(null)
  const [top, setTop] = useState(0)
  useLayoutEffect(() => setTop((body.current?.getBoundingClientRect().top ?? 0) + scrollY), [])
  const list = useWindowVirtualizer({
    count: props.rows.length,
    estimateSize: () => 40,
    getItemKey: (n) => {
      const row = props.rows[n]
      return row === undefined ? n : props.keyOf(row)
    },
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
