/** Streams the event log as server-sent events (WHATWG HTML §9.2): stored events, then new ones. */
import type { ServerResponse } from 'node:http'
import { showId } from '../ground/base/ids.ts'
import type { EventRow } from './events-store.ts'
import type { Reader } from './reading.ts'
import type { Watcher } from './watch.ts'

export interface StreamOptions {
  /** The response, after its head. */
  raw: ServerResponse
  reader: Reader
  watcher: Watcher
  /** Renders an event with the caller's permissions. */
  show: (row: EventRow) => unknown
  /** Whether the caller may still read; checked every two seconds. */
  isAllowed: () => Promise<boolean>
  /** Ends the stream. */
  isClosing: () => boolean
  endAfterMs: number
  heartbeatMs?: number
  /** A reader that takes nothing for so long is cut off. */
  stallMs?: number
}

const pageMax = 50
const checkMs = 2000

/** Writes events until the caller goes, loses permission or is too slow, or the time is over. Holds at most one page of events. */
export async function streamEvents(options: StreamOptions): Promise<void> {
  const { raw, reader, watcher, show, isAllowed, isClosing, endAfterMs } = options
  const { heartbeatMs = 15_000, stallMs = 15_000 } = options
  const endAt = performance.now() + endAfterMs
  const onClose = (): void => watcher.wake()
  raw.on('close', onClose)
  const write = async (text: string): Promise<boolean> => {
    if (raw.destroyed) return false
    return raw.write(text) || hasDrained(raw, stallMs)
  }
  let beatAt = performance.now() + heartbeatMs
  let checkAt = performance.now() + checkMs
  const isOver = (): boolean => raw.destroyed || isClosing()
  // Zero ends after all stored events; otherwise the time ends the stream even with events left.
  const isLate = (): boolean => endAfterMs > 0 && performance.now() >= endAt
  const mayGoOn = async (): Promise<boolean> => {
    if (performance.now() < checkAt) return true
    checkAt = performance.now() + checkMs
    return isAllowed()
  }
  try {
    // Clients reconnect after this many milliseconds, with the id of the last event they saw.
    if (!(await write('retry: 2000\n\n'))) return
    let hasMore = true
    for (;;) {
      while (hasMore && !isOver() && !isLate()) {
        const rows = await reader.read(pageMax)
        for (const row of rows) {
          // A slow reader can take minutes for a page.
          if (!(await mayGoOn())) return void raw.end()
          if (
            !(await write(`id: ${showId('evt', row.id)}\nevent: ${row.type}\ndata: ${JSON.stringify(show(row))}\n\n`))
          )
            return
        }
        if (rows.length > 0) beatAt = performance.now() + heartbeatMs
        hasMore = rows.length === pageMax
      }
      const now = performance.now()
      if (isOver() || now >= endAt) return void raw.end()
      if (!(await mayGoOn())) return void raw.end()
      if (now >= beatAt) {
        // An id without data advances the client's resume point without an event.
        const id = reader.place ? `id: ${showId('evt', reader.place.id)}\n` : ''
        if (!(await write(`: heartbeat\n${id}\n`))) return
        beatAt = now + heartbeatMs
      }
      hasMore = await watcher.next(Math.min(beatAt, checkAt, endAt) - performance.now())
    }
  } finally {
    raw.off('close', onClose)
    if (!raw.writableEnded) raw.destroy()
  }
}

/** True when the socket has drained, false if it is gone or took too long. */
function hasDrained(raw: ServerResponse, withinMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const end = (isDrained: boolean) => (): void => {
      clearTimeout(timer)
      raw.off('drain', onDrain)
      raw.off('close', onGone)
      resolve(isDrained)
    }
    const [onDrain, onGone] = [end(true), end(false)]
    const timer = setTimeout(onGone, withinMs)
    raw.on('drain', onDrain)
    raw.on('close', onGone)
  })
}
