/** Bytes through one of zlib's streams, as fast as they are taken. */
import { once } from 'node:events'
import type { Gunzip, InflateRaw } from 'node:zlib'

/** What comes out. @throws what reading the source failed with, else what the stream says of the bytes. */
export async function* inflated(stream: Gunzip | InflateRaw, source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const ended = new AbortController()
  const feeding = feed(stream, source, ended.signal)
  try {
    yield* stream as AsyncIterable<Buffer>
  } catch (error) {
    throw (await feeding) ?? error
  } finally {
    ended.abort()
    stream.destroy()
  }
}

/** Resolves with what went wrong with the source. */
async function feed(stream: Gunzip | InflateRaw, source: AsyncIterable<Buffer>, ended: AbortSignal): Promise<unknown> {
  try {
    for await (const bytes of source) {
      if (stream.destroyed) return null
      // Nobody takes what comes out of a stream that is over: it would never drain.
      if (!stream.write(bytes)) await once(stream, 'drain', { signal: ended }).catch(() => {})
    }
    stream.end()
    return null
  } catch (error) {
    stream.destroy(error instanceof Error ? error : new Error(String(error)))
    return error
  }
}

/** Says that an error is zlib's word on the bytes: damaged, or cut off. */
export const isOfZlib = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' && error.code.startsWith('Z_')
