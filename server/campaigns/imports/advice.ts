/** What would make rows pass that an import did not take. */
import type { FaultGroup, ImportRow } from './store.ts'

/** Advice for rows with the same fault; null where only the rows themselves can be corrected. */
export function adviceFor({ code, column }: FaultGroup, { options }: Pick<ImportRow, 'options'>): string | null {
  const { table, defaultCountry, mapping } = options
  if (!table || column === null) return code === 'invalid_characters' ? inEncoding : null
  const target = table.targets[table.header.indexOf(column)]
  const map = (to: string | null): string => JSON.stringify({ ...mapping, [column]: to })
  if (target === 'phone_number') {
    const [other] = table.otherNumbers.map((at) => table.header[at])
    if (code === 'scientific_notation') return 'Format the column as text in the spreadsheet, and save it again.'
    if (code === 'required')
      return other === undefined
        ? 'Correct the rows: each needs a number.'
        : `Put the numbers into ${column}, or take those of ${other}: mapping ${JSON.stringify({ ...mapping, [other]: target })}.`
    // The detail says what to do.
    if (code !== 'invalid_phone_number') return null
    const byMapping = 'name another column of numbers by `mapping`'
    return defaultCountry === null
      ? `Use the \`suggestion\` of a row that has one. If the numbers have no country code, send the file again with their \`default_country\`, such as US; or ${byMapping}.`
      : `Use the \`suggestion\` of a row that has one. If the numbers are not of ${defaultCountry}, send the file again with another \`default_country\`, or ${byMapping}.`
  }
  if (target === 'opted_out' || target === 'opted_in' || target === 'consent')
    return `Write yes or no, or say that the column is something else: mapping ${map(`attributes.${column}`)}.`
  return `Correct the cells, or leave the column out: mapping ${map(null)}.`
}

const inEncoding = 'Save the file as UTF-8, or name its `encoding`.'
