/** Reads enough rows of a workbook to find its layout. */
import type { ReadChunk } from './bytes.ts'
import { sampleRowsMax } from './layout.ts'
import type { SourceRow } from './source-row.ts'
import { openWorkbook, readSheet } from './workbook.ts'
import { ZipError } from './zip.ts'

// The limit for inflating: rows and their texts are at the beginning, and a request is waiting.
const inflatedMax = 64 * 1024 * 1024
// Pieces of 64 KiB of a sheet without a filled row: column widths take one or two.
const emptyPiecesMax = 128

/** Also returns the sheet's name, and whether there are no more rows. Ignores faults after the second row. @throws ZipError */
export async function readFirstRows(
  read: ReadChunk,
  size: number,
): Promise<{ rows: SourceRow[]; isWhole: boolean; sheet: string }> {
  const workbook = await openWorkbook(read, size, inflatedMax)
  const rows: SourceRow[] = []
  let emptyPieces = 0
  let isWhole = true
  try {
    for await (const found of readSheet(workbook)) {
      rows.push(...found)
      isWhole = rows.length < sampleRowsMax && (found.length > 0 || ++emptyPieces <= emptyPiecesMax)
      if (!isWhole) break
    }
  } catch (error) {
    if (!(error instanceof ZipError) || rows.length < 2) throw error
    isWhole = false
  }
  return { rows: rows.slice(0, sampleRowsMax), isWhole, sheet: workbook.sheetName }
}
