import { once } from 'node:events'
import type { Gunzip, InflateRaw } from 'node:zlib'

/** Passes bytes through a zlib stream, as fast as they are consumed. @throws the source's error, else the stream's. */
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

/** Resolves with the source's error. */
async function feed(stream: Gunzip | InflateRaw, source: AsyncIterable<Buffer>, ended: AbortSignal): Promise<unknown> {
  try {
    for await (const bytes of source) {
      if (stream.destroyed) return null
      // A finished stream has no reader and would never drain.
      if (!stream.write(bytes)) await once(stream, 'drain', { signal: ended }).catch(() => {})
    }
    stream.end()
    return null
  } catch (error) {
    stream.destroy(error instanceof Error ? error : new Error(String(error)))
    return error
  }
}

/** Whether an error is zlib's: damaged or truncated data. */
export const isOfZlib = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' && error.code.startsWith('Z_')
