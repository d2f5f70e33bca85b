/** What a process keeps of the database in memory, read at the start and again every so often. */
export class Refresher {
  readonly #read: () => Promise<void>
  readonly #everyMs: number
  #timer: NodeJS.Timeout | null = null
  #reading: Promise<void> | null = null
  #next: Promise<void> | null = null

  /** `read` replaces what is kept, at once or not at all. */
  constructor(read: () => Promise<void>, everyMs: number) {
    this.#read = read
    this.#everyMs = everyMs
  }

  /** Reads now, and begins to read again; one reading at a time. */
  async start(): Promise<void> {
    await this.now()
    this.#timer = setInterval(() => {
      // A database that is away is noticed and reported by those who write; what was read last serves meanwhile.
      if (!this.#reading) this.now().catch(() => {})
    }, this.#everyMs)
    this.#timer.unref()
  }

  /** Reads what is committed by now: not with a reading under way, which may be older, but behind it. Who asks meanwhile shares the next one. */
  now(): Promise<void> {
    this.#next ??= this.#readNext()
    return this.#next
  }

  /** Reads no more, and waits for the reading under way. */
  async close(): Promise<void> {
    if (this.#timer) clearInterval(this.#timer)
    await (this.#next ?? this.#reading)?.catch(() => {})
  }

  async #readNext(): Promise<void> {
    await this.#reading?.catch(() => {})
    this.#next = null
    this.#reading = this.#read().finally(() => (this.#reading = null))
    await this.#reading
  }
}
