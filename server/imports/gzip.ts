/** A body in pieces of one size. Gzip is decompressed, whatever type the body claims. */
import type { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { ApiError, invalid } from '../ground/base/errors.ts'
import { chunkBytes } from '../ground/tables/bytes.ts'
import { refuseFile } from '../ground/tables/layout.ts'
import { inflated, isOfZlib } from '../ground/tables/inflate.ts'

// A slower piece would keep the transaction, and with it vacuum, open for days: 256 MiB at 1 KiB/s.
const pieceTimeoutMs = 25_000
// Lists of people shrink to a tenth; a file that shrinks to less than this was made to fill a disk. DEFLATE goes up to 1032.
const ratioMax = 200
const ratioBytesMin = 1 << 20

/**
 * Reads only as far as requested. Yields at least one piece; only the last is shorter than `chunkBytes`. All pieces share one buffer, so each is
 * valid until the next. @throws ApiError
 */
export async function* piecesOf(
  body: Readable,
  isEncoded: boolean,
): AsyncGenerator<{ piece: Buffer; isLast: boolean }> {
  const piece = Buffer.allocUnsafe(chunkBytes)
  let filled = 0
  const refuse = (): void => {
    body.destroy(new ApiError('invalid_header', { status: 408, detail: 'The body arrived too slowly.' }))
  }
  let timer = setTimeout(refuse, pieceTimeoutMs)
  // Destroying a refused file would close the socket before the response is sent.
  const source = body.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>
  try {
    for await (const bytes of gunzipped(isEncoded ? gunzipped(source) : source)) {
      for (let from = 0; from < bytes.length;) {
        // One byte beyond a piece shows that it is not the last.
        if (filled === chunkBytes) {
          clearTimeout(timer)
          yield { piece, isLast: false }
          filled = 0
          timer = setTimeout(refuse, pieceTimeoutMs)
        }
        const copied = bytes.copy(piece, filled, from)
        filled += copied
        from += copied
      }
    }
  } finally {
    clearTimeout(timer)
  }
  yield { piece: piece.subarray(0, filled), isLast: true }
}

/** Passes bytes through, or decompresses them if they are gzip (RFC 1952). */
async function* gunzipped(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const iterator = source[Symbol.asyncIterator]()
  let head: Buffer = Buffer.alloc(0)
  while (head.length < 2) {
    const { value, done } = await iterator.next()
    if (done) break
    head = head.length === 0 ? value : Buffer.concat([head, value])
  }
  const all = behind(head, iterator)
  if (head[0] === 0x1f && head[1] === 0x8b) yield* gunzip(all)
  else yield* all
}

async function* behind(head: Buffer, iterator: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  try {
    yield head
    for (let next = await iterator.next(); !next.done; next = await iterator.next()) yield next.value
  } finally {
    await iterator.return?.()
  }
}

async function* gunzip(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let bytesIn = 0
  let bytesOut = 0
  async function* counted(): AsyncGenerator<Buffer> {
    for await (const bytes of source) {
      bytesIn += bytes.length
      yield bytes
    }
  }
  try {
    for await (const bytes of inflated(createGunzip(), counted())) {
      bytesOut += bytes.length
      if (bytesOut > ratioBytesMin && bytesOut > bytesIn * ratioMax)
        throw new ApiError('payload_too_large', {
          detail: `The body inflates to more than ${ratioMax} times its size.`,
        })
      yield bytes
    }
  } catch (error) {
    if (isOfZlib(error)) throw invalid(refuseFile('must be complete and undamaged gzip'))
    throw error
  }
}
