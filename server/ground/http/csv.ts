/** Exports as CSV (RFC 4180), safe to open in a spreadsheet. */
import { stringify } from 'csv-stringify/sync'

/**
 * Null is an empty cell. Text that a spreadsheet would run as a formula gets an apostrophe (OWASP ASVS 1.2.10), which an import removes: at
 * the start of a cell, and of each line in it, for programs that read lines.
 */
export function writeCsv(rows: readonly (readonly (string | null)[])[], delimiter: string = ','): string {
  return stringify(
    rows.map((cells) => cells.map((cell) => (cell === null ? '' : cell.replace(formulas, "$1'$2")))),
    { delimiter },
  )
}

const formulas = /(^|[\r\n])([=+\-@\t\r＝＋－＠])/g
const escaped = /(^|[\r\n])'(?=[=+\-@\t\r＝＋－＠])/g

const formula = /^="((?:[^"]|"")*)"$/

/** The text of a cell, without the apostrophes of our exports, or the formula by which programs keep digits unchanged (`="0042"`). */
export function textOfCell(cell: string): string {
  const text = cell.trim()
  const inside = text.startsWith('="') ? formula.exec(text)?.[1] : undefined
  return inside === undefined ? text.replace(escaped, '$1') : inside.replaceAll('""', '"').trim()
}
