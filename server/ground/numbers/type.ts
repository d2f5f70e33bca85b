/** The kind of a number, from the compiled table: personal, or premium. */
import { codeLengthOf } from './plan.ts'
import { typeRows } from './types.ts'

interface Patterns {
  people: RegExp | null
  premium: RegExp | null
}

const rows = typeRows.split('\n').map((row) => row.split(' '))
const rowsByCode = Map.groupBy(rows, ([code = '']) => code)
const bareCountries = new Set(rows.flatMap(([, country = '', bare]) => (bare === 'bare' ? [country] : [])))

// Compiled at first use, like the plans.
const patternsByCode = new Map<string, Patterns>()

/** Whether people in a country (ISO 3166-1 alpha-2) write national numbers without a prefix. */
export const isWrittenBare = (country: string): boolean => bareCountries.has(country)

/** Whether a number of this calling code is in a personal range: mobile, and fixed in countries that write no prefix. */
export const isOfPeople = (code: string, number: string): boolean => patternsOf(code).people?.test(number) === true

/** All calling codes with personal ranges. */
export const codesOfPeople = (): string[] => [...rowsByCode.keys()]

/** Whether a number is in a premium range (+1 900 and similar), by the plans of its calling code. */
export const isPremium = (number: string): boolean =>
  patternsOf(number.slice(0, codeLengthOf(number))).premium?.test(number) === true

function patternsOf(code: string): Patterns {
  let patterns = patternsByCode.get(code)
  if (!patterns) patternsByCode.set(code, (patterns = { people: join(code, 3), premium: join(code, 4) }))
  return patterns
}

/** Joins the patterns of all countries of a code, from one column. */
function join(code: string, column: number): RegExp | null {
  const patterns = new Set((rowsByCode.get(code) ?? []).map((row) => row[column] ?? '').filter((one) => one !== ''))
  return patterns.size === 0 ? null : new RegExp(`^${code}(?:${[...patterns].join('|')})$`)
}
