/** Whether this process was there all the time. What came while it was frozen, or had no processor, waited in its sockets. */

// Far below the patience of any peer.
const everyMs = 250

export class Presence {
  #readAt = performance.now()
  readonly #timer: NodeJS.Timeout

  constructor() {
    // Behind the sockets: what waited in them is read before this is told again (the check phase of the event loop follows that of polling).
    this.#timer = setInterval(() => setImmediate(() => (this.#readAt = performance.now())), everyMs)
    this.#timer.unref()
  }

  /** How long ago all sockets had been read, in milliseconds: as long as what is read now may have waited. */
  get absentMs(): number {
    return performance.now() - this.#readAt
  }

  close(): void {
    clearInterval(this.#timer)
  }
}
