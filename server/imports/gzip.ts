/** A body in pieces of one size, decompressed where it is gzip, whatever it claims to be. */
import type { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { ApiError, invalid } from '../ground/base/errors.ts'
import { chunkBytes } from '../ground/tables/bytes.ts'
import { refuseFile } from '../ground/tables/layout.ts'
import { inflated, isOfZlib } from '../ground/tables/inflate.ts'

// A piece that takes longer would keep the transaction, and what vacuum must wait for, open for days: 256 MiB at 1 KiB/s.
const pieceTimeoutMs = 25_000
// Lists of people shrink to a tenth; what shrinks to less than this was made to fill a disk. DEFLATE goes up to 1032.
const ratioMax = 200
const ratioBytesMin = 1 << 20

/**
 * Reads no further than what is asked for; at least one piece, and only the last is shorter than `chunkBytes`. A piece is valid until the
 * next is asked for: all of them are written into the same memory. @throws ApiError
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
  // A file that is refused is left open: destroying it would take the socket, and with it the answer, away.
  const source = body.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>
  try {
    for await (const bytes of gunzipped(isEncoded ? gunzipped(source) : source)) {
      for (let from = 0; from < bytes.length;) {
        // One byte more than a piece tells that it is not the last.
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

/** The same bytes, or what they are the gzip (RFC 1952) of. */
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
    // Lets go of the stream, whose rest somebody else reads.
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
