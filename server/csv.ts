/** Exports as CSV (RFC 4180), safe to open in a spreadsheet. */
import { stringify } from 'csv-stringify/sync'

/**
 * Lines of an export; null is an empty cell. What a spreadsheet would run as a formula has an apostrophe before it (OWASP ASVS 1.2.10),
 * which an import takes away again.
 */
export function writeCsv(rows: readonly (readonly (string | null)[])[], delimiter: string = ','): string {
  return stringify(
    rows.map((cells) => cells.map((cell) => cell ?? '')),
    { delimiter, escape_formulas: true },
  )
}

const formula = /^="((?:[^"]|"")*)"$/

/**
 * The text of a cell: without the apostrophe that stands in our files before what a spreadsheet would run (the signs of `escape_formulas`), or
 * without the formula by which programs have spreadsheets leave digits as they are (`="0042"`).
 */
export function textOfCell(cell: string): string {
  const text = cell.trim()
  const inside = text.startsWith('="') ? formula.exec(text)?.[1] : undefined
  return inside === undefined ? text.replace(/^'(?=[=+\-@\t\r＝＋－＠])/, '') : inside.replaceAll('""', '"').trim()
}
