/** From a request to an import on disk: the bytes in pieces, the row and the job, in one transaction that is committed before the 202. */
import type { Readable } from 'node:stream'
import type { Tx } from '../../db/db.ts'
import { ApiError, invalid } from '../../errors.ts'
import { newId } from '../../ids.ts'
import { readLayout, refuseBytes } from './layout.ts'
import {
  chunkBytes,
  completeUpload,
  insertChunk,
  insertImport,
  type CsvLayout,
  type Format,
  type ImportOptions,
  type ImportRow,
} from './store.ts'

/** Largest upload. */
export const uploadBytesMax = 256 * 1024 * 1024

// A piece that takes longer would keep the transaction, and what vacuum must wait for, open for days: 256 MiB at 1 KiB/s.
const pieceTimeoutMs = 25_000

/** Stores a CSV or NDJSON file as it comes, holding one piece of it in memory. @throws ApiError where its first bytes are no such file. */
export async function storeUpload(
  tx: Tx,
  accountId: string,
  campaignId: string,
  format: Format,
  options: Omit<ImportOptions, 'csv'>,
  body: Readable,
): Promise<ImportRow> {
  const id = newId()
  await insertImport(tx, accountId, id, campaignId, format)
  let bytes = 0
  let position = 0
  let csv: CsvLayout | undefined
  for await (const { piece, isLast } of piecesOf(body)) {
    if (position === 0) csv = inspect(format, piece, isLast)
    bytes += piece.length
    if (bytes > uploadBytesMax)
      throw new ApiError('payload_too_large', { detail: `A file may have at most ${uploadBytesMax} bytes; split it.` })
    await insertChunk(tx, accountId, id, position++, piece)
  }
  return completeUpload(tx, accountId, id, { options: { ...options, ...(csv && { csv }) }, bytes, total: null })
}

/** Stores the rows of a JSON body, one a line. */
export async function storeRows(
  tx: Tx,
  accountId: string,
  campaignId: string,
  options: ImportOptions,
  rows: unknown[],
): Promise<ImportRow> {
  const id = newId()
  await insertImport(tx, accountId, id, campaignId, 'json')
  // The parser limits the body, so that it may stand in memory once more.
  const text = Buffer.from(rows.map((row) => JSON.stringify(row)).join('\n'))
  for (let position = 0; position * chunkBytes < text.length; position++)
    await insertChunk(tx, accountId, id, position, text.subarray(position * chunkBytes, (position + 1) * chunkBytes))
  return completeUpload(tx, accountId, id, { options, bytes: text.length, total: rows.length })
}

/** What can be said from the first piece is said now, and not by a failed import later. */
function inspect(format: Format, piece: Buffer, isWhole: boolean): CsvLayout | undefined {
  const refusal = refuseBytes(piece)
  if (refusal) throw invalid([{ pointer: '#', code: 'invalid_format', detail: `The file ${refusal}.` }])
  if (format !== 'csv') {
    if (isWhole && piece.toString().trim() === '')
      throw invalid([{ pointer: '#', code: 'invalid_format', detail: 'The file must not be empty.' }])
    return undefined
  }
  const layout = readLayout(piece, isWhole)
  if (Array.isArray(layout)) throw invalid(layout)
  return layout
}

/** A stream in pieces of `chunkBytes`, at least one; only the last may be shorter. Reads no further than what is asked for. */
async function* piecesOf(body: Readable): AsyncGenerator<{ piece: Buffer; isLast: boolean }> {
  let held: Buffer[] = []
  let length = 0
  const refuse = (): void => {
    body.destroy(new ApiError('invalid_header', { status: 408, detail: 'The body came too slowly.' }))
  }
  let timer = setTimeout(refuse, pieceTimeoutMs)
  try {
    // A file that is refused is left open: destroying it would take the socket, and with it the answer, away.
    for await (const bytes of body.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      held.push(bytes)
      length += bytes.length
      // One byte more than a piece tells that it is not the last.
      while (length > chunkBytes) {
        clearTimeout(timer)
        const all = Buffer.concat(held, length)
        yield { piece: all.subarray(0, chunkBytes), isLast: false }
        held = [all.subarray(chunkBytes)]
        length -= chunkBytes
        timer = setTimeout(refuse, pieceTimeoutMs)
      }
    }
  } finally {
    clearTimeout(timer)
  }
  yield { piece: Buffer.concat(held, length), isLast: true }
}
