/** Compiles libphonenumber's metadata to the table that reading numbers needs; run by `npm run numbers`, never by the service. */
import { createRequire } from 'node:module'
import metadata from 'libphonenumber-js/min/metadata'

/** A country's row of the library's metadata, version 4; only what is used here is named. */
interface Entry {
  /** Calling code. */
  readonly 0: string
  /** Prefix dialled before a calling code, a pattern. */
  readonly 1: string
  /** Pattern of any number. */
  readonly 2: string
  /** Possible lengths. */
  readonly 3: readonly number[]
  /** Digit dialled before a national number. */
  readonly 5?: string | 0
  /** The same as a pattern, where more than that digit may stand there. */
  readonly 7?: string | 0
  /** What that pattern is replaced by. */
  readonly 8?: string | 0
  /** Leading digits of numbers that are surely this country's. */
  readonly 10?: string | 0
  /** Patterns by type. */
  readonly 11?: readonly (readonly [string] | 0)[] | 0
}

/** The metadata as it is: the library's types hide it. */
export const tables = metadata as unknown as {
  version: number
  country_calling_codes: Record<string, string[]>
  countries: Record<string, Entry>
  nonGeographic: Record<string, Entry>
}

/** The text of `plans.ts`. */
export function renderPlans(): string {
  if (tables.version !== 4) throw new Error(`The metadata are of version ${tables.version}; this reads version 4`)
  const { version } = createRequire(import.meta.url)('libphonenumber-js/package.json') as { version: string }
  const codes = Object.entries(tables.country_calling_codes).map(([code, countries]) => ({ code, countries }))
  const rows = [
    // The order in which the library looks: of countries that share a code the main one comes first.
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
  // An empty pattern stands for a type that shares the pattern of another.
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
