/**
 * CSV (RFC 4180 and its variants): rows from pieces of text, even if some are faulty. A line without quotes, the usual case, is split by
 * the engine; that is five times as fast as a parser that looks at every character.
 */
import { looksLikeNumber } from './number-column.ts'
import { isBlank, rowCharactersMax, tooLong, type RowFault, type SourceRow } from './source-row.ts'

/** The shape of a table's rows: distinguishes a line inside quotes from a row that an unclosed quote swallowed. */
export interface RowShape {
  columns: number
  /** The column with the number. */
  numberAt: number
}

const notClosed = { code: 'invalid_format', detail: 'must close every quote that it opens' } as const

interface Scanned {
  cells: string[]
  /** Offset after its line break. */
  end: number
  /** Line breaks in it, the last one included; CR LF is one. */
  lines: number
}

/**
 * Reads records with any of the three line breaks; skips empty lines, and those of blank cells. A faulty quote costs its first line only,
 * and reading continues after it: a quote that is never closed, or not within a row's length, or a cell over several lines that is closed
 * in the middle of a text, or contains whole rows. People write quotes that open nothing.
 */
export class CsvReader {
  readonly #delimiter: string
  #text = ''
  #at = 0
  #line: number
  #isSkipping = false
  // The next of each, from #at on; searched once, and infinite if there are no more.
  #feed = -1
  #return = -1
  #quote = -1
  readonly #shape: RowShape | null

  /** `line`: the text's first. */
  constructor(delimiter: string, shape: RowShape | null = null, line = 1) {
    this.#delimiter = delimiter
    this.#shape = shape
    this.#line = line
  }

  /** The next unread line; null if a row continues in the next piece. */
  get nextLine(): number | null {
    return this.#at >= this.#text.length && !this.#isSkipping ? this.#line : null
  }

