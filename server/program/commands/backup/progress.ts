/** Reports progress on standard error: a changing line at a terminal, else an occasional line. */
import { showBytes } from './format.ts'

export interface Progress {
  /** The current step, and the part done, from 0 to 1; null: unknown. */
  at(what: string, fraction: number | null): void
  add(bytes: number): void
  close(): void
}

// Visible movement at a terminal; in a log of cron a few lines for a long backup, none for a short one.
const terminalEveryMs = 200
const lineEveryMs = 10_000

export function tellProgress(
  stream: { isTTY?: boolean; write(text: string): unknown } = process.stderr,
  everyMs: number = stream.isTTY ? terminalEveryMs : lineEveryMs,
): Progress {
  const startedAt = performance.now()
  let [what, bytes, toldAt] = ['', 0, startedAt]
  let fraction: number | null = null
  const tell = (): void => {
    const now = performance.now()
    if (now - toldAt < everyMs) return
    toldAt = now
    const rate = bytes / Math.max((now - startedAt) / 1000, 0.001)
    const percent = fraction === null ? '' : `${Math.floor(fraction * 100)} %  `
    const line = `${percent}${showBytes(bytes)}  ${showBytes(rate)}/s  ${what}`
    stream.write(stream.isTTY ? `\r\x1b[K${line}` : `${line}\n`)
  }
  return {
    at(now, done) {
      what = now
      fraction = done === null ? null : Math.min(done, 1)
      tell()
    },
    add(more) {
      bytes += more
      tell()
    },
    close() {
      if (stream.isTTY) stream.write('\r\x1b[K')
    },
  }
}
