/** Workbooks (.xlsx, ECMA-376): the rows of the first sheet that is not hidden, read as a stream in bounded memory. */
import type { ReadChunk } from './bytes.ts'
import { cellsOf, readDateStyles, styleTags, type SheetContext } from './sheet.ts'
import { isBlank, rowCharactersMax, tooLong, type SourceRow } from './source-row.ts'
import { attributeOf, elementsIn, tagsOf, textIn, type NamedTag } from './xml.ts'
import { readDirectory, readEntry, ZipError, type ZipEntry } from './zip.ts'

/** A workbook of which one sheet is to be read. */
export interface Workbook {
  read: ReadChunk
  entries: Map<string, ZipEntry>
  sheet: ZipEntry
  /** Bytes a part may inflate to. */
  inflatedMax: number
  /** Name of the sheet, for people. */
  sheetName: string
  dateStyles: ReadonlySet<number>
  isFrom1904: boolean
}

// XML around a row's texts: what stands for a cell of one digit is some 40 characters.
const rowXmlMax = rowCharactersMax * 16
/** Characters of all shared texts together: what a million names and addresses have. They are kept in memory, UTF-8 and in one piece. */
const textsBytesMax = 64 * 1024 * 1024
// Workbook, relations and styles are small files; what is longer is no workbook.
const partCharactersMax = 16 * 1024 * 1024
// Sheets, and what goes with all of them.
const partsMax = 10_000

/** Rows of a sheet (ECMA-376 has no bound, Excel this). What a row says of itself beyond it, or backwards, is no place. */
const rowsMax = 1_048_576
/** A million rows of ten cells are some 400 MB of XML. */
const sheetBytesMax = 2 ** 30
// Cells may share texts: a small file can stand for more than any disk has.
const cellCharactersMax = 2 ** 30

/**
 * Opens a workbook of `size` bytes, of which no part may inflate to more than `inflatedMax`. @throws ZipError with what it is or has not;
 * its message continues "The file".
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
  if (tag === undefined) throw new ZipError('is an archive without a sheet; send a workbook (.xlsx) or CSV')
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

/**
 * Rows of the sheet that have anything in them, cells by column; the header is one of them. `readRows` reads the sheet itself, and nothing of
 * what it refers to. @throws ZipError
 */
export async function* readSheet(workbook: Workbook, readRows: ReadChunk = workbook.read): AsyncGenerator<SourceRow[]> {
  const texts = new SharedTexts(workbook)
  const context: SheetContext = { ...workbook, textOf: (index) => texts.at(index) }
  let line = 0
  let characters = 0
  for await (const found of elementsIn(readEntry(readRows, workbook.sheet, workbook.inflatedMax), 'row', rowXmlMax)) {
    const rows: SourceRow[] = []
    // Names in a sheet mostly come in the order of the texts, so that a header needs only the first of them.
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

/** A filter hides rows so, and a person; so does a height of nothing. */
const isHidden = (tag: string): boolean =>
  (tag.includes('hidden') && ['1', 'true'].includes(attributeOf(tag, 'hidden') ?? '')) ||
  (tag.includes('ht="0') && Number(attributeOf(tag, 'ht')) === 0)

/** The highest index of a shared text that a row names; -1 where it names none. No cell has more attributes than that behind its type. */
function lastTextOf(xml: string): number {
  let last = -1
  for (const [, index] of xml.matchAll(/\bt\s*=\s*["']s["'][^>]{0,250}>\s*<(?:\w+:)?v(?:\s[^>]{0,250})?>\s*(\d+)\s*</g))
    last = Math.max(last, Number(index))
  return last
}

/** The texts that cells share, read as far as they are needed: bytes in one piece with the end of each, a quarter of an array of strings. */
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
    // A cell longer than any field is an error whatever is in it.
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
