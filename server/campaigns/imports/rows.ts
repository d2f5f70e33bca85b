/** The rows of an import, from its stored bytes. */
import type { Queryable } from '../../db/db.ts'
import { chunkBytes, readChunk, type ReadChunk } from './chunks.ts'
import { readCsv, readJsonLines } from './source.ts'
import type { SourceRow } from './source-row.ts'
import type { ImportRow } from './store.ts'
import { openWorkbook, readSheet } from './workbook.ts'

/** Rows a piece at a time, and how far the file has been read. */
export interface RowSource {
  pieces: AsyncIterable<SourceRow[]>
  bytesRead(): number
}

/** Opens the file of an import at its beginning. `retry` is around every statement. */
export function openRows(
  db: Queryable,
  accountId: string,
  job: ImportRow,
  retry: <T>(work: () => Promise<T>) => Promise<T>,
): RowSource {
  let last = -1
  const read: ReadChunk = (position) => retry(() => readChunk(db, accountId, job.id, position))
  const readRows: ReadChunk = async (position) => {
    const bytes = await read(position)
    if (bytes) last = position
    return bytes
  }
  return { pieces: piecesOf(read, readRows, job), bytesRead: () => Math.min(job.bytes, (last + 1) * chunkBytes) }
}

/** What `readRows` reads is progress. */
async function* piecesOf(
  read: ReadChunk,
  readRows: ReadChunk,
  { format, bytes, options }: ImportRow,
): AsyncGenerator<SourceRow[]> {
  const { table, encoding = 'utf-8' } = options
  if (format === 'xlsx') {
    // The directory stands at the end of the file, and so do texts that cells share.
    let isHeader = table?.recordsBefore !== 0
    for await (const rows of readSheet(await openWorkbook(read, bytes), readRows)) {
      yield isHeader ? rows.slice(1) : rows
      if (rows.length > 0) isHeader = false
    }
  } else if (table) yield* readCsv(readRows, encoding, table.delimiter ?? ',', table.recordsBefore)
  else yield* readJsonLines(readRows, encoding)
}
