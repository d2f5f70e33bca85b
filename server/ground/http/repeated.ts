/** What may fail many times a second, while a database is away or a key is missing, and is told in few lines: each would fill a disk. */

const toldEveryMs = 60_000

/** Tells of failures together: of the first at once, and of those behind it a minute later. One for each kind. */
export class Repeated {
  readonly #tell: (last: unknown, times: number) => void
  #times = 0
  #last: unknown
  #toldAt = Number.NEGATIVE_INFINITY
  #timer: NodeJS.Timeout | null = null

  /** `tell` gets the last error, and how many there were. */
  constructor(tell: (last: unknown, times: number) => void) {
    this.#tell = tell
  }

  note(error: unknown): void {
    this.#times++
    this.#last = error
    this.#timer ??= setTimeout(() => this.flush(), Math.max(0, this.#toldAt + toldEveryMs - performance.now()))
  }

  /** Tells what has not been told yet. */
  flush(): void {
    if (this.#timer) clearTimeout(this.#timer)
    this.#timer = null
    if (this.#times === 0) return
    this.#tell(this.#last, this.#times)
    this.#times = 0
    this.#toldAt = performance.now()
  }
}
