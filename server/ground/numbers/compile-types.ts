/** Compiles two facts that the plans lack from libphonenumber's large metadata: personal ranges, and premium ranges. */
import { createRequire } from 'node:module'
import { getExampleNumber, type CountryCode } from 'libphonenumber-js/core'
import metadata from 'libphonenumber-js/max/metadata'
import examples from 'libphonenumber-js/mobile/examples'

/** A country's row: calling code first, patterns by type at 11 (fixed, mobile, toll free, premium, …). */
interface Entry {
  readonly 0: string
  readonly 11?: readonly (readonly [string] | 0)[] | 0
}

const tables = metadata as unknown as {
  countries: Record<string, Entry>
  nonGeographic: Record<string, Entry>
}

export function renderTypes(): string {
  const { version } = createRequire(import.meta.url)('libphonenumber-js/package.json') as { version: string }
  const rows = [
    ...Object.entries(tables.countries).map(([country, entry]) => rowOf(country, entry)),
    ...Object.values(tables.nonGeographic).map((entry) => rowOf('', entry)),
  ]
  return [
    `/** Types of numbers, a country a line; written by \`npm run numbers\` from the metadata of libphonenumber-js ${version}. */`,
    '',
    '/**',
    ' * Columns: calling code, country, `bare` where people write national numbers without a prefix, pattern of the numbers that people have (mobile, and',
    ' * fixed ones of bare countries), pattern of premium numbers. Separated by a blank, empty where there is none.',
    ' */',
    `export const typeRows = String.raw\`${rows.filter((row) => row !== null).join('\n')}\``,
    '',
  ].join('\n')
}

function rowOf(country: string, entry: Entry): string | null {
  const [fixed, mobile, , premium] = entry[11] || []
  const isBare = country !== '' && isWrittenBare(country as CountryCode)
  const people = [mobile, isBare ? fixed : 0].map((type) => (type ? type[0] : '')).filter((pattern) => pattern !== '')
  const columns = [entry[0], country, isBare ? 'bare' : '', people.join('|'), premium ? premium[0] : '']
  if (columns.some((column) => /[\s`]|\$\{/.test(column))) throw new Error(`The row of ${country} cannot be written`)
  return country === '' && columns[4] === '' ? null : columns.join(' ')
}

/** Whether people dial a mobile number at home without a prefix: 202 555 0123, but 0171 3920052. */
function isWrittenBare(country: CountryCode): boolean {
  const example = getExampleNumber(country, examples, metadata)
  return example?.formatNational().replace(/\D/g, '') === example?.nationalNumber
}
