/** Workbooks (.xlsx, ECMA-376): the rows of the first sheet that is not hidden, read as a stream in bounded memory. */
import type { ReadChunk } from './bytes.ts'
import { cellsOf, readDateStyles, styleTags, type SheetContext } from './sheet.ts'
import { isBlank, rowCharactersMax, tooLong, type SourceRow } from './source-row.ts'
import { attributeOf, elementsIn, tagsOf, textIn, type NamedTag } from './xml.ts'
import { readDirectory, readEntry, ZipError, type ZipEntry } from './zip.ts'

/** A workbook, and the sheet to read. */
export interface Workbook {
  read: ReadChunk
  entries: Map<string, ZipEntry>
  sheet: ZipEntry
  /** The limit to which a part may inflate, in bytes. */
  inflatedMax: number
  /** Name of the sheet, for people. */
  sheetName: string
  dateStyles: ReadonlySet<number>
  isFrom1904: boolean
}

// XML around a row's texts: a cell of one digit takes some 40 characters.
const rowXmlMax = rowCharactersMax * 16
/** Characters of all shared texts: enough for a million names and addresses. They are kept in memory, in one piece of UTF-8. */
const textsBytesMax = 64 * 1024 * 1024
// Workbook, relations and styles are small files; a longer one is not a workbook.
const partCharactersMax = 16 * 1024 * 1024
// Sheets and related parts.
const partsMax = 10_000

/** Rows of a sheet (Excel's limit; ECMA-376 has none). Higher and descending row numbers are ignored. */
const rowsMax = 1_048_576
/** A million rows of ten cells are some 400 MB of XML. */
const sheetBytesMax = 2 ** 30
// Cells may share texts, so a small file can stand for more than any disk holds.
const cellCharactersMax = 2 ** 30

