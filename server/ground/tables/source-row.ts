/** A row of a file of any format. */
export interface SourceRow {
  /** Its first line in the file, from 1; in a JSON list the position, in a workbook the row. */
  line: number
  /** Cells, or the value of a JSON line; for an unreadable row its first characters. */
  record: unknown
  /** In characters of the file. */
  size: number
  /** Why it cannot be read. */
  fault?: RowFault
  /** The readable cells of a faulty CSV line: an opt-out at its start must not be lost. */
  cells?: string[]
  /** In a workbook: columns of formulas without a result. */
  unsolved?: number[]
  /** In a workbook: hidden by a filter or a person. */
  isHidden?: boolean
}

export interface RowFault {
  code: 'invalid_format' | 'too_long' | 'invalid_characters'
  detail: string
  /** The detail without this row's specifics. */
  general?: string
}

/** Whether a row is empty: spreadsheets keep cleared rows, and save them as delimiters alone. */
export const isBlank = (cells: readonly string[]): boolean => cells.every((cell) => cell.trim() === '')

/** Longest row of any format: twice the fields of a contact at their largest. */
export const rowCharactersMax = 65_536

export const tooLong: RowFault = { code: 'too_long', detail: `must be at most ${rowCharactersMax} characters long` }
