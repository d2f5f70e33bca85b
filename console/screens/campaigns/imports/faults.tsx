/** What is wrong with rows of a file: equal faults together, each with its fix. */
import type { Import } from '@heliogram/sdk'
import type { ReactNode } from 'react'
import { Button } from '../../../kit/button.tsx'
import { tellCount } from '../../../kit/show.tsx'

type Fault = Import['faults'][number]

/** Corrections that a button can make; none after the import. */
export interface Fixes {
  onMap: (column: string, target: string | null) => void
  onCountry: (country: string) => void
}

interface FaultsProps {
  of: Import
  fixes?: Fixes | undefined
}

export function Faults({ of, fixes }: FaultsProps) {
  const faults = joined(of.faults)
  if (faults.length === 0) return null
  return (
    <ul className="faults" aria-label="Problems">
      {faults.map((fault) => {
        const { what, fix, button } = tellFault(fault, of, fixes)
        return (
          <li key={`${fault.code} ${fault.column ?? ''}`}>
            <strong>{tellCount(fault.count, 'row')}</strong>
            <div>
              <p>
                {fault.column && <strong>{fault.column}: </strong>}
                {what} <span className="hint">First in line {fault.line}.</span>
              </p>
              {fix && <p className="hint">{fix}</p>}
            </div>
            {button}
          </li>
        )
      })}
    </ul>
  )
}

/** The API tells apart what only a program would. */
function joined(faults: readonly Fault[]): Fault[] {
  const all = new Map<string, Fault>()
  for (const fault of faults) {
    const key = `${fault.code} ${fault.column ?? ''}`
    const known = all.get(key)
    all.set(key, known ? { ...known, count: known.count + fault.count, line: Math.min(known.line, fault.line) } : fault)
  }
  return [...all.values()]
}

interface Told {
  what: string
  fix?: string
  button?: ReactNode
}

export function tellFault(
  { code, column, detail, advice }: Pick<Fault, 'code' | 'column' | 'detail'> & { advice?: string | null },
  { mapping, default_country: country }: Import,
  fixes?: Fixes,
): Told {
  const field = column === null ? null : (mapping?.[column] ?? null)
  if (code === 'scientific_notation')
    return {
      what: 'A spreadsheet has shortened the number.',
      fix: 'Format the column as text in the spreadsheet, and export the file again.',
    }
  if (code === 'invalid_characters')
    return { what: 'The file has characters that can’t be read.', fix: 'Save the file as UTF-8.' }
  if (field === 'phone_number' && code === 'required')
    return { what: 'The phone number is missing.', fix: 'Add a phone number to these rows.' }
  if (field === 'phone_number' && code === 'invalid_phone_number') {
    const likely = /such as ([A-Z]{2})\b/.exec(advice ?? '')?.[1]
    return {
      what: 'Not a phone number with a country code.',
      fix:
        country === null
          ? 'If the numbers have no country code, set their default country. Otherwise correct these rows.'
          : `If the numbers aren’t from ${country}, set another default country. Otherwise correct these rows.`,
      button: likely && fixes && <Button onClick={() => fixes.onCountry(likely)}>Set country to {likely}</Button>,
    }
  }
  const what = detail.charAt(0).toUpperCase() + detail.slice(1).replace(/\.?$/, '.')
  if (column === null || field === null || field === 'phone_number') return { what }
  // Without the column nobody’s consent would be imported.
  if (field === 'consent') return { what: 'Neither a yes nor a no.', fix: 'Write yes or no in these rows.' }
  if (field.startsWith('consent')) return { what, fix: 'Correct these rows.' }
  return {
    what,
    fix: 'Correct these cells, or leave the column out.',
    button: fixes && <Button onClick={() => fixes.onMap(column, null)}>Leave column out</Button>,
  }
}
