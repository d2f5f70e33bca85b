/** Detects pauses of this process. Data that arrived while it was frozen, or had no CPU, waited in its sockets. */

// Far below any peer's timeout.
const everyMs = 500

export class Presence {
  #readAt = performance.now()
  readonly #timer: NodeJS.Timeout

  constructor() {
    // After the sockets: their data is read before the time is updated (the event loop's check phase follows polling).
    this.#timer = setInterval(() => setImmediate(() => (this.#readAt = performance.now())), everyMs)
    this.#timer.unref()
  }

  /** Milliseconds since all sockets were last read: the longest that data read now may have waited. */
  get absentMs(): number {
    return performance.now() - this.#readAt
  }

  close(): void {
    clearInterval(this.#timer)
  }
}
