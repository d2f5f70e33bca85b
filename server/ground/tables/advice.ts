/** Advice for rows that an import refused, of contacts or of opt-outs. */
import type { FaultGroup } from './fault-groups.ts'

export interface AdvisedFile {
  /** Null if it is not a table. */
  table: { header: readonly string[]; targets: readonly (string | null)[]; otherNumbers: readonly number[] } | null
  /** The field of the number column. */
  numberField: string
  /** Fields of the columns for consent and opt-out. */
  consentFields: readonly string[]
  defaultCountry: string | null
  /** Likely countries of numbers without a country code. */
  likelyCountries: readonly string[]
  mapping: Readonly<Record<string, string | null>>
  /** Whether the fault is about a cell with more than a number. */
  isCut: (detail: string) => boolean
}

/** Advice for rows with the same fault; null if only the rows themselves can be corrected. Option names are in backticks. */
export function adviceFor({ code, column, detail }: FaultGroup, file: AdvisedFile): string | null {
  const { table, numberField, defaultCountry, likelyCountries, mapping } = file
  if (!table || column === null) return code === 'invalid_characters' ? inEncoding : null
  const target = table.targets[table.header.indexOf(column)]
  const map = (name: string, to: string | null): string => `\`mapping\` ${JSON.stringify({ ...mapping, [name]: to })}`
  if (target === numberField) {
    const [other] = table.otherNumbers.map((at) => table.header[at])
    if (code === 'scientific_notation') return 'Format the column as text in the spreadsheet, and save it again.'
    if (code === 'required')
      return other === undefined
        ? 'Correct the rows: each needs a number.'
        : `Put the numbers into ${column}, or take those of ${other}: ${map(other, numberField)}.`
    // The detail says what to do.
    if (code !== 'invalid_phone_number') return null
    if (file.isCut(detail)) return 'Use the `suggestion` of each row: it is the number of the cell without the rest.'
    const byMapping = 'name another column of numbers by `mapping`'
    return defaultCountry === null
      ? `Use the \`suggestion\` of a row that has one. If the numbers have no country code, send the file again with their \`default_country\`${exampleOf(likelyCountries)}; or ${byMapping}.`
      : `Use the \`suggestion\` of a row that has one. If the numbers are not of ${defaultCountry}, send the file again with another \`default_country\`, or ${byMapping}.`
  }
  if (typeof target === 'string' && file.consentFields.includes(target))
    return `Write yes or no, or say that the column is something else: ${map(column, `attributes.${column}`)}.`
  return `Correct the cells, or leave the column out: ${map(column, null)}.`
}

const inEncoding = 'Save the file as UTF-8, or name its `encoding`.'

/** With several countries, an example would name one of them, and people would follow it. */
const exampleOf = ([first, ...others]: readonly string[]): string =>
  first === undefined || others.length > 0 ? '' : `, such as ${first}`

/** Something in a file that an import does not use. */
export interface TableWarning {
  code: 'consent_unread' | 'country_missing' | 'more_than_a_number'
  column: string | null
  detail: string
}

/** The warning for a column of national numbers without a country; `countries` are the likely ones. */
export function warnOfCountry(
  column: string,
  { cells, doubtful }: { cells: number; doubtful: number },
  countries: readonly string[],
): TableWarning {
  return {
    code: 'country_missing',
    column,
    detail:
      `${doubtful} of ${cells} cells have neither a plus sign nor a country code that fits. They look like national numbers of ` +
      `${countries.join(' or ')}, and are refused: with their first digits as a country code they would reach other people. ` +
      `Send the file again with \`default_country\`${exampleOf(countries)}.`,
  }
}