/** The programs' own archives by a file that each of them has. */
const archives: readonly [RegExp, string][] = [
  [/^xl\/workbook\.bin$/, 'a binary workbook (.xlsb); save it as .xlsx'],
  [/^content\.xml$/, 'an OpenDocument file (.ods); save it as .xlsx or CSV'],
  [/\.iwa$|^index\.zip$/, 'a file of Numbers; export it as .xlsx or CSV'],
  [/^word\/document\.xml$/, 'a Word document; copy its table into a workbook (.xlsx)'],
  [/^ppt\//, 'a presentation; send a workbook (.xlsx) or CSV'],
  [/\.(?:csv|xlsx?|txt|tsv|json|ndjson)$/i, 'an archive; unpack it and send the file in it'],
]

function tellArchive(names: readonly string[]): string {
  const found = archives.find(([pattern]) => names.some((name) => pattern.test(name)))
  return `is ${found?.[1] ?? 'an archive without a sheet; send a workbook (.xlsx) or CSV'}`
}

/**
 * Opens a workbook of `size` bytes; no part may inflate to more than `inflatedMax`. @throws ZipError with the fault, in words that continue "The
 * file".
 */
export async function openWorkbook(read: ReadChunk, size: number, inflatedMax = sheetBytesMax): Promise<Workbook> {
  const entries = await readDirectory(read, size)
  async function* piecesOf(name: string): AsyncGenerator<string> {
    const entry = entries.get(name)
    let characters = 0
    if (entry)
      for await (const piece of readEntry(read, entry, inflatedMax)) {
        characters += piece.length
        if (characters > partCharactersMax) throw new ZipError(`has a ${name} that cannot be read`)
        yield piece
      }
  }
  const part = (name: string, tags: readonly string[]): AsyncGenerator<NamedTag[]> => tagsOf(piecesOf(name), tags)
  const relations = new Map<string | null, string>()
  for await (const tags of part('xl/_rels/workbook.xml.rels', ['Relationship']))
    for (const { name, attributes } of tags)
      if (name === 'Relationship' && relations.size < partsMax) relations.set(attributeOf(attributes, 'Id'), attributes)
  const partOf = (sheet: string): string => relations.get(attributeOf(sheet, 'id')) ?? ''
  // A sheet may be a chart.
  const isTable = (sheet: string): boolean =>
    (attributeOf(partOf(sheet), 'Type') ?? '/worksheet').endsWith('/worksheet')
  let tag: string | undefined
  let view: string | undefined
  for await (const tags of part('xl/workbook.xml', ['sheet', 'workbookPr']))
    for (const { name, attributes } of tags) {
      if (name === 'workbookPr') view ??= attributes
      else if (name === 'sheet' && tag === undefined)
        if ((attributeOf(attributes, 'state') ?? 'visible') === 'visible' && isTable(attributes)) tag = attributes
    }
  if (tag === undefined) throw new ZipError(tellArchive([...entries.keys()]))
  const target = attributeOf(partOf(tag), 'Target') ?? 'worksheets/sheet1.xml'
  const path = target.startsWith('/') ? target.slice(1) : `xl/${target.replace(/^\.\//, '')}`
  const sheet = entries.get(path.toLowerCase())
  if (!sheet) throw new ZipError('is a workbook whose first sheet is missing')
  return {
    read,
    entries,
    sheet,
    inflatedMax,
    sheetName: (attributeOf(tag, 'name') ?? '').toWellFormed().replaceAll('\0', '\uFFFD'),
    dateStyles: await readDateStyles(part('xl/styles.xml', styleTags)),
    isFrom1904: ['1', 'true'].includes(attributeOf(view ?? '', 'date1904') ?? ''),
  }
}

/** The rows of the sheet that are not empty, cells by column, including the header. `readRows` reads only the sheet itself. @throws ZipError */
export async function* readSheet(workbook: Workbook, readRows: ReadChunk = workbook.read): AsyncGenerator<SourceRow[]> {
  const texts = new SharedTexts(workbook)
  const context: SheetContext = { ...workbook, textOf: (index) => texts.at(index) }
  let line = 0
  let characters = 0
  for await (const found of elementsIn(readEntry(readRows, workbook.sheet, workbook.inflatedMax), 'row', rowXmlMax)) {
    const rows: SourceRow[] = []
    // Names mostly occur in the order of the shared texts, so a header needs only the first of them.
    await texts.readTo(found.reduce((last, row) => Math.max(last, row ? lastTextOf(row.content) : -1), -1))
    for (const row of found) {
      const said = Number(row && attributeOf(row.tag, 'r'))
      line = Number.isInteger(said) && said > line && said <= rowsMax ? said : line + 1
      const read = row && cellsOf(row.content, context)
      if (!read) {
        rows.push({ line, record: [], size: rowXmlMax, fault: tooLong })
        continue
      }
      const { cells: record, unsolved } = read
      const size = record.reduce((sum, cell) => sum + cell.length, 0)
      characters += size
      if (characters > cellCharactersMax)
        throw new ZipError('has more than 1 GiB of text; save it as CSV', { isTooLarge: true })
      if (isBlank(record) && unsolved.length === 0) continue
      rows.push({
        line,
        record,
        size,
        ...(unsolved.length > 0 && { unsolved }),
        ...(row && isHidden(row.tag) && { isHidden: true }),
      })
    }
    yield rows
  }
}

/** A filter, a person, or a height of zero hides rows. */
const isHidden = (tag: string): boolean =>
  (tag.includes('hidden') && ['1', 'true'].includes(attributeOf(tag, 'hidden') ?? '')) ||
  (tag.includes('ht="0') && Number(attributeOf(tag, 'ht')) === 0)

/** The highest index of a shared text in a row; -1 if there is none. After its type, a cell has no more attributes than this. */
function lastTextOf(xml: string): number {
  let last = -1
  for (const [, index] of xml.matchAll(/\bt\s*=\s*["']s["'][^>]{0,250}>\s*<(?:\w+:)?v(?:\s[^>]{0,250})?>\s*(\d+)\s*</g))
    last = Math.max(last, Number(index))
  return last
}

/** The shared texts, read as far as needed: bytes in one piece with the end of each take a quarter of an array of strings. */
class SharedTexts {
  readonly #elements: AsyncGenerator<({ tag: string; content: string } | null)[]> | null
  #bytes = Buffer.alloc(65_536)
  #ends = new Uint32Array(1024)
  #count = 0

  constructor({ read, entries, inflatedMax }: Workbook) {
    const entry = entries.get('xl/sharedstrings.xml')
    this.#elements = entry ? elementsIn(readEntry(read, entry, inflatedMax), 'si', rowXmlMax) : null
  }

  async readTo(index: number): Promise<void> {
    while (this.#elements && index >= this.#count) {
      const { value, done } = await this.#elements.next()
      if (done) return
      for (const element of value) this.#add(element ? textIn(element.content) : '')
    }
  }

  at(index: number): string {
    if (!Number.isInteger(index) || index < 0 || index >= this.#count) return ''
    return this.#bytes.toString('utf8', index === 0 ? 0 : this.#ends[index - 1], this.#ends[index])
  }

  #add(text: string): void {
    const start = this.#ends[this.#count - 1] ?? 0
    // A cell longer than any field is an error, whatever it contains.
    const kept = text.slice(0, rowCharactersMax)
    const end = start + Buffer.byteLength(kept)
    if (end > textsBytesMax)
      throw new ZipError('has more than 64 MiB of different texts; save it as CSV', { isTooLarge: true })
    while (end > this.#bytes.length) this.#bytes = Buffer.concat([this.#bytes, Buffer.alloc(this.#bytes.length)])
    if (this.#count === this.#ends.length) {
      const larger = new Uint32Array(this.#ends.length * 2)
      larger.set(this.#ends)
      this.#ends = larger
    }
    this.#bytes.write(kept, start)
    this.#ends[this.#count++] = end
  }
}
