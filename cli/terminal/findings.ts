/** What an import found in a file, of contacts or of opt-outs: its faults, warnings and repairs, in the words of this program. */
import type { Import } from '@heliogram/sdk'
import type { Fact } from './table.ts'

/** Faults with their advice, and warnings. */
export function findingsOf({ faults, warnings }: Pick<Import, 'faults' | 'warnings'>): Fact[] {
  return [
    ...warnings.map(({ column, detail }): Fact => [
      'look',
      `${column === null ? '' : `${column}: `}${inOptions(detail)}`,
    ]),
    ...faults.map(({ count, column, detail, advice }): Fact => {
      const what = `${column === null ? '' : `${column} `}${inOptions(detail)}`
      return [count === 1 ? '1 row' : `${count} rows`, advice === null ? what : `${what}. ${inOptions(advice)}`]
    }),
  ]
}

/** How many numbers were mended, by how. */
export const tellRepairs = (repairs: Partial<Record<string, number>>): string =>
  Object.entries(repairs)
    .map(([kind, count]) => `${count} ${kind.replaceAll('_', ' ')}`)
    .join(', ')

/** What `--map` says as the API takes it; no field leaves a column out. */
export const mappingOf = (map: Record<string, string>): string =>
  JSON.stringify(Object.fromEntries(Object.entries(map).map(([column, field]) => [column, field || null])))

/** A text of the API with the options of this program in place of its parameters. */
export const inOptions = (text: string): string =>
  text
    .replace(/`mapping` (\{.*?\})(?=[.;,]?(?:\s|$))/g, (whole, json: string) => toOptions(json) ?? whole)
    .replaceAll('`mapping`', '--map')
    .replace(/`default_country(?:=([A-Z]{2}))?`/g, (_, country?: string) =>
      country ? `--country ${country}` : '--country',
    )
    .replaceAll('`suggestion`', 'suggestion')

function toOptions(json: string): string | null {
  try {
    const pairs = Object.entries(JSON.parse(json) as Record<string, string | null>)
    return pairs.map(([column, field]) => `--map '${column}=${field ?? ''}'`).join(' ')
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}
