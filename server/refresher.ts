import { isUnavailable } from './db/failure.ts'

/** What a process keeps of the database in memory, read at the start and again every so often. */
export class Refresher {
  readonly #read: () => Promise<void>
  readonly #everyMs: number
  #timer: NodeJS.Timeout | null = null
  #reading: Promise<void> | null = null

  /** `read` replaces what is kept, at once or not at all. */
  constructor(read: () => Promise<void>, everyMs: number) {
    this.#read = read
    this.#everyMs = everyMs
  }

  /** Reads now, and begins to read again; one reading at a time. */
  async start(): Promise<void> {
    await this.#read()
    this.#timer = setInterval(() => {
      // A database that is away is noticed and reported by those who write; what was read last serves meanwhile.
      this.#reading ??= this.#read()
        .catch(() => {})
        .finally(() => (this.#reading = null))
    }, this.#everyMs)
    this.#timer.unref()
  }

  /** Reads no more, and waits for the reading under way. */
  async close(): Promise<void> {
    if (this.#timer) clearInterval(this.#timer)
    await this.#reading
  }
}

/** Reads what has just changed. Where the database went away meanwhile, it is read as soon as that is there again. */
export async function refreshAll(kept: readonly { refresh(): Promise<void> }[]): Promise<void> {
  await Promise.all(kept.map((one) => one.refresh())).catch((error: unknown) => {
    if (!isUnavailable(error)) throw error
  })
}
