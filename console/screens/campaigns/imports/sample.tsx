/** Good rows as they would be stored: a column for each value in any row. */
import { Table } from '../../../kit/table.tsx'

type Row = Record<string, unknown>

/** In this order; other values follow. */
const first = [
  'line',
  'phone_number',
  'first_name',
  'last_name',
  'external_id',
  'language',
  'country',
  'timezone',
  'tags',
]

export function Sample({ rows }: { rows: readonly Row[] }) {
  const flat = rows.map(flatten)
  const known = new Set(flat.flatMap((row) => Object.keys(row)))
  const names = [...first.filter((name) => known.has(name)), ...[...known].filter((name) => !first.includes(name))]
  return (
    <Table
      label="Sample"
      rows={flat}
      keyOf={(row) => String(row['line'])}
      columns={names.map((name) => ({
        title: name.replaceAll('_', ' '),
        isNumber: name === 'line',
        cell: (row: Record<string, string>) => row[name] ?? '',
      }))}
      empty={null}
    />
  )
}

/** Attributes and consent become columns of their own. */
function flatten(row: Row): Record<string, string> {
  const entries = Object.entries(row).flatMap(([name, value]): [string, unknown][] => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return [[name, value]]
    const inner = Object.entries(value as Row)
    return inner.map(([key, one]) => [name === 'attributes' ? key : `${name} ${key}`, one])
  })
  return Object.fromEntries(entries.map(([name, value]) => [name, tell(value)]))
}

function tell(value: unknown): string {
  if (value === undefined || value === null) return ''
  if (Array.isArray(value)) return value.join(', ')
  return typeof value === 'string' ? value : JSON.stringify(value)
}
