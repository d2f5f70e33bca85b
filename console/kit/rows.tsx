/** The rows of a table. Of a long list only those near the window are in the page. */
import { lazy, Suspense, type ComponentType } from 'react'
import { OneRow, type RowsProps } from './row.tsx'

/** Lists of more rows are slow to lay out as a whole. */
const manyRows = 200

const AllRows = <Row,>(props: RowsProps<Row>) => (
  <tbody>
    {props.rows.map((row) => (
      <OneRow key={props.keyOf(row)} row={row} {...props} />
    ))}
  </tbody>
)

// Without the server all rows are still there, but slower.
const NearRows = lazy(() => import('./near-rows.tsx').catch(() => ({ default: AllRows })))

export function Rows<Row>(props: RowsProps<Row>) {
  if (props.rows.length <= manyRows) return <AllRows {...props} />
  // A lazy component has no type parameter.
  const Near = NearRows as ComponentType<RowsProps<Row>>
  return (
    <Suspense fallback={<AllRows {...props} rows={props.rows.slice(0, manyRows)} />}>
      <Near {...props} />
    </Suspense>
  )
}
