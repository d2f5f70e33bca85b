/** Cells of a sheet as displayed text, but numbers with all their digits. */
import { rowCharactersMax } from './source-row.ts'
import { attributeOf, elementsOf, findTag, readEntities, textIn, type NamedTag } from './xml.ts'

export interface SheetContext {
  textOf(index: number): string
  dateStyles: ReadonlySet<number>
  isFrom1904: boolean
}

// A sheet has at most this many columns (XFD).
const columnsMax = 16_384

/**
 * The cells of a row by column, including empty ones, and formulas without a result; null if they exceed a row's limit. Cells may share one
 * long text, so a row of a few kilobytes can stand for a gigabyte.
 */
export function cellsOf(xml: string, context: SheetContext): { cells: string[]; unsolved: number[] } | null {
  const cells: string[] = []
  const unsolved: number[] = []
  let characters = 0
  for (const { attributes: tag, content } of elementsOf(xml, 'c')) {
    const at = columnOf(attributeOf(tag, 'r')) ?? cells.length
    if (at >= columnsMax) continue
    while (cells.length < at) cells.push('')
    const cell = valueOf(tag, content, context)
    characters += cell.length
    if (characters > rowCharactersMax) return null
    cells[at] = cell
    if (cell === '' && isUnsolved(content)) unsolved.push(at)
  }
  return { cells, unsolved }
}

/** Programs that write workbooks leave results to the spreadsheet. An empty text is a result. */
const isUnsolved = (content: string): boolean =>
  content.includes('f') && findTag(content, 'f') !== null && valueIn(content) === null

/** `B7` is 1; null if a cell has no reference and follows the one before it. */
function columnOf(reference: string | null): number | null {
  const letters = /^[A-Z]{1,3}(?=\d)/.exec(reference ?? '')?.[0]
  if (letters === undefined) return null
  let column = 0
  for (const letter of letters) column = column * 26 + letter.charCodeAt(0) - 64
  return column - 1
}

function valueOf(tag: string, content: string, context: SheetContext): string {
  const type = attributeOf(tag, 't') ?? 'n'
  if (type === 'inlineStr') return textIn(content)
  const value = valueIn(content)
  if (value === null || value.trim() === '') return ''
  if (type === 's') return context.textOf(Number(value))
  if (type === 'b') return value === '1' ? 'TRUE' : 'FALSE'
  if (type !== 'n') return readEntities(value)
  const number = Number(value)
  if (!Number.isFinite(number)) return ''
  if (context.dateStyles.has(Number(attributeOf(tag, 's') ?? 0))) return dateOf(number, context.isFrom1904)
  // 4.47911123456E11 in the file is 447911123456: the file has all digits, only a CSV has the displayed ones. Excel keeps 15.
  return String(Number(number.toPrecision(15)))
}

/** The value of a cell; null if it has none. */
function valueIn(content: string): string | null {
  const tag = findTag(content, 'v')
  const end = tag && !tag.isEmpty ? content.indexOf('<', tag.end) : -1
  return tag && end >= 0 ? content.slice(tag.end, end) : null
}

/** From days since the beginning of 1900 (with a 29 February that did not exist) or 1904, as ISO 8601. */
function dateOf(serial: number, isFrom1904: boolean): string {
  const days = isFrom1904 ? serial + 1462 : serial < 60 ? serial + 1 : serial
  const time = new Date(Math.round((days - 25_569) * 86_400) * 1000)
  if (Number.isNaN(time.getTime())) return String(serial)
  const [date = '', clock = ''] = time.toISOString().slice(0, 19).split('T')
  if (serial < 1) return clock
  return clock === '00:00:00' ? date : `${date}T${clock}`
}

// Built-in formats of every workbook (ECMA-376 part 1, 18.8.30): dates and times of day.
const isBuiltInDate = (id: number): boolean =>
  (id >= 14 && id <= 22) || (id >= 27 && id <= 36) || (id >= 45 && id <= 58)

// Excel allows 255.
const formatCharactersMax = 1000
// The limit of either (Excel: 65,490 styles).
const stylesMax = 65_536

/** The tags that `readDateStyles` needs. */
export const styleTags = ['numFmt', 'cellXfs', 'xf'] as const

/** Styles that show numbers as dates, by index. */
export async function readDateStyles(styles: AsyncIterable<NamedTag[]>): Promise<Set<number>> {
  const dateFormats = new Set<number>()
  const formatOf: number[] = []
  let isOfCells = false
  for await (const tags of styles)
    for (const { name, attributes } of tags) {
      if (name.endsWith('cellXfs')) isOfCells = name === 'cellXfs'
      else if (
        name === 'numFmt' &&
        dateFormats.size < stylesMax &&
        isDateFormat(attributeOf(attributes, 'formatCode') ?? '')
      )
        dateFormats.add(Number(attributeOf(attributes, 'numFmtId')))
      else if (name === 'xf' && isOfCells && formatOf.length < stylesMax)
        formatOf.push(Number(attributeOf(attributes, 'numFmtId') ?? 0))
    }
  return new Set(formatOf.flatMap((id, at) => (isBuiltInDate(id) || dateFormats.has(id) ? [at] : [])))
}

/** Texts, colours and conditions may contain date letters; an unclosed one extends to the end. */
function isDateFormat(code: string): boolean {
  const shown = code.slice(0, formatCharactersMax).replace(/"[^"]*(?:"|$)|\\.|\[[^\]]*(?:\]|$)/g, '')
  return /[ymdhs]/i.test(shown) && !/general/i.test(shown)
}
