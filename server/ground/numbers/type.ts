/** What kind of number it is: one that people have, or one that costs its callers extra. From the compiled table. */
import { codeLengthOf } from './plan.ts'
import { typeRows } from './types.ts'

interface Patterns {
  people: RegExp | null
  premium: RegExp | null
}

const rows = typeRows.split('\n').map((row) => row.split(' '))
const rowsByCode = Map.groupBy(rows, ([code = '']) => code)
const bareCountries = new Set(rows.flatMap(([, country = '', bare]) => (bare === 'bare' ? [country] : [])))

// Made when a code is first met, as the plans are.
const patternsByCode = new Map<string, Patterns>()

/** Says that people of a country (ISO 3166-1 alpha-2) write its numbers without a prefix, as they are behind the calling code. */
export const isWrittenBare = (country: string): boolean => bareCountries.has(country)

/** Says that a number with this calling code is of a range that people have: mobile, and fixed where numbers are written bare. */
export const isOfPeople = (code: string, number: string): boolean => patternsOf(code).people?.test(number) === true

/** All calling codes of people. */
export const codesOfPeople = (): string[] => [...rowsByCode.keys()]

/** Says that a number is of a range whose callers pay extra (+1 900 and its like), by the plans behind its calling code. */
export const isPremium = (number: string): boolean =>
  patternsOf(number.slice(0, codeLengthOf(number))).premium?.test(number) === true

function patternsOf(code: string): Patterns {
  let patterns = patternsByCode.get(code)
  if (!patterns) patternsByCode.set(code, (patterns = { people: join(code, 3), premium: join(code, 4) }))
  return patterns
}

/** One pattern of all countries behind a code, from this column. */
function join(code: string, column: number): RegExp | null {
  const patterns = new Set((rowsByCode.get(code) ?? []).map((row) => row[column] ?? '').filter((one) => one !== ''))
  return patterns.size === 0 ? null : new RegExp(`^${code}(?:${[...patterns].join('|')})$`)
}
