import type { Import } from '@heliogram/sdk'
import { Table } from '../../../kit/table.tsx'

const fields = [
  ['phone_number', 'Phone number'],
  ['first_name', 'First name'],
  ['last_name', 'Last name'],
  ['external_id', 'External ID'],
  ['language', 'Language'],
  ['country', 'Country'],
  ['timezone', 'Time zone'],
  ['tags', 'Tags'],
  ['consent', 'Consent (yes or no)'],
  ['consent_method', 'Consent: method'],
  ['consent_source', 'Consent: source'],
  ['consent_text', 'Consent: text'],
  ['consent_obtained_at', 'Consent: date'],
  ['consent_ip', 'Consent: IP address'],
] as const

interface MappingProps {
  columns: NonNullable<Import['columns']>
  /** Changes since the last check. */
  changed: Record<string, string | null>
  onMap: (column: string, target: string | null) => void
}

/** What each column of the file is imported as, with examples of its cells. */
export const Mapping = ({ columns, changed, onMap }: MappingProps) => (
  <Table
    label="Columns"
    rows={columns}
    keyOf={({ name }) => name}
    columns={[
      { title: 'Column', cell: ({ name }) => <strong>{name}</strong> },
      {
        title: 'Examples',
        isWide: true,
        cell: ({ sample }) => (sample && sample.length > 0 ? sample.join(' · ') : <span className="none">Empty</span>),
      },
      {
        title: 'Import as',
        cell: ({ name, field }) => (
          <select
            aria-label={`Import ${name} as`}
            value={(changed[name] === undefined ? field : changed[name]) ?? ''}
            onChange={(event) => onMap(name, event.target.value || null)}
          >
            {optionsFor(name, field).map(([value, title]) => (
              <option key={value} value={value}>
                {title}
              </option>
            ))}
          </select>
        ),
      },
    ]}
    empty={null}
  />
)

function optionsFor(column: string, target: string | null): [string, string][] {
  const own = target?.startsWith('attributes.') ? target : `attributes.${column.trim()}`
  return [
    ['', 'Leave out'],
    [own, `Attribute “${own.slice('attributes.'.length)}”`],
    ...fields.map(([value, title]): [string, string] => [value, title]),
  ]
}
