/** The rows of an import, from its stored bytes. */
import type { Queryable } from '../../db/db.ts'
import { chunkBytes, type ReadChunk } from '../../tables/bytes.ts'
import { readChunk } from './chunks.ts'
import { readCsv, readJsonLines } from '../../tables/source.ts'
import type { SourceRow } from '../../tables/source-row.ts'
import type { ImportRow } from './store.ts'
import { openWorkbook, readSheet } from '../../tables/workbook.ts'

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
  const headerLine = table?.headerLine ?? 0
  if (format === 'xlsx') {
    // The directory is at the end of the file, and so are texts that cells share.
    for await (const rows of readSheet(await openWorkbook(read, bytes), readRows))
      yield (rows[0]?.line ?? Infinity) > headerLine ? rows : rows.filter(({ line }) => line > headerLine)
  } else if (table) {
    const shape = { columns: table.header.length, numberAt: table.targets.indexOf('phone_number') }
    yield* readCsv(readRows, encoding, table.delimiter ?? ',', headerLine, shape)
  } else yield* readJsonLines(readRows, encoding)
}
