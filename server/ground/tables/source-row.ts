/** A row of a file of any format. */

/** One row of a file as it came. */
export interface SourceRow {
  /** Line in the file where it begins, from 1; of a JSON list the position in it, of a workbook its row. */
  line: number
  /** Cells, or what a line of JSON holds; of a row that cannot be read its first characters. */
  record: unknown
  /** Characters it takes in the file. */
  size: number
  /** Why it cannot be read. */
  fault?: RowFault
  /** The cells of a faulty line of CSV as far as they can be read: an opt-out at its beginning must not be lost. */
  cells?: string[]
  /** Of a workbook: columns of the formulas whose results are not in the file. */
  unsolved?: number[]
  /** Of a workbook: a filter or a person hides it. */
  isHidden?: boolean
}

/** Why a row cannot be read. */
export interface RowFault {
  code: 'invalid_format' | 'too_long' | 'invalid_characters'
  detail: string
  /** The detail without what is only so in this row. */
  general?: string
}

/** Whether a row says nothing: spreadsheets keep rows where something stood once, and save them as delimiters alone. */
export const isBlank = (cells: readonly string[]): boolean => cells.every((cell) => cell.trim() === '')

/** Longest row of any format: twice the fields of a contact at their largest. */
export const rowCharactersMax = 65_536

export const tooLong: RowFault = { code: 'too_long', detail: `must be at most ${rowCharactersMax} characters long` }