  /** The records that a piece completes; with `isLast` all that are left. */
  read(piece: string, isLast: boolean): SourceRow[] {
    this.#text = this.#at === 0 && this.#text === '' ? piece : this.#text.slice(this.#at) + piece
    this.#at = 0
    this.#feed = this.#return = this.#quote = -1
    const rows: SourceRow[] = []
    while (this.#at < this.#text.length && this.#step(rows, isLast));
    return rows
  }

  /** Reads one record or empty line; false if it may continue in the next piece. */
  #step(rows: SourceRow[], isLast: boolean): boolean {
    const end = this.#findBreak()
    // A final CR may be half of a line break.
    const isOpen = end === this.#text.length || (end === this.#text.length - 1 && end === this.#return)
    if (this.#isSkipping) return this.#skip(end, isOpen && !isLast)
    if (isOpen && !isLast && this.#text.length - this.#at <= rowCharactersMax) return false
    if (end === this.#at) {
      this.#advance(end, 1)
      return true
    }
    if (end - this.#at > rowCharactersMax) {
      rows.push(this.#refuse(end, rowCharactersMax, tooLong))
      if (isOpen && !isLast) this.#isSkipping = true
      return this.#skip(end, isOpen && !isLast)
    }
    if (this.#findQuote() >= end) {
      const record = this.#text.slice(this.#at, end).split(this.#delimiter)
      if (!isBlank(record)) rows.push({ line: this.#line, record, size: end - this.#at })
      this.#advance(end, 1)
      return true
    }
    const scanned = this.#scan(isLast)
    if (scanned === 'open' && !isLast && this.#text.length - this.#at <= rowCharactersMax) return false
    if (typeof scanned === 'string') {
      rows.push(this.#refuse(end, end - this.#at, notClosed))
      this.#advance(end, 1)
      return true
    }
    // Two more for the line break.
    const size = scanned.end - this.#at
    if (size > rowCharactersMax + 2) rows.push(this.#refuse(end, size, tooLong))
    else if (!isBlank(scanned.cells)) rows.push({ line: this.#line, record: scanned.cells, size })
    this.#at = scanned.end
    this.#line += scanned.lines
    return true
  }

  /** Skips a line that is too long; false if it continues in the next piece. */
  #skip(end: number, isOpen: boolean): boolean {
    if (isOpen) {
      // A CR stays: the next piece shows whether it is one line break or two.
      this.#at = end
      return false
    }
    this.#isSkipping = false
    this.#advance(end, 1)
    return true
  }

  #advance(end: number, lines: number): void {
    this.#at = end + (this.#text.startsWith('\r\n', end) ? 2 : 1)
    this.#line += lines
  }

  /** A faulty line: its start, and its cells. */
  #refuse(end: number, size: number, fault: RowFault): SourceRow {
    const line = this.#text.slice(this.#at, Math.min(end, this.#at + rowCharactersMax))
    const record = line.slice(0, 200).replaceAll('\0', '\uFFFD')
    const cells = line.split(this.#delimiter)
    // Quotes around a number are dropped; those of a text with one missing are kept.
    const isNumber = (at: number): boolean => at === this.#shape?.numberAt
    return {
      line: this.#line,
      record,
      size,
      fault,
      cells: cells.map((cell, at) => (isNumber(at) ? cell.replace(/^"|"$/g, '') : unquote(cell))),
    }
  }

  /** The next line break, or the end of the text. */
  #findBreak(): number {
    if (this.#feed < this.#at) this.#feed = this.#find('\n')
    if (this.#return < this.#at) this.#return = this.#find('\r')
    return Math.min(this.#feed, this.#return, this.#text.length)
  }

  #findQuote(): number {
    if (this.#quote < this.#at) this.#quote = this.#find('"')
    return this.#quote
  }

  #find(what: string): number {
    const found = this.#text.indexOf(what, this.#at)
    return found === -1 ? Infinity : found
  }

  /** Reads a quoted record, from #at on. `broken`: no record begins so; `open`: it may continue after the text. */
  #scan(isLast: boolean): Scanned | 'open' | 'broken' {
    const text = this.#text
    const cells: string[] = []
    let at = this.#at
    let lines = 0
    for (;;) {
      let cell = ''
      const start = at
      if (text[at] === '"') {
        let from = at + 1
        for (;;) {
          const close = text.indexOf('"', from)
          if (close === -1) return 'open'
          cell += text.slice(from, close)
          at = close + 1
          if (text[at] !== '"') break
          cell += '"'
          from = at + 1
        }
        const breaks = breaksIn(cell)
        if (breaks > 0 && at < text.length && !this.#isEndOfCell(at)) return 'broken'
        if (breaks > 0 && this.#hasRows(start, at)) return 'broken'
        lines += breaks
      }
      const end = this.#endOfCell(at)
      // Quotes followed by words belong to the text, and the cell is unchanged.
      const isWhole = text[start] === '"' && text.slice(at, end).trim() !== ''
      cells.push(isWhole ? text.slice(start, end) : cell + text.slice(at, end))
      // A final quote may be the first of a pair.
      if (end === text.length) return isLast ? { cells, end, lines: lines + 1 } : 'open'
      if (text[end] === this.#delimiter) {
        at = end + 1
        continue
      }
      if (end === text.length - 1 && text[end] === '\r' && !isLast) return 'open'
      return { cells, end: end + (text.startsWith('\r\n', end) ? 2 : 1), lines: lines + 1 }
    }
  }

  /** Whether a line inside a quoted cell looks like a row, with a number in its column. */
  #hasRows(start: number, end: number): boolean {
    const shape = this.#shape
    if (!shape) return false
    const { columns, numberAt } = shape
    // The last of the lines continues after the quote.
    const more = /[\r\n]/.exec(this.#text.slice(end, end + rowCharactersMax))?.index ?? rowCharactersMax
    const [, ...lines] = this.#text.slice(start, end + more).split(/\r\n|\r|\n/)
    return lines.some((line) => {
      const cells = line.split(this.#delimiter)
      const cell = cells[numberAt] ?? ''
      return cells.length === columns && /^\s*["'=(]*\+?[\d(]/.test(cell) && looksLikeNumber(cell)
    })
  }

  #isEndOfCell(at: number): boolean {
    const char = this.#text[at]
    return char === this.#delimiter || char === '\n' || char === '\r'
  }

  #endOfCell(from: number): number {
    for (let at = from; at < this.#text.length; at++) if (this.#isEndOfCell(at)) return at
    return this.#text.length
  }
}

const breaksIn = (text: string): number => (/[\r\n]/.test(text) ? (text.match(/\r\n|\r|\n/g)?.length ?? 0) : 0)

const unquote = (cell: string): string =>
  /^"(?:[^"]|"")*"$/.test(cell) ? cell.slice(1, -1).replaceAll('""', '"') : cell
