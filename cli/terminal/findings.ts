/** Findings of an import of contacts or opt-outs: faults, warnings and repairs. */
import type { Import } from '@heliogram/sdk'
import type { Fact } from './table.ts'

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

/** Repaired numbers by kind of repair. */
export const tellRepairs = (repairs: Partial<Record<string, number>>): string =>
  Object.entries(repairs)
    .map(([kind, count]) => `${count} ${kind.replaceAll('_', ' ')}`)
    .join(', ')

/** `--map` in the API's form; an empty field skips the column. */
export const mappingOf = (map: Record<string, string>): string =>
  JSON.stringify(Object.fromEntries(Object.entries(map).map(([column, field]) => [column, field || null])))

/** Replaces the API's parameters in a text with this program's options. */
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
