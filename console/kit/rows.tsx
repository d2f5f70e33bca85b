/** The rows of a table. Of a long list only those near the window are in the page. */
import { lazy, Suspense, type ComponentType } from 'react'
import { loadPart } from './outdated.ts'
import { OneRow, type RowsProps } from './row.tsx'

/** Lists of more rows are slow to lay out as a whole. */
const manyRows = 200

const NearRows = lazy(() => loadPart(() => import('./near-rows.tsx')))

const AllRows = <Row,>(props: RowsProps<Row>) => (
  <tbody>
    {props.rows.slice(0, manyRows).map((row) => (
      <OneRow key={props.keyOf(row)} row={row} {...props} />
    ))}
  </tbody>
)

export function Rows<Row>(props: RowsProps<Row>) {
  if (props.rows.length <= manyRows) return <AllRows {...props} />
  // A lazy component has no type parameter.
  const Near = NearRows as ComponentType<RowsProps<Row>>
  return (
    <Suspense fallback={<AllRows {...props} />}>
      <Near {...props} />
    </Suspense>
  )
}
