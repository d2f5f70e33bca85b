import { Section } from '../../../kit/page.tsx'
import { Table } from '../../../kit/table.tsx'

const fields = [
  ['phone_number', 'Phone number'],
  ['first_name', 'First name'],
  ['last_name', 'Last name'],
  ['external_id', 'External id'],
  ['language', 'Language'],
  ['country', 'Country'],
  ['timezone', 'Time zone'],
  ['tags', 'Tags'],
  ['consent', 'Consent'],
  ['consent_method', 'Consent: how'],
  ['consent_source', 'Consent: where'],
  ['consent_text', 'Consent: text'],
  ['consent_obtained_at', 'Consent: when'],
  ['consent_ip', 'Consent: IP address'],
] as const

interface MappingProps {
  found: Record<string, string | null>
  said: Record<string, string | null>
  onSay: (column: string, target: string | null) => void
}

export function Mapping({ found, said, onSay }: MappingProps) {
  const isChanged = Object.entries(said).some(([column, target]) => found[column] !== target)
  return (
    <Section title="Columns">
      {isChanged && <p className="notice">The columns were changed: check again to see what they make of the file.</p>}
      <Table
        label="Columns"
        rows={Object.entries(found)}
        keyOf={([column]) => column}
        columns={[
          { title: 'Column', cell: ([column]) => column },
          {
            title: 'Fills',
            cell: ([column, target]) => (
              <select
                aria-label={`What ${column} fills`}
                value={(said[column] === undefined ? target : said[column]) ?? ''}
                onChange={(event) => onSay(column, event.target.value || null)}
              >
                {optionsFor(column, target).map(([value, title]) => (
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
    </Section>
  )
}

function optionsFor(column: string, target: string | null): [string, string][] {
  const own = target?.startsWith('attributes.') ? target : `attributes.${column.trim()}`
  return [
    ['', 'Nothing: leave it out'],
    [own, `Attribute ${own.slice('attributes.'.length)}`],
    ...fields.map(([value, title]): [string, string] => [value, title]),
  ]
}
