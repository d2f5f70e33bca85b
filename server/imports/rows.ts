/** The rows of an import, from its stored bytes. */
import type { Queryable } from '../ground/db/db.ts'
import { chunkBytes, type ReadChunk } from '../ground/tables/bytes.ts'
import { readChunk } from './chunks.ts'
import { readCsv, readJsonLines, type Reading } from '../ground/tables/source.ts'
import type { SourceRow } from '../ground/tables/source-row.ts'
import type { ImportRow, Mark } from './store.ts'
import { openWorkbook, readSheet } from '../ground/tables/workbook.ts'

/** Pieces of rows, and how far the file is read. */
export interface RowSource {
  pieces: AsyncIterable<SourceRow[]>
  bytesRead(): number
  /** The last boundary of rows behind which no row was taken; null if only the beginning is known. */
  mark(): Mark | null
}

/** `retry` wraps every statement. */
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
  let mark = job.resume?.mark ?? null
  let rows = mark?.rows ?? 0
  async function* counted(): AsyncGenerator<SourceRow[]> {
    const onPlace: Reading['onPlace'] = (place) => void (mark = { ...place, rows })
    for await (const piece of piecesOf(read, readRows, job, { from: mark ?? undefined, onPlace })) {
      rows += piece.length
      yield piece
    }
  }
  return { pieces: counted(), bytesRead: () => Math.min(job.bytes, (last + 1) * chunkBytes), mark: () => mark }
}

/** What `readRows` reads is progress. */
async function* piecesOf(
  read: ReadChunk,
  readRows: ReadChunk,
  { format, bytes, options }: ImportRow,
  reading: Reading,
): AsyncGenerator<SourceRow[]> {
  const { table, encoding = 'utf-8' } = options
  const headerLine = table?.headerLine ?? 0
  if (format === 'xlsx') {
    // The directory and the shared texts are at the end of a workbook.
    for await (const rows of readSheet(await openWorkbook(read, bytes), readRows))
      yield (rows[0]?.line ?? Infinity) > headerLine ? rows : rows.filter(({ line }) => line > headerLine)
  } else if (table) {
    const shape = { columns: table.header.length, numberAt: table.targets.indexOf('phone_number') }
    yield* readCsv(readRows, encoding, table.delimiter ?? ',', headerLine, shape, reading)
  } else yield* readJsonLines(readRows, encoding, reading)
}
