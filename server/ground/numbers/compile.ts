/** Compiles libphonenumber's metadata to the table for reading numbers; run by `npm run numbers`, never by the service. */
import { createRequire } from 'node:module'
import metadata from 'libphonenumber-js/min/metadata'

/** The used columns of a country's row in the library's metadata, version 4. */
interface Entry {
  readonly 0: string
  /** Prefix of international calls, a pattern. */
  readonly 1: string
  /** Pattern of all numbers. */
  readonly 2: string
  readonly 3: readonly number[]
  /** Digit before a national number. */
  readonly 5?: string | 0
  /** The same as a pattern, if more than that digit may precede the number. */
  readonly 7?: string | 0
  readonly 8?: string | 0
  /** Leading digits that only this country's numbers have. */
  readonly 10?: string | 0
  readonly 11?: readonly (readonly [string] | 0)[] | 0
}

/** The library's types hide its tables. */
export const tables = metadata as unknown as {
  version: number
  country_calling_codes: Record<string, string[]>
  countries: Record<string, Entry>
  nonGeographic: Record<string, Entry>
}

export function renderPlans(): string {
  if (tables.version !== 4) throw new Error(`The metadata are of version ${tables.version}; this reads version 4`)
  const { version } = createRequire(import.meta.url)('libphonenumber-js/package.json') as { version: string }
  const codes = Object.entries(tables.country_calling_codes).map(([code, countries]) => ({ code, countries }))
  const rows = [
    // In the library's order: of countries that share a code, the main one first.
    ...codes.flatMap(({ code, countries }) => countries.map((country) => rowOf(code, country))),
    ...Object.keys(tables.nonGeographic).map((code) => rowOf(code, '')),
  ]
  return [
    `/** Numbering plans, one a line; written by \`npm run numbers\` from the metadata of libphonenumber-js ${version}. */`,
    '',
    '/**',
    ' * Columns: calling code, country, possible lengths as bits, pattern, patterns of types, leading digits, prefix of international calls,',
    ' * prefix of national ones, its replacement. Separated by a blank, empty where there is none.',
    ' */',
    `export const planRows = String.raw\`${rows.join('\n')}\``,
    '',
  ].join('\n')
}

function rowOf(code: string, country: string): string {
  const entry = country === '' ? tables.nonGeographic[code] : tables.countries[country]
  if (!entry) throw new Error(`The metadata name +${code} ${country} without describing it`)
  // An empty pattern means that the type shares another type's pattern.
  const types = (entry[11] || []).map((type) => (type ? type[0] : '')).filter((pattern) => pattern !== '')
  const lengths = entry[3].reduce((mask, length) => mask | (1 << length), 0)
  const columns = [
    entry[0],
    country,
    String(lengths),
    entry[2],
    types.join('|'),
    entry[10] || '',
    entry[1] || '',
    entry[7] || entry[5] || '',
    entry[8] || '',
  ]
  if (columns.some((column) => /[\s`]|\$\{/.test(column))) throw new Error(`The row of ${country} cannot be written`)
  return columns.join(' ')
}
