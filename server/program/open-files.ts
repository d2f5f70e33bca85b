/** Open files and connections of this process, and the limit: above it, new connections are closed at once. */
import { readdir, readFile } from 'node:fs/promises'
import { codeOf } from '../ground/db/failure.ts'
import type { Log } from '../ground/db/log.ts'

// The limit that docs/operating.md recommends.
const wanted = 10_000
const manyFrom = 0.8
const backBelow = 0.7

/** Linux only. Logs a low limit, and when few are left. */
export class OpenFiles {
  readonly #log: Log
  /** As last counted; null: unknown. */
  counts: { open: number; max: number } | null = null
  #areMany = false

  constructor(log: Log) {
    this.#log = log
  }

  /** The first count. Node.js has raised the soft limit to the hard one. */
  async start(): Promise<void> {
    await this.look()
    if (this.counts && this.counts.max < wanted)
      this.#log.warn({ ...this.counts, wanted }, 'the limit of open files is low')
  }

  async look(): Promise<void> {
    if (process.platform !== 'linux') return
    this.counts = await this.#read()
    const part = this.counts.open / this.counts.max
    if (part >= manyFrom && !this.#areMany) this.#log.error(this.counts, 'open files are running out')
    if (part < backBelow && this.#areMany) this.#log.info(this.counts, 'open files are available again')
    this.#areMany = part >= (this.#areMany ? backBelow : manyFrom)
  }

  async #read(): Promise<{ open: number; max: number }> {
    try {
      const max = /^Max open files +(\d+)/m.exec(await readFile('/proc/self/limits', 'utf8'))?.[1]
      // One of them is the list itself.
      return { open: (await readdir('/proc/self/fd')).length - 1, max: Number(max ?? Infinity) }
    } catch (error) {
      // No file is left for the count.
      if (codeOf(error) !== 'EMFILE' || !this.counts) throw error
      return { open: this.counts.max, max: this.counts.max }
    }
  }
}
