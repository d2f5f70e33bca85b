/** Frequent failures, such as while a database is down or a key is missing, logged together: single lines would fill a disk. */

const toldEveryMs = 60_000

/** Reports the first failure at once, and the following ones a minute later. One for each kind. */
export class Repeated {
  readonly #tell: (last: unknown, times: number) => void
  #times = 0
  #last: unknown
  #toldAt = Number.NEGATIVE_INFINITY
  #timer: NodeJS.Timeout | null = null

  /** `tell` gets the last error and the number of failures. */
  constructor(tell: (last: unknown, times: number) => void) {
    this.#tell = tell
  }

  note(error: unknown): void {
    this.#times++
    this.#last = error
    this.#timer ??= setTimeout(() => this.flush(), Math.max(0, this.#toldAt + toldEveryMs - performance.now()))
  }

  flush(): void {
    if (this.#timer) clearTimeout(this.#timer)
    this.#timer = null
    if (this.#times === 0) return
    this.#tell(this.#last, this.#times)
    this.#times = 0
    this.#toldAt = performance.now()
  }
}
