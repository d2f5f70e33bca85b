/** Database data in a process's memory, read when somebody asks, and periodically once started. */
export class Refresher {
  readonly #read: () => Promise<void>
  #timer: NodeJS.Timeout | null = null
  #reading: Promise<void> | null = null
  #next: Promise<void> | null = null

  /** `read` replaces the data in one step, or not at all. */
  constructor(read: () => Promise<void>) {
    this.#read = read
  }

  /** Reads now, and then periodically; one read at a time. */
  async start(everyMs: number): Promise<void> {
    await this.now()
    this.#timer = setInterval(() => {
      // Writers report that the database is down; the last data serves meanwhile.
      if (!this.#reading) this.now().catch(() => {})
    }, everyMs)
    this.#timer.unref()
  }

  /** Reads committed data: never joins a running read, which may be older. Concurrent callers share the next one. */
  now(): Promise<void> {
    this.#next ??= this.#readNext()
    return this.#next
  }

  /** Stops, and waits for a running read. */
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
